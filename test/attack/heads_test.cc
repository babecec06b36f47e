// Tests heads that cost their senders little and would cost the gateway much, from many connections at once. Together
// they hold no more than limits.headerMemoryTotal, also while they arrive, and clients with small requests are served.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

constexpr std::size_t kBurstClients = 64;
constexpr std::size_t kKibInAll = 8 * 1024;
// A head has one chunk that is not charged, and a request holds other memory too.
constexpr std::size_t kKibBesideHead = 96;
constexpr std::size_t kKibOfGateway = 32 * 1024;

/// Returns a script that answers requests for /fine at once, and none of others.
RawOrigin::Script deafScript() {
  return [](BlockingSocket& socket, RawOrigin& self) {
    for (std::string head; !(head = self.readHead(socket)).empty();) {
      if (!head.starts_with("GET /fine ")) break;
      socket.send(kOk);
    }
    self.waitUntilItStops();
  };
}

/// Returns references to a megabyte, or to that entry of HPACK's table and a megabyte.
std::string megabyte(bool first) {
  std::string block = first ? h2::indexedLine("x-large", std::string(3900, 'y')) : std::string();
  for (int i = 0; i < 256; ++i) block += h2::reference(62);
  return block;
}

enum class HeadKind { kWhole, kUnfinished, kTrailers };

struct HeadBurst {
  const char* name;
  HeadKind kind;
  std::uint32_t streams;
};

/// Returns a few kilobytes which are `burst.streams` heads of a megabyte each.
std::string burstOf(const HeadBurst& burst) {
  std::string bytes;
  for (std::uint32_t id = 1; id < 2 * burst.streams; id += 2) {
    if (burst.kind == HeadKind::kTrailers) {
      bytes += h2::headers(id, h2::post("/wait"), false) + h2::headers(id, megabyte(id == 1), true);
    } else {
      bytes += h2::headers(id, h2::block(h2::get("/wait")) + megabyte(id == 1), true, burst.kind == HeadKind::kWhole);
    }
  }
  return bytes;
}

/// Returns a gateway for heads of a megabyte and more. AddressSanitizer keeps little of the freed memory, so that the
/// resident memory is what the gateway holds.
GatewaySpec forLargeHeads(const RawOrigin& origin) {
  const char* given = std::getenv("ASAN_OPTIONS");
  return {.backends = {{.port = origin.port()}},
          .settings = limits("headerBytes: 1400Ki, headerFields: 500, headerMemory: 4Mi, headerMemoryTotal: " +
                             std::to_string(kKibInAll) + "Ki") +
                      onlyTimeouts("clientIdle: 60s"),
          .release = true,
          .environment = {"ASAN_OPTIONS=quarantine_size_mb=8:" + std::string(given != nullptr ? given : "")}};
}

/// Expects that the attack holds little at each moment, and that clients which ask for little are served meanwhile.
class HeldLittle {
 public:
  HeldLittle(GatewayProcess& gateway, std::size_t streams)
      : gateway_(gateway),
        bound_(kKibInAll + kBurstClients * streams * kKibBesideHead + kKibOfGateway),
        attack_(gateway,
                [&gateway] { return askRaw(gateway.port(), "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n").status == 200; },
                {.grownKib = bound_}),
        before_(gateway.process().residentKib()) {}

  void stands() {
    attack_.stands();
    EXPECT_LE(gateway_.process().peakKib() - before_, bound_) << "KiB";
    H2Client client(gateway_.port());
    client.send(h2::headers(1, h2::get("/fine"), true));
    EXPECT_TRUE(client.readStream(1));
    EXPECT_EQ(client.status(1), "200");
  }

 private:
  GatewayProcess& gateway_;
  const std::size_t bound_;
  Attack attack_;
  const std::size_t before_;
};

/// Returns true as soon as a head of a megabyte is served.
bool servesALargeHead(const GatewayProcess& gateway) {
  return eventually([&] {
    H2Client client(gateway.port());
    client.send(h2::headers(1, h2::block(h2::get("/fine")) + megabyte(true), true));
    return client.readStream(1) && client.status(1) == "200";
  });
}

class BurstsOfCompressedHeads : public testing::TestWithParam<HeadBurst> {};
INSTANTIATE_TEST_SUITE_P(Kinds, BurstsOfCompressedHeads,
                         testing::Values(HeadBurst{"Whole", HeadKind::kWhole, 4},
                                         HeadBurst{"Unfinished", HeadKind::kUnfinished, 1},
                                         HeadBurst{"Trailers", HeadKind::kTrailers, 2}),
                         [](const auto& kind) { return kind.param.name; });

// The gateway is stopped until everything is there, so that it reads all of it before it answers.
TEST_P(BurstsOfCompressedHeads, HoldNoMoreThanAllHeadsMay) {
  RawOrigin origin(deafScript());
  GatewayProcess gateway(forLargeHeads(origin));
  HeldLittle little(gateway, GetParam().streams);
  std::vector<std::unique_ptr<H2Client>> attackers;
  for (std::size_t i = 0; i < kBurstClients; ++i) {
    attackers.push_back(std::make_unique<H2Client>(gateway.port()));
    ASSERT_TRUE(attackers.back()->isServed());
  }
  gateway.process().signal(SIGSTOP);
  for (const auto& attacker : attackers) EXPECT_TRUE(attacker->send(burstOf(GetParam())));
  gateway.process().signal(SIGCONT);
  little.stands();
  if (GetParam().kind == HeadKind::kUnfinished) {
    for (const auto& attacker : attackers) EXPECT_TRUE(attacker->send(h2::continuation(1, {}, true)));
  }
  EXPECT_TRUE(gateway.limitWasHit("headerMemoryTotal")) << "the attack stands";
  for (const auto& attacker : attackers) attacker->reset();
  EXPECT_TRUE(servesALargeHead(gateway)) << "everything was given back";
}

TEST(UnfinishedHeadsOverHttp11, HoldNoMoreThanAllHeadsMay) {
  RawOrigin origin(deafScript());
  GatewayProcess gateway(forLargeHeads(origin));
  HeldLittle little(gateway, 1);
  std::string head = "GET /wait HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 250; ++i) head += "X-Large: " + std::string(4000, 'y') + "\r\n";
  std::vector<BlockingSocket> attackers;
  for (std::size_t i = 0; i < kBurstClients; ++i) {
    attackers.push_back(BlockingSocket::connect(gateway.port()));
    attackers.back().send(head);
  }
  little.stands();
  EXPECT_TRUE(gateway.limitWasHit("headerMemoryTotal")) << "the attack stands";
  for (BlockingSocket& attacker : attackers) attacker.reset();
  EXPECT_TRUE(servesALargeHead(gateway)) << "everything was given back";
}

}  // namespace
}  // namespace sluice::test
