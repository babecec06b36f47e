// Tests what users see of the Pods of their Gateways in a cluster, when they are as they should be and when they are
// not. The Pods are processes of this machine (test/support/kube/stand_in).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/cluster/cluster_fixture.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint16_t kPort = 80;

/// A Gateway with one Pod, a listener and a route to a Backend, whose answers have the name of the Gateway.
std::string gatewayNamed(const std::string& nameSpace, const std::string& name,
                         const std::string& listener = "{name: http, protocol: HTTP, port: 80}") {
  const std::string metadata = "metadata: {namespace: " + nameSpace + ", name: " + name + "}\n";
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n" + metadata +
         "spec:\n  gatewayClassName: egress\n  listeners: [" + listener +
         "]\n  infrastructure: {parametersRef: {group: sluice.dev, kind: GatewayParameters, name: " + name +
         "}}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n" + metadata +
         "spec:\n  parentRefs: [{name: " + name +
         "}]\n  rules:\n    - backendRefs: [{group: sluice.dev, kind: Backend, name: origin}]\n"
         "      filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-by, value: " +
         nameSpace + "." + name + "}]}}]\n---\n";
}
std::string parametersOf(const std::string& nameSpace, const std::string& name, const std::string& spec) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {namespace: " + nameSpace +
         ", name: " + name + "}\nspec: {" + spec + "}\n---\n";
}

