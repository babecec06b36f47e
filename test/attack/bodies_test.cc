// Tests attacks by bodies that a payload processor has to read. Each has a victim beside it, whose request must end
// during the attack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMib = std::size_t{1} << 20;

/// Returns JSON of at least `size` bytes that names the model "large".
std::string largeBody(std::size_t size) { return R"({"text": ")" + std::string(size, 'x') + R"(", "model": "large"})"; }

std::string headOf(std::size_t length, const std::string& more = {}) {
  return "POST / HTTP/1.1\r\nHost: any.test\r\nContent-Type: application/json\r\n" + more +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

/// Runs a gateway that routes by the model: "large" gets 200, and a request whose body no step has read gets 404.
class BodyAttacks : public testing::Test {
 protected:
  GatewaySpec spec(const std::string& members, bool failOpen = false) const {
    const std::string router =
        "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, config: {}, failOpen: " +
        std::string(failOpen ? "true" : "false") + "}";
    const std::string rules = "    - matches: [{headers: [{name: x-gateway-model-name, value: large}]}]\n" +
                              backendRefs() + "    - filters: [" + inlined(router) + "]\n" + "      backendRefs: [" +
                              backendRef("other") + "]\n";
    GatewaySpec made{
        .backends = {{.port = origin_.port()}, {.name = "other", .hostname = "other.test", .port = other_.port()}},
        .settings = limits(members),
        .routes = routeOfRules(rules)};
    made.release = true;
    return made;
  }
  /// The victim's body is sent at once, and has been read if the answer is 200.
  static std::function<bool()> victimOf(const GatewayProcess& gateway) {
    return [&gateway, request = headOf(largeBody(kMib).size()) + largeBody(kMib)] {
      return askRaw(gateway.port(), request).status == 200;
    };
  }

  RecordingOrigin origin_{[](std::size_t) { return kOk; }};
  RecordingOrigin other_{[](std::size_t) { return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; }};
};

TEST_F(BodyAttacks, AnnouncedLengthsWithoutABodyReserveNoMemory) {
  for (const bool failOpen : {false, true}) {
    GatewayProcess gateway(spec("processorBuffer: 2Mi, processorBufferTotal: 4Mi", failOpen));
    Attack attack(gateway, victimOf(gateway));
    const int count = inThisRun(100, 4600);
    std::vector<BlockingSocket> attackers;
    for (int i = 0; i < count; ++i) {
      attackers.push_back(BlockingSocket::connect(gateway.port()));
      ASSERT_TRUE(attackers.back().send(headOf(2 * kMib)));
    }
    ASSERT_TRUE(gateway.reaches("http_server_active_requests", count));
    attack.stands();
    EXPECT_TRUE(eventually([&] { return gateway.metric("http_server_active_requests") == count; }))
        << "the attack stood, and no victim is left";
  }
}

TEST_F(BodyAttacks, StalledBodiesGiveWayToOneThatArrivesAtOnce) {
  for (const bool failOpen : {false, true}) {
    GatewayProcess gateway(spec("processorBuffer: 2Mi, processorBufferTotal: 8Mi", failOpen));
    Attack attack(gateway, victimOf(gateway));
    std::vector<BlockingSocket> attackers;
    const std::string most(kMib, ' ');
    for (int i = 0; i < 40; ++i) {
      attackers.push_back(BlockingSocket::connect(gateway.port()));
      ASSERT_TRUE(attackers.back().send(headOf(2 * kMib) + most));
      ASSERT_TRUE(attackers.back().waitUntilRead());
    }
    EXPECT_TRUE(gateway.limitWasHit("processorBufferTotal"));
    attack.stands();
    EXPECT_GT(gateway.metric("http_server_active_requests"), 3) << "the attack stood";
    const ReceivedResponse refused = readResponse(attackers.front());
    EXPECT_EQ(refused.status, 503) << "whatever failOpen says";
    EXPECT_THAT(refused.body, HasSubstr("processor_capacity_reached"));
  }
}

/// Runs a gateway beside a Backend that accepts connections and reads nothing. Its attackers fill all room with whole
/// bodies for that Backend.
class UntakenBodies : public BodyAttacks {
 protected:
  GatewaySpec spec() {
    const std::string router = "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, config: {}}";
    const auto rule = [](const char* model, const std::string& backend) {
      return "    - matches: [{headers: [{name: x-gateway-model-name, value: " + std::string(model) + "}]}]\n" +
             "      backendRefs: [" + backend + "]\n";
    };
    const std::string rules = rule("stuck", backendRef("stuck")) + rule("large", backendRef()) + "    - filters: [" +
                              inlined(router) + "]\n      backendRefs: [" + backendRef("stuck") + "]\n";
    GatewaySpec made{
        .backends = {{.port = origin_.port()}, {.name = "stuck", .hostname = "stuck.test", .port = stuck_.port()}},
        .settings = limits("processorBufferTotal: 16Mi") + "drainTimeout: 1s\n",
        .routes = routeOfRules(rules)};
    made.release = true;
    made.startedBy = time_.startedBy();
    return made;
  }
  /// Adds bodies of that size until so many were refused.
  void fillWith(const GatewayProcess& gateway, std::size_t size, double refusals) {
    const std::string body = R"({"model": "stuck", "text": ")" + std::string(size, 'x') + "\"}";
    const auto isFull = [&] { return gateway.limitHits("processorBufferTotal") >= refusals; };
    for (int i = 0; i < 40 && !isFull(); ++i) {
      const double before = gateway.metric("http_server_active_requests");
      attackers_.push_back(BlockingSocket::connect(gateway.port()));
      attackers_.back().send(headOf(body.size()) + body);
      ASSERT_TRUE(eventually([&] { return isFull() || gateway.metric("http_server_active_requests") > before; }));
    }
    ASSERT_TRUE(eventually(isFull));
  }
  void fill(GatewayProcess& gateway) {
    // The kernel takes some of each body. When a body of the victim's size is refused, the victim's would be refused,
    // too.
    fillWith(gateway, 2 * kMib - 100, 1);
    fillWith(gateway, kMib, 2);
    EXPECT_GT(gateway.metric("http_server_active_requests"), 6);
  }
  static std::function<bool()> victimFrom(const char* address, const GatewayProcess& gateway) {
    return [address, &gateway, request = headOf(largeBody(kMib).size()) + largeBody(kMib)] {
      BlockingSocket client = BlockingSocket::connect(gateway.port(), 0, address);
      return askRaw(client, request).status == 200;
    };
  }

  PassedTime time_;
  RawOrigin stuck_{[](BlockingSocket&, RawOrigin& origin) { origin.waitUntilItStops(); }};
  std::vector<BlockingSocket> attackers_;
};

