// Tests attacks by texts that patterns and expressions work on for long. Each has a victim beside it, whose small
// requests are served meanwhile by the same worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;

/// Runs a gateway with one worker, whose route has an expensive use of InProcess for /slow.
class ExpressionAttacks : public testing::Test {
 protected:
  GatewaySpec spec(const std::string& phase, const std::string& failOpen, const std::string& fields) const {
    const std::string use = "{name: slow, type: 'sluice.dev/InProcess:v1', phase: " + phase +
                            ", failOpen: " + failOpen + ", config: {request: {setHeaders: [" + fields + "]}}}";
    const std::string rules = "    - matches: [{path: {value: /slow}}]\n      filters: [" + inlined(use) + "]\n" +
                              backendRefs() + "    - matches: [{path: {value: /}}]\n" + backendRefs();
    GatewaySpec made{
        .backends = {{.port = origin_.port()}}, .settings = limits("stepWork: 4Mi"), .routes = routeOfRules(rules)};
    made.release = true;
    return made;
  }
  static std::function<bool()> victimOf(const GatewayProcess& gateway) {
    return [&gateway] { return askRaw(gateway.port(), "GET / HTTP/1.1\r\nHost: any.test\r\n\r\n").status == 200; };
  }

  RecordingOrigin origin_{[](std::size_t) { return kOk; }};
};

TEST_F(ExpressionAttacks, ManyReplacementsEndAtTheBoundAndGiveOthersTheirTurn) {
  std::string fields;
  for (int i = 0; i < 64; ++i) {
    fields += "{name: x-" + std::to_string(i) + ", value: 'size(request.body";
    for (int k = 0; k < 8; ++k) fields += ".replace(\"" + std::string(1, static_cast<char>('a' + k)) + "\", \"b\")";
    fields += ")'}, ";
  }
  GatewayProcess gateway(spec("request-body", "true", fields));
  Attack attack(gateway, victimOf(gateway), {.cpuSeconds = isMeasured() ? 2.0 : 15.0});
  const std::string body(10'000, 'a');
  const std::string request =
      "POST /slow HTTP/1.1\r\nHost: any.test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::vector<ReceivedResponse> answers(3);
  std::vector<std::thread> attackers;
  for (ReceivedResponse& answer : answers) {
    attackers.emplace_back([&] { answer = askRaw(gateway.port(), request); });
  }
  attack.stands();
  for (std::thread& attacker : attackers) attacker.join();
  for (const ReceivedResponse& answer : answers) {
    EXPECT_EQ(answer.status, 500) << "whatever failOpen says";
    EXPECT_THAT(answer.body, HasSubstr("stepWork"));
  }
  EXPECT_EQ(gateway.limitHits("stepWork"), 3);
  EXPECT_EQ(askRaw(gateway.port(), "POST /slow HTTP/1.1\r\nHost: any.test\r\nContent-Length: 5\r\n\r\nabcde").status,
            200)
      << "small texts are edited";
}

TEST_F(ExpressionAttacks, PatternsThatWouldSearchAHeadForSecondsAreNeverRun) {
  const std::string pattern = "(?:a[ab]{500}c|b[ab]{400}c|a?a?a?a?a?a?a?a?a?a?[ab]{300}c)";
  const std::string fields =
      "{name: x-found, value: 'string(request.headers[\"x-text\"].matches(\"" + pattern + "\"))'}";
  GatewayProcess gateway(spec("request-headers", "false", fields));
  Attack attack(gateway, victimOf(gateway), {.cpuSeconds = 3});
  std::string text;
  for (std::uint32_t i = 0, random = 1; i < 60'000; ++i) {
    random = random * 1103515245 + 12345;
    text += (random & 0x10000) != 0 ? 'a' : 'b';
  }
  const std::string request = "GET /slow HTTP/1.1\r\nHost: any.test\r\nX-Text: " + text + "\r\n\r\n";
  std::vector<int> statuses(4);
  std::vector<std::thread> attackers;
  for (int& status : statuses) attackers.emplace_back([&] { status = askRaw(gateway.port(), request).status; });
  attack.stands();
  for (std::thread& attacker : attackers) attacker.join();
  EXPECT_THAT(statuses, Each(500)) << "the use is refused";
}

}  // namespace
}  // namespace sluice::test
