// Tests that objects say what the Pods of a Gateway serve, with the installed controller apart from the data plane:
// while a configuration is refused, and while Pods find faults that the controller cannot see. The Pods are processes
// of this machine (test/support/kube/stand_in).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/cluster/cluster_fixture.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint16_t kFleetPort = 80;
constexpr std::uint16_t kLatePort = 8001;  // nobody listens there at first
constexpr const char* kFleetPods = "gateway.networking.k8s.io/gateway-name=egress";

class KubeFleetStatuses : public ClusterTest {
 protected:
  /// Makes a Gateway of two Pods, whose routes lead to an origin, to a Backend that takes no connections, and through a
  /// processor whose server does not run.
  void begin() {
    install();
    kubectl().apply(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n---\n" + gateway() + backend("origin", kOriginPort) +
        backend("late", kLatePort) + route("all", "/", "origin") + route("late", "/late", "late") +
        route("guarded", "/guarded", "origin",
              ", filters: [{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: "
              "PayloadProcessingPipeline, name: guards}}]") +
        "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: demo, name: "
        "guards}\nspec: {processors: [{name: guard, type: 'sluice.dev/ExtProc:v1', config: {backendRefs: "
        "[{group: sluice.dev, kind: Backend, name: late}]}}]}\n---\n");
    ASSERT_TRUE(kubectl().waitFor("deployment", "demo", "egress-egress", "{.spec.replicas}", "2")) << cluster_->logs();
    ASSERT_TRUE(cluster_->isRolledOut("demo", "egress-egress")) << cluster_->logs();
    addresses_ = cluster_->ofPods("demo", kFleetPods, "{.status.podIP}");
    ASSERT_THAT(addresses_, SizeIs(2));
    ASSERT_TRUE(eventually([this] { return answersOf("/") == std::vector<int>{200, 200}; })) << cluster_->logs();
  }
  static std::string gateway() {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
           "  gatewayClassName: egress\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(kFleetPort) + "}]\n---\n";
  }
  static std::string backend(const std::string& name, std::uint16_t port) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: " + name +
           "}\nspec:\n  destination: {type: FQDN, fqdn: {hostname: origin.test, port: " + std::to_string(port) +
           "}}\n---\n";
  }
  static std::string route(const std::string& name, const std::string& path, const std::string& backend,
                           const std::string& filters = {}) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: " + name +
           "}\nspec: {parentRefs: [{name: egress}], rules: [{matches: [{path: {type: PathPrefix, value: " + path +
           "}}], backendRefs: [{group: sluice.dev, kind: Backend, name: " + backend + "}]" + filters + "}]}\n---\n";
  }
  static std::string settingsWith(const std::string& workers) {
    std::string text = settings();
    const std::string good = "workers: 1";
    return text.replace(text.find(good), good.size(), "workers: " + workers);
  }

  int statusFrom(const std::string& address, const std::string& path) const {
    BlockingSocket client = BlockingSocket::connectTo(address, kFleetPort);
    return askRaw(client, "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").status;
  }
  /// Returns the statuses of one answer of each Pod.
  std::vector<int> answersOf(const std::string& path) const {
    std::vector<int> statuses;
    for (const std::string& each : addresses_) statuses.push_back(statusFrom(each, path));
    return statuses;
  }
  std::string conditionOf(const std::string& kind, const std::string& name, const std::string& list,
                          const std::string& type, const std::string& field) const {
    return kubectl().get(kind, "demo", name, "{.status." + list + "[?(@.type==\"" + type + "\")]." + field + "}");
  }
  /// Waits until the condition is of that form: "True Reason".
  testing::AssertionResult becomes(const std::string& kind, const std::string& name, const std::string& list,
                                   const std::string& type, const std::string& expected) const {
    std::string now;
    const auto is = [&] {
      now = conditionOf(kind, name, list, type, "status") + " " + conditionOf(kind, name, list, type, "reason");
      return now == expected;
    };
    if (eventually(is)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << kind << " " << name << ": " << type << " is " << now << "\n"
                                       << kubectl().expect({"get", kind, "-n", "demo", name, "-o", "yaml"});
  }
  std::string degradedMessage() const { return conditionOf("gateway", "egress", "conditions", "Degraded", "message"); }
  void restartControllers() const {
    const std::vector<std::string> before = cluster_->ofPods(kOperators, "", "{.metadata.name}");
    kubectl().expect({"delete", "pod", "-n", kOperators, "--all", "--wait=false"});
    EXPECT_TRUE(eventually([&] {
      const std::vector<std::string> now = cluster_->ofPods(kOperators, "", "{.metadata.name}");
      return now.size() == before.size() &&
             std::find_first_of(now.begin(), now.end(), before.begin(), before.end()) == now.end();
    }));
  }

  // The chapters.
  void faultsThatOnlyPodsSee();
  void recovery();
  void aRefusedConfiguration();
  void aNewControllerDuringTheRollback();
  void aGoodConfigurationAgain();

  std::vector<std::string> addresses_;
};

constexpr const char* kOfBackend = "controllers[0].conditions";
constexpr const char* kOfRoute = "parents[0].conditions";