TEST_F(UntakenBodies, OfOneClientLeaveRoomToOtherClientsAtOnce) {
  GatewayProcess gateway(spec());
  Attack attack(gateway, victimFrom("127.0.0.2", gateway));
  fill(gateway);
  attack.stands();
  EXPECT_GT(gateway.metric("http_server_active_requests"), 3) << "the attack stood";
}

TEST_F(UntakenBodies, GiveWayOnceTheirBackendHasTakenNothingForAWhile) {
  GatewayProcess gateway(spec());
  const std::function<bool()> victim = victimFrom("127.0.0.1", gateway);
  Attack attack(gateway, victim);
  fill(gateway);
  EXPECT_FALSE(victim()) << "a client does not displace its own bodies";
  time_.pass(gateway, std::chrono::seconds(5));
  attack.stands();
  const ReceivedResponse refused = readResponse(attackers_.front());
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("processor_capacity_reached"));
}

TEST_F(BodyAttacks, CompressedBodiesOfManySmallValuesStayWithinTheirBounds) {
  TempDir folder;
  std::string text = R"({"model": "large", "values": [)";
  for (unsigned i = 0; text.size() < 15 * kMib; ++i) text += i * i % 7 == 1 ? "1," : "0,";
  const std::string path = folder.write("values.json", text + "0]}");
  ASSERT_EQ(run({"gzip", "-9", path}).exitCode, 0);
  const std::string coded = readFile(path + ".gz");
  ASSERT_LT(coded.size(), kMib / 4);
  GatewayProcess gateway(spec("processorBuffer: 16Mi, decompressionRatio: 2000"));
  Attack attack(gateway, victimOf(gateway), {.cpuSeconds = 60});
  const std::size_t before = gateway.process().peakKib();
  std::vector<std::thread> attackers;
  std::vector<int> statuses(4);
  for (int& status : statuses) {
    attackers.emplace_back(
        [&] { status = askRaw(gateway.port(), headOf(coded.size(), "Content-Encoding: gzip\r\n") + coded).status; });
  }
  attack.stands();
  for (std::thread& attacker : attackers) attacker.join();
  EXPECT_THAT(statuses, testing::Each(200)) << "it is JSON, and within the limits";
  EXPECT_LT(gateway.process().peakKib(), before + 32 * 1024) << "of 60 MiB of text";
}

