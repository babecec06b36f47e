// Tests clients of one address that hoard tunnels of a forward proxy, open and half-open ones, as many as
// limits.tunnelsPerAddress lets them have. Clients of another address open tunnels and are served meanwhile, and all
// places come back when the hoard ends.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/full_listener.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/silent_origin.h"
#include "test/integration/support/waiting.h"
#include "test/support/client_hello.h"

namespace sluice::test {
namespace {

constexpr const char* kTunnelVictim = "127.0.0.2";

/// The tunnels that one address may have; the attacker asks for twice as many.
std::size_t placesOfAddress() { return static_cast<std::size_t>(inThisRun(1000, 4000)); }

struct TunnelHoard {
  const char* name;
  /// False if the destination never completes the handshake of TCP.
  bool isOpened;
  /// The bytes that the attacker sends through each tunnel that opens.
  std::string firstBytes;
};

const TunnelHoard kHoards[] = {
    {"WithoutAFirstByte", true, ""},
    {"WithHalfAClientHello", true, clientHello("a.test").substr(0, 40)},
    {"WithAWholeClientHello", true, clientHello("a.test")},
    {"TowardsABlackHole", false, ""},
};

class HoardedTunnels : public testing::TestWithParam<TunnelHoard> {
 protected:
  void start() {
    proxy_.spec.release = true;
    proxy_.spec.workers = 2;
    proxy_.spec.accessLog = "off";
    proxy_.spec.settings =
        limits("backendConnections: 20000, backendRequests: 20000, backendPending: 20000, tunnelsPerAddress: " +
               std::to_string(placesOfAddress())) +
        onlyTimeouts("tunnelSniff: 24h");
    proxy_.allow("{name: all, to: {hostnames: ['*.test'], ports: ['1-65535']}}");
    proxy_.start();
  }
  std::uint16_t destination() const { return GetParam().isOpened ? silent_.port() : full_.port(); }

  /// Asks for this many tunnels, without waiting for the answers.
  std::vector<BlockingSocket> ask(std::size_t count, std::uint16_t port) const {
    const std::string authority = "b.test:" + std::to_string(port);
    std::vector<BlockingSocket> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(proxy_.client());
      clients.back().send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    }
    return clients;
  }
  /// Returns the hoard, with what its clients have sent through the tunnels that opened.
  std::vector<BlockingSocket> hoard() const {
    std::vector<BlockingSocket> clients = ask(2 * placesOfAddress(), destination());
    EXPECT_TRUE(proxy_.gateway->reaches("sluice_limit_hits_total{limit=\"tunnelsPerAddress\"}",
                                        static_cast<double>(placesOfAddress())));
    if (!GetParam().isOpened) return clients;
    std::size_t opened = 0;
    for (BlockingSocket& each : clients) {
      if (!each.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 ")) continue;
      ++opened;
      each.send(GetParam().firstBytes);
    }
    EXPECT_EQ(opened, placesOfAddress());
    return clients;
  }
  bool isVictimServed() const {
    BlockingSocket client = BlockingSocket::connect(proxy_.port, 0, kTunnelVictim);
    if (ForwardProxy::connect(client, "a.test:" + std::to_string(origin_.port())).status != 200) return false;
    return askRaw(client).body == "served";
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  const SilentOrigin silent_;
  const FullListener full_;
  ForwardProxy proxy_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, HoardedTunnels, testing::ValuesIn(kHoards),
                         [](const auto& given) { return given.param.name; });

TEST_P(HoardedTunnels, LeaveTheirPlacesToOthersAndGiveThemBack) {
  start();
  // An idle tunnel costs about 9 KiB, and one that holds a first flight back a buffer more. The refused half of the
  // connections is idle, too.
  const std::size_t each = isMeasured() ? 16 : 96;
  Attack attack(*proxy_.gateway, [&] { return isVictimServed(); },
                {.grownKib = placesOfAddress() * each + 4 * 1024, .waits = std::chrono::milliseconds(500)});
  std::vector<BlockingSocket> clients = hoard();
  attack.stands();
  for (BlockingSocket& client : clients) client.reset();
  EXPECT_TRUE(eventually([&] { return proxy_.gateway->metric("http_server_active_requests") == 0; }));
  EXPECT_EQ(openTunnels(*proxy_.gateway), 0);
  std::vector<BlockingSocket> again = ask(placesOfAddress(), silent_.port());
  for (BlockingSocket& client : again) {
    ASSERT_TRUE(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 ")) << "every place came back";
  }
  for (BlockingSocket& client : again) client.reset();  // the origin keeps its ends, so the tunnels would go on
}

}  // namespace
}  // namespace sluice::test
