// Tests what the gateway reports about payload processors that cannot run, at /status and in `sluice validate`, and how
// it answers their requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProcessorStatus : public testing::Test {
 protected:
  GatewaySpec specWith(const std::string& settings, const std::string& more = {}) const {
    return {.backends = {{.port = origin_.port()}},
            .settings = settings,
            .routes = routeOfRules("    - matches: [{path: {value: /served}}]\n" + backendRefs()) + more};
  }
  static std::string hooks(const std::string& list) {
    return "extensionManager: {hooks: {xdsTranslator: {post: [" + list +
           "]}}, service: {fqdn: {hostname: ext.test, port: 5005}, tls: {certificateRef: {namespace: test, name: "
           "absent}}}}";
  }
  static std::string processor(const std::string& target) {
    return "\n---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: guard, namespace: "
           "test}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, " +
           target + "}\n  processors:\n    - {name: first, type: 'acme.test/Absent:v1', phase: request-headers}\n";
  }
  static std::string readiness(const GatewayProcess& gateway) {
    return run({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                "http://127.0.0.1:" + std::to_string(gateway.healthPort()) + "/readyz"})
        .output;
  }

  EchoOrigin origin_{std::nullopt};
};

TEST_F(ProcessorStatus, HealthAndReadinessIgnoreAProcessorThatFailsClosed) {
  GatewayProcess gateway(specWith(hooks("Route")));
  EXPECT_EQ(statusOf(gateway, "/served"), "500");
  EXPECT_EQ(statusOf(gateway, "/elsewhere"), "500");
  EXPECT_EQ(readiness(gateway), "200");
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"type\":\"extension.sluice.dev/extensionManager.Route\""));
  for (const char* hook : {"VirtualHost", "HTTPListener", "Translation"}) {
    gateway.reload(specWith(hooks(hook)));
    EXPECT_EQ(statusOf(gateway, "/served"), "500") << hook;
    EXPECT_EQ(readiness(gateway), "200") << hook;
  }
  gateway.reload(specWith(hooks("{type: Route, failOpen: true}, {type: Translation, failOpen: true}")));
  EXPECT_EQ(statusOf(gateway, "/served"), "200");
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("InvalidCACertificateRef"));
  gateway.reload(specWith(""));
  EXPECT_EQ(statusOf(gateway, "/served"), "200");
  EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("InvalidCACertificateRef")));
}

TEST_F(ProcessorStatus, ReportsAttachmentAndFaultsForEachTarget) {
  GatewayProcess gateway(specWith("", processor("kind: HTTPRoute, name: absent")));
  EXPECT_EQ(statusOf(gateway, "/served"), "200");
  EXPECT_THAT(
      gateway.adminGet("/status"),
      HasSubstr("\"ancestors\":[{\"ancestorRef\":{\"group\":\"gateway.networking.k8s.io\",\"kind\":\"HTTPRoute\","
                "\"namespace\":\"test\",\"name\":\"absent\"}"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"TargetNotFound\""));
  gateway.reload(specWith("", processor("kind: HTTPRoute, name: all")));
  EXPECT_EQ(statusOf(gateway, "/served"), "500");
  EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("\"TargetNotFound\"")));
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr("{\"type\":\"extension.sluice.dev/first\",\"status\":\"False\",\"reason\":"
                        "\"UnsupportedExtensionType\",\"message\":\"spec.processors[0].type: "));
}

TEST_F(ProcessorStatus, NamesTheBoundOfAContextThatIsTooLong) {
  const auto with = [this](const std::string& bound, const std::string& more) {
    std::string guard = processor("kind: HTTPRoute, name: all");
    guard.replace(guard.rfind("    - {"), std::string::npos,
                  "    - {name: first, type: 'sluice.dev/ExtProc:v1', phase: request-headers" + more +
                      ", config: {backendRefs: [" + backendRef() + "], context: {names: " + std::string(100, 'x') +
                      "}}}\n");
    return specWith("limits: {processorContext: " + bound + "}", guard);
  };
  GatewayProcess gateway(with("100", ""));
  EXPECT_EQ(statusOf(gateway, "/served"), "500");
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr("{\"type\":\"extension.sluice.dev/first\",\"status\":\"False\",\"reason\":"
                        "\"InvalidConfig\",\"message\":\"spec.processors[0].config: context: takes 113 bytes in the "
                        "first message for each request, and 100 are allowed (limits.processorContext)\""));
  gateway.reload(with("100", ", failOpen: true"));
  EXPECT_EQ(statusOf(gateway, "/served"), "200");
  gateway.reload(with("113", ""));
  EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("InvalidConfig"))) << "a changed bound has it made again";
}

TEST_F(ProcessorStatus, IsPrintedByValidateToo) {
  TempDir folder;
  const std::string path = folder.write(
      "a.yaml",
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\nspec: {controllerName: "
      "sluice.dev/egress-gateway}" +
          processor("kind: ListenerSet, name: set"));
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", path});
  EXPECT_EQ(got.exitCode, 1);
  EXPECT_THAT(got.output, HasSubstr(":10:55: error: PayloadProcessor test/guard: spec.targetRef.kind: "));
  EXPECT_THAT(got.output,
              HasSubstr("PayloadProcessor test/guard (sluice.dev)\n  target ListenerSet test/set  Accepted  "
                        "False  UnsupportedValue\n"));
}

}  // namespace
}  // namespace sluice::test