void KubeFleetStatuses::faultsThatOnlyPodsSee() {
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Available", "True Available"));
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Progressing", "False Completed"));
  // One of two Pods finds out that the Backend takes no connections.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusFrom(addresses_.front(), "/late"), 503);
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Degraded", "True Unreachable"));
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Available", "True Available"));
  const std::string some = conditionOf("backend.sluice.dev", "late", kOfBackend, "Degraded", "message");
  EXPECT_THAT(some, AllOf(HasSubstr("1 of 2 replicas fail: demo/egress-egress-"), HasSubstr("origin.test:8001")));
  // Then the other one does, too.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusFrom(addresses_.back(), "/late"), 503);
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Available", "False Unreachable"));
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Progressing", "True Unreachable"));
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Degraded", " "));

  EXPECT_TRUE(becomes("payloadprocessingpipeline", "guards", "conditions", "extension.sluice.dev/guard",
                      "True ExtensionPending"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(answersOf("/guarded"), testing::Each(500));
  EXPECT_TRUE(becomes("payloadprocessingpipeline", "guards", "conditions", "extension.sluice.dev/guard",
                      "False ExtensionUnavailable"));
  EXPECT_TRUE(becomes("payloadprocessingpipeline", "guards", "conditions", "Degraded", "True ExtensionUnavailable"));
}

void KubeFleetStatuses::recovery() {
  const ChildProcess late(
      {programPath("sluice-echo"), "--listen", PodNetwork::kAddress + (":" + std::to_string(kLatePort))});
  EXPECT_TRUE(eventually([this] { return answersOf("/late") == std::vector<int>{200, 200}; }));
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Available", "True Available"));
  EXPECT_TRUE(becomes("backend.sluice.dev", "late", kOfBackend, "Progressing", "False Completed"));
}

void KubeFleetStatuses::aRefusedConfiguration() {
  const std::string address = kubectl().get("gateway", "demo", "egress", "{.status.addresses[0].value}");
  EXPECT_FALSE(address.empty());
  kubectl().apply(settingsWith("many") + "---\n" + route("new", "/new", "origin"));
  EXPECT_TRUE(becomes("gateway", "egress", "conditions", "Degraded", "True AllReplicasFailing"));
  EXPECT_THAT(degradedMessage(),
              AllOf(HasSubstr("is refused: GatewayClass egress: InvalidParameters: "), HasSubstr("workers"),
                    HasSubstr(" is served"), HasSubstr("2 of 2 replicas fail: demo/egress-egress-")));
  EXPECT_TRUE(becomes("gateway", "egress", "conditions", "Programmed", "True Programmed"));
  EXPECT_EQ(kubectl().get("gateway", "demo", "egress", "{.status.addresses[0].value}"), address);
  EXPECT_EQ(kubectl().get("gateway", "demo", "egress", "{.status.listeners[0].attachedRoutes}"), "3");
  EXPECT_TRUE(becomes("httproute", "all", kOfRoute, "Accepted", "True Accepted"));
  EXPECT_TRUE(becomes("httproute", "all", kOfRoute, "sluice.dev/Programmed", "True Programmed"));
  EXPECT_TRUE(becomes("httproute", "new", kOfRoute, "Accepted", "Unknown Pending"));
  EXPECT_THAT(answersOf("/"), testing::Each(200));
}

void KubeFleetStatuses::aNewControllerDuringTheRollback() {
  restartControllers();
  // The new controllers have taken over when they write statuses of new objects.
  kubectl().apply(route("newer", "/newer", "origin"));
  EXPECT_TRUE(becomes("httproute", "newer", kOfRoute, "Accepted", "Unknown Pending"));
  EXPECT_TRUE(becomes("gateway", "egress", "conditions", "Programmed", "True Programmed"));
  EXPECT_EQ(kubectl().get("gateway", "demo", "egress", "{.status.listeners[0].attachedRoutes}"), "3");
  EXPECT_TRUE(becomes("httproute", "all", kOfRoute, "Accepted", "True Accepted"));
  EXPECT_TRUE(becomes("gateway", "egress", "conditions", "Degraded", "True AllReplicasFailing"))
      << "the Pods have a good configuration, although this controller has none";
}

void KubeFleetStatuses::aGoodConfigurationAgain() {
  kubectl().apply(settings());
  EXPECT_TRUE(becomes("httproute", "new", kOfRoute, "Accepted", "True Accepted"));
  EXPECT_TRUE(becomes("gateway", "egress", "conditions", "Degraded", " "));
  EXPECT_EQ(kubectl().get("gateway", "demo", "egress", "{.status.listeners[0].attachedRoutes}"), "5");
  EXPECT_TRUE(eventually([this] { return answersOf("/new") == std::vector<int>{200, 200}; }));
}

TEST_F(KubeFleetStatuses, SayWhatPodsServeAndWhatTheyFind) {
  begin();
  if (HasFatalFailure()) return;
  faultsThatOnlyPodsSee();
  recovery();
  aRefusedConfiguration();
  aNewControllerDuringTheRollback();
  aGoodConfigurationAgain();
  if (HasFailure()) ADD_FAILURE() << cluster_->logs();
}

}  // namespace
}  // namespace sluice::test
