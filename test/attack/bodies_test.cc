// Tests attacks by bodies that a payload processor has to read. Each has a victim beside it, whose request must end
// while the attack stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
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
