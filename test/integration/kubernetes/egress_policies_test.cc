// Tests EgressPolicies of a real API server: they are in force as soon as they exist, their statuses and Events are
// written, and the server refuses those that no gateway could read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/kubernetes/events_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class KubeEgressPolicies : public KubeEventsTest {
 protected:
  void startServerWithRoute() {
    startServer(InstalledKinds::kGatewayApiAndOurs);
    kubectl->apply(gateway() +
                   "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: far}\nspec: "
                   "{destination: {type: Fqdn, fqdn: {hostname: origin.test}, ports: [{number: " +
                   std::to_string(one.port()) + "}]}}\n---\n" +
                   route("all", "/", "{group: sluice.dev, kind: Backend, name: far}"));
  }
  static std::string policy(const std::string& spec, const std::string& nameSpace = "demo") {
    return egressPolicy("walls", kGatewayTarget, spec, nameSpace);
  }
  /// Returns what kubectl says when the API server refuses the policy.
  std::string refusalOf(const std::string& spec) const {
    const TempDir folder;
    const ProgramOutcome outcome = kubectl->run({"apply", "-f", folder.write("policy.yaml", policy(spec))});
    EXPECT_NE(outcome.exitCode, 0) << spec << outcome.output;
    return outcome.errors;
  }
  /// Waits until the status says that this generation of the policy applies to the Gateway.
  bool isAccepted(const std::string& generation) const {
    return kubectl->waitFor("egresspolicies.sluice.dev", "demo", "walls",
                            "{.status.ancestors[*].ancestorRef.name} {.status.ancestors[*].controllerName} "
                            "{.status.ancestors[*].conditions[?(@.type==\"Accepted\")]['status','reason']} "
                            "{.status.ancestors[*].conditions[?(@.type==\"Accepted\")].observedGeneration}",
                            "egress sluice.dev/egress-gateway True Accepted " + generation);
  }
  bool counts(const std::string& rule, const std::string& decision, const std::string& nameSpace = "demo") const {
    return sluice->reaches(decisionsOf("walls", rule, decision, nameSpace), 1);
  }
  std::string destination() const { return "origin.test:" + std::to_string(one.port()); }
};

TEST_F(KubeEgressPolicies, AreInForceFromTheirCreationToTheirDeletion) {
  startServerWithRoute();
  startGateway({"--controller"});
  EXPECT_TRUE(answers("/", "one"));

  const std::string elsewhere = "rules: [" + allowing("elsewhere", "to: {hostnames: [other.test]}") + "]";
  kubectl->apply(policy(elsewhere));
  EXPECT_TRUE(answers("/", "403"));
  EXPECT_TRUE(isAccepted("1"));
  EXPECT_TRUE(counts("default", "denied"));
  EXPECT_TRUE(isTold("demo", "Warning EgressDenied EgressPolicy demo/walls: rule default denies " + destination()));

  const std::size_t served = one.heads().size();
  EXPECT_EQ(ask(), "403");
  EXPECT_EQ(one.heads().size(), served);
  kubectl->apply(policy("mode: Audit, " + elsewhere));
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(isAccepted("2"));
  EXPECT_TRUE(counts("default", "audited"));

  kubectl->apply(policy("default: Allow, rules: [" + denying("local", "to: {cidrs: [127.0.0.0/8]}") + "]"));
  EXPECT_TRUE(answers("/", "403"));
  EXPECT_TRUE(isAccepted("3"));
  EXPECT_TRUE(isTold("demo", "Warning EgressDenied EgressPolicy demo/walls: rule local denies " + destination()));

  kubectl->remove(policy("rules: []"));
  EXPECT_TRUE(answers("/", "one"));
}

TEST_F(KubeEgressPolicies, AreRefusedByTheApiServerIfNoGatewayCouldReadThem) {
  startServerWithRoute();
  kubectl->apply(policy("rules: [" + allowing("elsewhere", "to: {hostnames: [other.test]}") + "]"));
  startGateway();
  EXPECT_TRUE(answers("/", "403"));
  for (const char* hostname : {"https://origin.test", "'*'", "origin.*", "10.0.0.1", "'origin.test:443'"}) {
    EXPECT_THAT(refusalOf("rules: [" + allowing("a", "to: {hostnames: [" + std::string(hostname) + "]}") + "]"),
                AllOf(HasSubstr("spec.rules[0].to.hostnames[0]"), HasSubstr("should match")))
        << hostname;
  }
  EXPECT_THAT(refusalOf("rules: [" + allowing("a", "to: {ports: ['8099-8000']}") + "]"),
              AllOf(HasSubstr("spec.rules[0].to.ports[0]"), HasSubstr("must not end before it begins")));
  EXPECT_THAT(refusalOf("rules: [" + denying("a", "tls: {mode: Required}") + "]"),
              HasSubstr("tls must not be given in a Deny rule"));
  EXPECT_EQ(ask(), "403") << "the policy that was there is in force";
}

TEST_F(KubeEgressPolicies, OfTheSettingsCoverTheGatewaysOfTheClassFromAnotherNamespace) {
  startServerWithRoute();
  kubectl->apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: guards}\n");
  const std::string settings = kubectl->get("configmap", "demo", "settings", R"({.data.settings\.yaml})");
  const auto setPolicies = [&](const std::string& policies) {
    std::string text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: settings}\ndata:\n"
        "  settings.yaml: |\n";
    std::istringstream lines(settings + "\negressPolicies: [" + policies + "]\n");
    for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
    kubectl->apply(text);
  };
  startGateway({"--gateway", "demo/egress"});
  EXPECT_TRUE(answers("/", "one"));
  setPolicies("{namespace: guards, name: walls}");
  EXPECT_TRUE(answers("/", "500")) << "there is no such policy";
  kubectl->apply(policy("rules: [" + allowing("elsewhere", "to: {hostnames: [other.test]}") + "]", "guards"));
  EXPECT_TRUE(answers("/", "403"));
  EXPECT_TRUE(counts("default", "denied", "guards"));
  EXPECT_TRUE(isTold("guards", "Warning EgressDenied EgressPolicy guards/walls: rule default denies " + destination()));
  kubectl->apply(policy("rules: [" + allowing("here", "to: {hostnames: [origin.test]}") + "]", "guards"));
  EXPECT_TRUE(answers("/", "one"));
  setPolicies("");
  kubectl->remove(policy("rules: []", "guards"));
  EXPECT_TRUE(answers("/", "one"));
}

}  // namespace
}  // namespace sluice::test