// A Backend that takes bodies and does not answer has the gateway keep the copies of all of them.
TEST_F(BodyAttacks, CopiesForRetriesGiveWayToBodiesThatStepsNeed) {
  std::atomic<int> taken = 0;
  const RawOrigin silent([&](BlockingSocket& socket, RawOrigin& self) {
    readRequestBody(socket, self.readHead(socket));
    ++taken;
    self.waitUntilItStops();
  });
  const auto retrying = [](const std::string& path, const std::string& backend) {
    return "    - matches: [{path: {value: " + path + "}}]\n      retry: {codes: [503], attempts: 1}\n" +
           "      backendRefs: [" + backendRef(backend) + "]\n";
  };
  GatewaySpec made = spec("processorBuffer: 2Mi, processorBufferTotal: 8Mi");
  made.backends.push_back({.name = "silent", .hostname = "silent.test", .port = silent.port()});
  made.routes += "---\n" + routeOfRules(retrying("/silent", "silent") + retrying("/served", "origin"), "retries");
  GatewayProcess gateway(made);
  Attack attack(gateway, victimOf(gateway));
  const std::string length = "Content-Length: " + std::to_string(kMib) + "\r\n\r\n";
  const std::string body(kMib, 'x');
  const int count = inThisRun(30, 300);
  std::vector<BlockingSocket> attackers;
  for (int i = 0; i < count; ++i) {
    attackers.push_back(BlockingSocket::connect(gateway.port()));
    ASSERT_TRUE(attackers.back().send("POST /silent HTTP/1.1\r\nHost: any.test\r\n" + length + body));
  }
  ASSERT_TRUE(eventually([&] { return taken == count; })) << "bodies without a copy go on, too";
  attack.stands();
  EXPECT_EQ(askRaw(gateway.port(), "POST /served HTTP/1.1\r\nHost: any.test\r\n" + length + body).status, 200);
  EXPECT_EQ(gateway.limitHits("processorBufferTotal"), 0) << "nothing is refused";
}

TEST_F(BodyAttacks, FormsWithoutAnEndHoldNoMoreThanIsSearched) {
  GatewayProcess gateway(spec("processorBuffer: 256Ki, processorBufferTotal: 16Mi"));
  Attack attack(gateway,
                [&] { return askRaw(gateway.port(), headOf(largeBody(1000).size()) + largeBody(1000)).status == 200; });
  const std::string form =
      "--X\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n" + std::string(kMib, '\n') + "\r\n--X";
  const std::string head =
      "POST / HTTP/1.1\r\nHost: any.test\r\nContent-Type: multipart/form-data; boundary=X\r\nContent-Length: ";
  std::vector<BlockingSocket> attackers;
  for (int i = 0; i < 40; ++i) {
    attackers.push_back(BlockingSocket::connect(gateway.port()));
    ASSERT_TRUE(attackers.back().send(head + std::to_string(2 * kMib) + "\r\n\r\n" + form));
    ASSERT_TRUE(attackers.back().waitUntilRead());
  }
  attack.stands();
  attackers.clear();
  const std::string endless = "--X\r\n" + std::string(64 * 1024, 'x');
  const ReceivedResponse refused = askRaw(gateway.port(), head + std::to_string(endless.size()) + "\r\n\r\n" + endless);
  EXPECT_EQ(refused.status, 400) << "a header of a part without an end";
}

TEST_F(BodyAttacks, TextBeyondTheLimitOfAStepIsRefusedInEveryCoding) {
  TempDir folder;
  const std::string path = folder.write("text.json", largeBody(3 * kMib));
  ASSERT_EQ(run({"gzip", "-9", path}).exitCode, 0);
  const std::string coded = readFile(path + ".gz");
  const GatewayProcess gateway(spec("decompressionRatio: 2000"));
  const ReceivedResponse got = askRaw(gateway.port(), headOf(coded.size(), "Content-Encoding: gzip\r\n") + coded);
  EXPECT_EQ(got.status, 413);
  EXPECT_THAT(got.body, HasSubstr("processorBuffer"));
}

/// Returns the beginning of a zstd frame (RFC 8878 section 3.1.1) that requires a window of 8 MiB, and one stored
/// block.
std::string widestFrame(const std::string& block) {
  const std::size_t header = block.size() << 3;
  std::string frame("\x28\xB5\x2F\xFD\x00\x68", 6);
  for (int shift = 0; shift < 24; shift += 8) frame += static_cast<char>(header >> shift & 0xFF);
  return frame + block;
}

TEST_F(BodyAttacks, DecoderWindowsCountAgainstTheSameLimit) {
  GatewayProcess gateway(spec("processorBufferTotal: 64Mi"));
  Attack attack(gateway, victimOf(gateway), {.grownKib = 96 * 1024});
  const std::size_t before = gateway.process().peakKib();
  const std::string begin = widestFrame(R"({"model": "large", "text": ")");
  std::vector<BlockingSocket> attackers;
  for (int i = 0; i < 40; ++i) {
    attackers.push_back(BlockingSocket::connect(gateway.port()));
    ASSERT_TRUE(attackers.back().send(headOf(kMib, "Content-Encoding: zstd\r\n") + begin));
    ASSERT_TRUE(attackers.back().waitUntilRead());
  }
  EXPECT_TRUE(gateway.limitWasHit("processorBufferTotal"));
  attack.stands();
  EXPECT_GT(gateway.metric("http_server_active_requests"), 3) << "the attack stood";
  EXPECT_LT(gateway.process().peakKib(), before + 96 * 1024) << "of 40 windows of 8 MiB";
  EXPECT_EQ(readResponse(attackers.front()).status, 503);
}

}  // namespace
}  // namespace sluice::test
