// Tests that a running gateway raises an alarm about objects that are not served as they are written, although the
// newest configuration is in sync, and that the alarm ends when they are mended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"
#include "test/support/test_pki.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class DegradedState : public testing::Test {
 protected:
  static ProgramOutcome statusCommand(const GatewayProcess& gateway) {
    return sluice({"status", "--admin", "127.0.0.1:" + std::to_string(gateway.adminPort())});
  }
  static double faultyObjects(const GatewayProcess& gateway, const std::string& kind) {
    return gateway.metric("sluice_config_faulty_objects{kind=\"" + kind + "\"}");
  }

  static void expectWell(const GatewayProcess& gateway) {
    EXPECT_EQ(gateway.metric("sluice_config_degraded"), 0);
    for (const char* kind : {"Gateway", "HTTPRoute"}) EXPECT_EQ(faultyObjects(gateway, kind), 0) << kind;
    EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"state\":\"InSync\",\"degraded\":[],"));
    const ProgramOutcome status = statusCommand(gateway);
    EXPECT_EQ(status.exitCode, 0) << status.output;
    EXPECT_THAT(status.output, Not(HasSubstr("degraded")));
  }

  /// Checks that one object of that kind has a fault, and that nothing else has changed.
  static void expectFault(const GatewayProcess& gateway, const std::string& kind, const std::string& reason,
                          const std::string& fault, const std::string& line) {
    EXPECT_EQ(gateway.metric("sluice_config_degraded"), 1);
    EXPECT_EQ(faultyObjects(gateway, kind), 1);
    EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 1);
    EXPECT_TRUE(gateway.isReady());
    const std::string page = gateway.adminGet("/status");
    EXPECT_THAT(page, HasSubstr("\"state\":\"InSync\",\"degraded\":[\"" + reason + "\"],"));
    EXPECT_THAT(page, HasSubstr("\"faultyObjects\":[" + fault));
    const ProgramOutcome status = statusCommand(gateway);
    EXPECT_EQ(status.exitCode, 1);
    EXPECT_THAT(status.output, StartsWith("InSync since "));
    EXPECT_THAT(status.output, HasSubstr("\ndegraded: 1 object has a fault\n"));
    EXPECT_THAT(status.output, HasSubstr("\nobjects with faults:\n  " + line));
  }

  RawOrigin origin_{RawOrigin::answering(saying("one"))};
};

TEST_F(DegradedState, IsAConfigurationWithAMisspeltBackendUntilItIsMended) {
  GatewayProcess gateway(towards(origin_));
  expectWell(gateway);
  GatewaySpec misspelt = towards(origin_);
  misspelt.routes = routeOfRules(ruleOfPrefix("/", "orgin"));
  gateway.reload(misspelt);
  EXPECT_EQ(statusOf(gateway, "/"), "500");
  expectFault(gateway, "HTTPRoute", "BackendNotFound",
              R"({"group":"gateway.networking.k8s.io","kind":"HTTPRoute","namespace":"test","name":"all",)"
              R"("condition":"ResolvedRefs","reason":"BackendNotFound","message":"spec.rules[0])",
              "HTTPRoute test/all: ResolvedRefs, BackendNotFound: spec.rules[0]");
  gateway.reload(towards(origin_));
  expectWell(gateway);
}

TEST_F(DegradedState, IsAConfigurationWithAPortThatAMissingSecretClosesUntilItIsThere) {
  GatewaySpec closed = towards(origin_);
  closed.listeners = "    - {name: secure, protocol: HTTPS, port: " + std::to_string(freePort()) +
                     ", tls: {certificateRefs: [{name: lost}]}}\n";
  closed.routes = routeOfRules(ruleOfPrefix("/", "origin"));
  GatewayProcess gateway(closed);
  expectFault(gateway, "Gateway", "InvalidCertificateRef",
              R"({"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"test","name":"egress",)"
              R"("condition":"ResolvedRefs","reason":"InvalidCertificateRef","message":"spec.listeners[1])",
              "Gateway test/egress: ResolvedRefs, InvalidCertificateRef: spec.listeners[1]");
  GatewaySpec mended = closed;
  mended.routes += tlsSecretOf("lost", issueServer(makeAuthority(), "secure.test"));
  gateway.reload(mended);
  expectWell(gateway);
}

TEST_F(DegradedState, IsNoConfigurationOnlyBecauseABackendIsDown) {
  GatewaySpec spec;
  spec.backends = {{.port = freePort()}};
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusOf(gateway, "/"), "503");
  EXPECT_TRUE(eventually([&] { return gateway.adminGet("/status").find("\"Unreachable\"") != std::string::npos; }));
  expectWell(gateway);
}

}  // namespace
}  // namespace sluice::test