class KubeGatewayPods : public ClusterTest {
 protected:
  static std::string backendIn(const std::string& nameSpace) {
    return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + nameSpace +
           "}\n---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: " + nameSpace +
           ", name: origin}\nspec: {destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
           std::to_string(kOriginPort) + "}}}\n---\n";
  }
  static std::string condition(const std::string& type, const std::string& member) {
    return "{.status.conditions[?(@.type==\"" + type + "\")]." + member + "}";
  }
  std::string ofGateway(const std::string& name, const std::string& type, const std::string& member) const {
    return kubectl().get("gateway", "demo", name, condition(type, member));
  }
  bool waitForGateway(const std::string& name, const std::string& type, const std::string& status) const {
    return kubectl().waitFor("gateway", "demo", name, condition(type, "status"), status);
  }
  bool waitForReason(const std::string& name, const std::string& type, const std::string& reason) const {
    return kubectl().waitFor("gateway", "demo", name, condition(type, "reason"), reason);
  }
  std::vector<std::string> podsOf(const std::string& nameSpace, const std::string& gateway,
                                  const std::string& jsonpath) const {
    return cluster_->ofPods(nameSpace, "gateway.networking.k8s.io/gateway-name=" + gateway, jsonpath);
  }
  /// Waits until the controller has made the Deployment of a Gateway, and all its Pods are ready.
  testing::AssertionResult isMade(const std::string& nameSpace, const std::string& gateway) const {
    const std::string deployment = gateway + "-egress";
    if (!kubectl().waitFor("deployment", nameSpace, deployment, "{.metadata.name}", deployment)) {
      return testing::AssertionFailure() << cluster_->logs();
    }
    return cluster_->isRolledOut(nameSpace, deployment);
  }
  /// Returns the Gateway that answers at the only Pod of this one.
  std::string answererAt(const std::string& nameSpace, const std::string& gateway) const {
    const std::vector<std::string> addresses = podsOf(nameSpace, gateway, "{.status.podIP}");
    if (addresses.size() != 1) return std::to_string(addresses.size()) + " Pods";
    BlockingSocket client = BlockingSocket::connectTo(addresses.front(), kPort);
    if (!client.ok()) return "no connection";
    return askRaw(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").field("x-by").value_or("");
  }
  ProgramOutcome status() const { return sluice({"status", "--kubernetes", "--kubeconfig", cluster_->kubeconfig()}); }
};

TEST_F(KubeGatewayPods, HaveTheirPortsForThemselves) {
  install();
  kubectl().apply(backendIn("demo") + backendIn("team") + parametersOf("demo", "one", "replicas: 1") +
                  parametersOf("demo", "two", "replicas: 1") + parametersOf("team", "one", "replicas: 1"));
  // They are made one after the other, so that the first one has the older claim to the port.
  for (const auto& [nameSpace, name] : {std::pair{"demo", "one"}, {"demo", "two"}, {"team", "one"}}) {
    kubectl().apply(gatewayNamed(nameSpace, name));
    ASSERT_TRUE(isMade(nameSpace, name));
  }
  for (const auto& [nameSpace, name] : {std::pair{"demo", "one"}, {"demo", "two"}, {"team", "one"}}) {
    EXPECT_TRUE(kubectl().waitFor("gateway", nameSpace, name, condition("Programmed", "status"), "True"))
        << cluster_->logs();
    EXPECT_EQ(
        kubectl().get("gateway", nameSpace, name, "{.status.listeners[0].conditions[?(@.type==\"Accepted\")].status}"),
        "True");
    EXPECT_TRUE(kubectl().waitFor("httproute", nameSpace, name,
                                  "{.status.parents[0].conditions[?(@.type==\"Accepted\")].status}", "True"));
    const std::string itself = std::string(nameSpace) + "." + name;
    EXPECT_TRUE(eventually([&] { return answererAt(nameSpace, name) == itself; })) << answererAt(nameSpace, name);
  }
  ProgramOutcome outcome;
  EXPECT_TRUE(eventually([&] { return (outcome = status()).exitCode == 0; })) << outcome.output;
}

TEST_F(KubeGatewayPods, AreReadyOnceTheirConfigurationIsAccepted) {
  install();
  kubectl().apply(backendIn("demo") + parametersOf("demo", "one", "replicas: 1") +
                  gatewayNamed("demo", "one",
                               "{name: https, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: missing}]}}"));
  ASSERT_TRUE(isMade("demo", "one")) << "its only listener is closed by its own fault";
  EXPECT_TRUE(waitForGateway("one", "Programmed", "False"));
  EXPECT_EQ(answererAt("demo", "one"), "no connection");
  // So a new image can be rolled out, too.
  kubectl().apply(parametersOf("demo", "one", "replicas: 1, image: 'sluice:2'"));
  EXPECT_TRUE(
      kubectl().waitFor("deployment", "demo", "one-egress", "{.spec.template.spec.containers[0].image}", "sluice:2"));
  EXPECT_TRUE(cluster_->isRolledOut("demo", "one-egress"));

  kubectl().apply(gatewayNamed("demo", "one"));
  EXPECT_TRUE(eventually([&] { return answererAt("demo", "one") == "demo.one"; })) << cluster_->logs();
  EXPECT_TRUE(waitForGateway("one", "Programmed", "True"));

  // A Pod to which only settings are known that are refused is not.
  std::string refused = settings();
  refused.replace(refused.find("workers: 1"), 10, "workers: x");
  kubectl().apply(refused);
  EXPECT_TRUE(eventually([&] {
    return kubectl().expect({"get", "egressrevisions", "-n", "demo"}).find("Tainted") != std::string::npos;
  })) << cluster_->logs();
  kubectl().expect({"delete", "egressrevisions", "-n", "demo", "--all"});  // the good ones, too
  const std::string before = podsOf("demo", "one", "{.metadata.name}").at(0);
  kubectl().expect({"delete", "pod", "-n", "demo", before});
  EXPECT_TRUE(eventually([&] { return cluster_->logs().find("every request is refused until") != std::string::npos; }))
      << cluster_->logs();
  EXPECT_EQ(podsOf("demo", "one", "{.status.conditions[?(@.type==\"Ready\")].status}"),
            std::vector<std::string>{"False"});
  EXPECT_EQ(ofGateway("one", "sluice.dev/Available", "message"), "0 of 1 Pods serve");
  kubectl().apply(settings());
  EXPECT_TRUE(cluster_->isRolledOut("demo", "one-egress"));
  EXPECT_TRUE(waitForGateway("one", "sluice.dev/Available", "True")) << cluster_->logs();
}

TEST_F(KubeGatewayPods, SayWhyTheyDoNotStart) {
  install();
  kubectl().apply(backendIn("demo") + parametersOf("demo", "one", "replicas: 1, image: 'sluice:absent'") +
                  gatewayNamed("demo", "one"));
  EXPECT_TRUE(waitForReason("one", "sluice.dev/Provisioned", "PodsFailing")) << cluster_->logs();
  EXPECT_EQ(ofGateway("one", "sluice.dev/Provisioned", "message"),
            "Deployment one-egress: ImagePullBackOff: image sluice:absent");
  EXPECT_EQ(ofGateway("one", "sluice.dev/Available", "status"), "False");
  EXPECT_EQ(ofGateway("one", "sluice.dev/Available", "message"), "0 of 1 Pods serve");
  EXPECT_EQ(ofGateway("one", "Programmed", "reason"), "NoResources");
  EXPECT_TRUE(eventually([&] {
    return kubectl().expect({"get", "events.events.k8s.io", "-n", "demo", "-o", "json"}).find("\"PodsFailing\"") !=
           std::string::npos;
  })) << cluster_->logs();
  ProgramOutcome outcome = status();
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("PodsFailing: Deployment one-egress: ImagePullBackOff"),
                                    HasSubstr("PodsMissing: 0 of 1 Pods serve"), HasSubstr("NoResources")));

  kubectl().apply(parametersOf("demo", "one", "replicas: 1"));
  for (const char* type : {"sluice.dev/Provisioned", "sluice.dev/Available", "Programmed"}) {
    EXPECT_TRUE(waitForGateway("one", type, "True")) << type << cluster_->logs();
  }
  EXPECT_TRUE(eventually([&] { return (outcome = status()).exitCode == 0; })) << outcome.output;

  // The Pod of before goes on.
  kubectl().expect({"patch", "deployment", "-n", "demo", "one-egress", "--type=merge", "-p",
                    R"({"spec":{"progressDeadlineSeconds":2}})"});
  kubectl().apply(parametersOf("demo", "one", "replicas: 1, image: 'failing:1'"));
  std::string failing;
  EXPECT_TRUE(eventually([&] {
    failing = ofGateway("one", "sluice.dev/Provisioned", "message");
    return failing.find("; CrashLoopBackOff: image failing:1") != std::string::npos;
  })) << failing;
  EXPECT_THAT(failing, StartsWith("Deployment one-egress: ProgressDeadlineExceeded: "));
  EXPECT_EQ(ofGateway("one", "sluice.dev/Provisioned", "reason"), "PodsFailing");
  EXPECT_EQ(ofGateway("one", "sluice.dev/Available", "message"), "1 of 1 Pods serve");
  EXPECT_EQ(ofGateway("one", "Programmed", "status"), "True");
  outcome = status();
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("CrashLoopBackOff"));
}

