// Tests that the gateway's own answers tell developers what to change, and no more than the settings allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNamed = "(Backend test/origin)\"";

TEST(ErrorAnswers, NameTheBackendIfTheSettingsSaySo) {
  GatewaySpec spec{.backends = {{.port = freePort()}}};
  GatewayProcess gateway(spec);
  EXPECT_THAT(ask(gateway, "/"), AllOf(HasSubstr("HTTP/1.1 503"), Not(HasSubstr("test/origin"))));
  spec.settings = "errorDetail: Names\n";
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway, "/"), AllOf(HasSubstr("HTTP/1.1 503"), HasSubstr(kNamed)));
  spec.settings = "errorDetail: Codes\n";
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway, "/"), AllOf(HasSubstr("HTTP/1.1 503"), Not(HasSubstr("test/origin"))));
}

TEST(ErrorAnswers, NameNoBackendForMistakesOfTheClient) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = "errorDetail: Names\n",
                                .routes = routeOfRules(ruleOfPrefix("/model", "origin"))});
  EXPECT_THAT(ask(gateway, "/else"), AllOf(HasSubstr("destination_not_found"), Not(HasSubstr("test/origin"))));
  EXPECT_THAT(ask(gateway, "/model"), AllOf(HasSubstr("HTTP/1.1 404"), Not(HasSubstr("test/origin"))))
      << "an answer of the Backend stays as it is";
}

TEST(ErrorAnswers, NameTheSettingThatRefusesAnEncodedSlash) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOfRules(ruleOfPrefix("/model", "origin"))});
  EXPECT_THAT(ask(gateway, "/model/a%2Fb"), AllOf(HasSubstr("HTTP/1.1 400"), HasSubstr("paths.encodedSlash")));
}

TEST(ErrorAnswers, NameTheTimeoutOfAProcessor) {
  const RawOrigin silent(RawOrigin::answering(""));
  const std::string asks =
      "{name: ask, type: 'acme.test/Ask:v1', phase: request-headers, config: {port: " + std::to_string(silent.port()) +
      ", protocol: 'http/1.1', path: /ask}}";
  const GatewayProcess gateway({.backends = {{.port = silent.port()}},
                                .settings = "timeouts: {processor: 50ms}\n",
                                .routes = routeOfRules("    - filters: [" + inlined(asks) + "]\n" + backendRefs()),
                                .program = "sluice-asking"});
  EXPECT_THAT(ask(gateway, "/"), AllOf(HasSubstr("HTTP/1.1 504"), HasSubstr("\"limit\":\"processor\"")));
  EXPECT_EQ(gateway.limitHits("processor"), 1);
}

}  // namespace
}  // namespace sluice::test
