// Tests how the gateway reports the servers of payload processors at /status, in `sluice status`, in metrics and in its
// log, while a real server (grpc-js) is stopped, started and stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/integration/support/ext_proc_server.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ProcessorServers : public testing::Test {
 protected:
  void start(const std::string& more = {}) {
    GatewaySpec spec;
    spec.workers = 2;
    spec.backends = {{.port = origin_.port()}, {.name = "guard", .hostname = "guard.test", .port = server_.port()}};
    spec.routes =
        routeOfRules("    - matches: [{path: {value: /free}}]\n" + backendRefs() + "    - filters: [" +
                     "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, "
                     "name: guards}}]\n" +
                     backendRefs()) +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: test, "
        "name: guards}\nspec: {processors: [{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 2s" +
        more + ", config: {backendRefs: [" + backendRef("guard") + "]}}]}\n";
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  bool becomes(const std::string& state) const {
    return gateway_->reaches("sluice_processor_servers{state=\"" + state + "\"}", 1);
  }
  std::string status() const { return gateway_->adminGet("/status"); }
  std::string statusCommand() const {
    return run({programPath("sluice"), "status", "--admin", "127.0.0.1:" + std::to_string(gateway_->adminPort())})
        .output;
  }
  static std::string condition(const std::string& value, const std::string& reason) {
    return "{\"type\":\"extension.sluice.dev/guard\",\"status\":\"" + value + "\",\"reason\":\"" + reason + "\"";
  }

  EchoOrigin origin_{std::nullopt};
  ExtProcServer server_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(ProcessorServers, ArePendingThenDegradedThenActiveAndDegradedAgain) {
  server_.stop();
  start();
  EXPECT_TRUE(becomes("pending"));
  EXPECT_THAT(status(), AllOf(HasSubstr(condition("True", "ExtensionPending")), Not(HasSubstr("\"Degraded\""))));
  EXPECT_EQ(statusOf(*gateway_, "/guarded"), "500");
  EXPECT_TRUE(becomes("degraded")) << "one failure is enough if nothing follows";
  EXPECT_THAT(status(),
              AllOf(HasSubstr(condition("False", "ExtensionUnavailable")), HasSubstr("its requests are refused"),
                    HasSubstr("{\"type\":\"Degraded\",\"status\":\"True\",\"reason\":\"ExtensionUnavailable\"")));
  EXPECT_THAT(statusCommand(),
              HasSubstr("guard False, ExtensionUnavailable: spec.processors[0]: its server fails since"));
  EXPECT_TRUE(gateway_->process().waitForLine("the server of a payload processor is unreachable"));
  EXPECT_EQ(statusOf(*gateway_, "/free"), "200");
  EXPECT_TRUE(gateway_->isReady());

  server_.start();
  const double reloads = gateway_->metric("sluice_config_reloads_total{result=\"success\"}");
  EXPECT_THAT(ask(*gateway_, "/guarded", {"--retry", "20", "--retry-all-errors", "--retry-delay", "1", "-f"}),
              HasSubstr("x-guard: seen"));
  EXPECT_TRUE(becomes("active"));
  EXPECT_THAT(status(), AllOf(HasSubstr(condition("True", "ExtensionActive")), Not(HasSubstr("\"Degraded\""))));
  EXPECT_TRUE(gateway_->process().waitForLine("the server of a payload processor answers"));
  EXPECT_EQ(gateway_->metric("sluice_config_reloads_total{result=\"success\"}"), reloads) << "it is no reload";

  server_.stop();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf(*gateway_, "/guarded"), "500");
  EXPECT_TRUE(becomes("degraded"));
  EXPECT_THAT(status(), HasSubstr(condition("False", "ExtensionUnavailable")));
  EXPECT_TRUE(gateway_->process().waitUntilSaid("the server of a payload processor is unreachable", 2));
  EXPECT_EQ(gateway_->process().said("the server of a payload processor is unreachable"), 2u)
      << "one line for each change";
}

TEST_F(ProcessorServers, ThatFailOpenAreDegradedAlthoughNoRequestIsRefused) {
  server_.stop();
  start(", failOpen: true");
  EXPECT_EQ(statusOf(*gateway_, "/guarded"), "200");
  EXPECT_TRUE(becomes("degraded"));
  EXPECT_THAT(status(),
              AllOf(HasSubstr(condition("False", "ExtensionUnavailable")), HasSubstr("its requests go on without it")));
  server_.start();
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(statusOf(*gateway_, "/guarded"), "200");
    return gateway_->metric("sluice_processor_servers{state=\"active\"}") == 1;
  }));
}

}  // namespace
}  // namespace sluice::test