TEST_F(KubeGatewayPods, SayWhyTheyCannotBeMade) {
  install();
  kubectl().apply(backendIn("demo") + parametersOf("demo", "one", "replicas: 1") + gatewayNamed("demo", "one"));
  ASSERT_TRUE(isMade("demo", "one"));
  EXPECT_TRUE(waitForGateway("one", "sluice.dev/Available", "True"));
  kubectl().apply(
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: "
      "one-pod}\nspec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: "
      "[CREATE], resources: [pods]}]\n  validations: [{expression: \"request.namespace != 'demo'\", message: 'exceeded "
      "quota: pods=1'}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: "
      "ValidatingAdmissionPolicyBinding\nmetadata: {name: one-pod}\nspec: {policyName: one-pod, validationActions: "
      "[Deny]}\n");
  ASSERT_TRUE(eventually([&] {
    return kubectl().run({"run", "more", "-n", "demo", "--image=sluice:1", "--dry-run=server"}).exitCode != 0;
  })) << "the policy is in force";
  kubectl().apply(parametersOf("demo", "one", "replicas: 2"));
  EXPECT_TRUE(waitForReason("one", "sluice.dev/Provisioned", "PodsFailing")) << cluster_->logs();
  EXPECT_THAT(ofGateway("one", "sluice.dev/Provisioned", "message"),
              AllOf(HasSubstr("FailedCreate"), HasSubstr("exceeded quota: pods=1")));
  EXPECT_EQ(ofGateway("one", "sluice.dev/Available", "status"), "False");
  EXPECT_EQ(ofGateway("one", "sluice.dev/Available", "message"), "1 of 2 Pods serve");
  EXPECT_EQ(ofGateway("one", "Programmed", "status"), "True") << "one serves";
  const ProgramOutcome outcome = status();
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("exceeded quota: pods=1"));
  kubectl().expect({"delete", "validatingadmissionpolicybinding", "one-pod"});
  EXPECT_TRUE(waitForGateway("one", "sluice.dev/Provisioned", "True")) << cluster_->logs();
  EXPECT_TRUE(waitForGateway("one", "sluice.dev/Available", "True")) << cluster_->logs();
}

}  // namespace
}  // namespace sluice::test
