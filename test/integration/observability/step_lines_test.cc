// Tests the trace lines about steps of payload processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kLine = "a step of a processor has ended";

class StepsInTheLog : public testing::Test {
 protected:
  void start(const std::string& level) {
    GatewaySpec spec{.backends = {{.port = origin_.port()}}, .options = {"--log-level", level}};
    spec.routes = routeOfRules(
        "    - filters: [" + inlined(adding("mark", "request-headers", "x-mark", "canary")) +
        "]\n      backendRefs: [" + backendRef() + "]\n    - matches: [{path: {value: /never}}]\n      filters: [" +
        inlined("{name: no, type: 'sluice.dev/DirectResponse:v1', phase: request-headers, config: {detail: canary}}") +
        "]\n      backendRefs: [" + backendRef() + "]\n");
    gateway_.emplace(spec);
  }

  const EchoOrigin origin_{std::nullopt};
  std::optional<GatewayProcess> gateway_;
};

TEST_F(StepsInTheLog, NameTheProcessorItsResultAndThePlace) {
  start("trace");
  ASSERT_EQ(statusOf(*gateway_, "/a?token=canary"), "200");
  EXPECT_THAT(
      gateway_->process().waitForLine(kLine).value_or(gateway_->process().errors()),
      AllOf(HasSubstr(R"("severity":"TRACE")"), HasSubstr(R"(mark","type":"sluice.dev/HeaderModifier:v1")"),
            HasSubstr(R"("phase":"request-headers","result":"done")"),
            HasSubstr(R"("gateway":"test/egress","route":"test/all")"), HasSubstr(R"("client.address":"127.0.0.1)")));
  ASSERT_EQ(statusOf(*gateway_, "/never?token=canary"), "403");
  EXPECT_THAT(gateway_->process().waitForLine(R"("result":"replied")").value_or(gateway_->process().errors()),
              HasSubstr(R"(no","type":"sluice.dev/DirectResponse:v1")"));
  EXPECT_EQ(gateway_->process().said("canary"), 0U) << "no value, body or query";
}

TEST_F(StepsInTheLog, AreNotToldOfAtTheLevelDebug) {
  start("debug");
  ASSERT_EQ(statusOf(*gateway_, "/a"), "200");
  ASSERT_TRUE(gateway_->process().waitForLine("an attempt has ended"));
  EXPECT_EQ(gateway_->process().said(kLine), 0U);
}

}  // namespace
}  // namespace sluice::test
