// Tests how the Pods of a Gateway take a new configuration: one before all others, all others at the same time, and
// none if it is refused. The Pods are processes of this machine (test/support/kube/stand_in).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/cluster/cluster_fixture.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/kubernetes/service_clients.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::uint16_t kRolloutPort = 80;
constexpr int kFewRequests = 50;

/// A Gateway with three Pods and a route whose answers have the name of its version.
class KubeRollout : public ClusterTest {
 protected:
  static constexpr const char* kRolloutPods = "egress-egress";

  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped()) return;
    install();
    kubectl().apply(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n---\napiVersion: sluice.dev/v1alpha1\nkind: "
        "GatewayParameters\nmetadata: {namespace: demo, name: ours}\nspec: {replicas: 3}\n---\n"
        "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: origin}\n"
        "spec: {destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
        std::to_string(kOriginPort) + "}}}\n---\n" + gateway("") + route("one"));
    ASSERT_TRUE(kubectl().waitFor("deployment", "demo", kRolloutPods, "{.metadata.name}", kRolloutPods))
        << cluster_->logs();
    ASSERT_TRUE(cluster_->isRolledOut("demo", kRolloutPods));
    ASSERT_TRUE(eventually([this] { return servedBy("3/3"); })) << revisions();
  }
  static std::string gateway(const std::string& annotations) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress, "
           "annotations: {" +
           annotations + "}}\nspec:\n  gatewayClassName: egress\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(kRolloutPort) +
           "}]\n  infrastructure: {parametersRef: {group: sluice.dev, kind: GatewayParameters, name: ours}}\n---\n";
  }
  static std::string route(const std::string& version) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: all}\nspec:\n"
           "  parentRefs: [{name: egress}]\n  rules:\n    - backendRefs: [{group: sluice.dev, kind: Backend, name: "
           "origin}]\n      filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-version, "
           "value: " +
           version + "}]}}]\n---\n";
  }
  /// Makes one Pod try each new configuration before the others.
  void askForCanary() {
    letTimePass(std::chrono::seconds(1));  // or two revisions could have one creationTimestamp, and none be the newest
    kubectl().apply(gateway("sluice.dev/rollout: Canary"));
    ASSERT_TRUE(eventually([this] {
      return ofNewest("{.spec.canary}").starts_with("egress-") && ofNewest("{.status.served}") == "3/3";
    })) << revisions();
  }
  void refuseSettings() const {
    std::string refused = settings();
    refused.replace(refused.find("workers: 1"), 10, "workers: x");
    kubectl().apply(refused);
  }

  /// Returns the types of the Gateway's conditions.
  std::vector<std::string> conditions() const {
    std::istringstream types(kubectl().get("gateway", "demo", "egress", "{.status.conditions[*].type}"));
    return {std::istream_iterator<std::string>(types), {}};
  }
  std::string fieldsOfRevisions(const std::string& field) const {
    return kubectl().expect({"get", "egressrevisions", "-n", "demo", "-o", "jsonpath={.items[*]" + field.substr(1)});
  }
  std::string revisions() const {
    return kubectl().expect({"get", "egressrevisions", "-n", "demo", "-o", "yaml"}) + cluster_->logs();
  }
  bool servedBy(const std::string& replicas) const {
    return fieldsOfRevisions("{.status.served}").find(replicas) != std::string::npos;
  }
  /// Returns the value of a field of the newest revision.
  std::string ofNewest(const std::string& field) const {
    const std::string names =
        kubectl().expect({"get", "egressrevisions", "-n", "demo", "-o", "jsonpath={.items[*].metadata.name}",
                          "--sort-by", "{.metadata.creationTimestamp}"});
    return kubectl().get("egressrevision", "demo", names.substr(names.rfind(' ') + 1), field);
  }
  std::vector<std::string> pods() const {
    return cluster_->ofPods("demo", "gateway.networking.k8s.io/gateway-name=egress", "{.metadata.name}");
  }
  /// Returns the version that a Pod answers with.
  std::string versionAt(const std::string& pod) const {
    const std::string address = kubectl().get("pod", "demo", pod, "{.status.podIP}");
    BlockingSocket client = BlockingSocket::connectTo(address, kRolloutPort);
    if (!client.ok()) return "no connection";
    const ReceivedResponse answer = askRaw(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return answer.status == 200 ? answer.field("x-version").value_or("") : std::to_string(answer.status);
  }
  std::map<std::string, std::string> versionsAt(const std::vector<std::string>& some) const {
    std::map<std::string, std::string> versions;
    for (const std::string& pod : some) versions[pod] = versionAt(pod);
    return versions;
  }
  /// Waits until three Pods answer with this version.
  testing::AssertionResult allAnswer(const std::string& version) const {
    std::string last;
    const auto holds = [&] {
      last.clear();
      const std::vector<std::string> now = pods();
      std::size_t answering = 0;
      for (const std::string& pod : now) {
        const std::string answered = versionAt(pod);
        last += pod + ": " + answered + "\n";
        if (answered == version) ++answering;
      }
      return answering == 3 && now.size() == 3;
    };
    if (eventually(holds)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << last << revisions();
  }

  // The chapters of the test with a canary.
  void aRefusingCanary();
  void aReplicaThatIsNotReady();
  void aReplicaThatIsLost();
  void aCanaryThatIsLost();
  std::string awaitCanary(const std::vector<std::string>& answering, const std::string& version) const;
};

TEST_F(KubeRollout, StartsANewPodFromTheNewestGoodRevisionWhileTheNewestIsRefused) {
  ServiceClients clients(cluster_->kubeconfig(), "demo", kRolloutPods, kRolloutPort, "/");
  refuseSettings();
  ASSERT_TRUE(eventually([this] { return ofNewest("{.status.state}") == "Tainted"; })) << revisions();
  EXPECT_THAT(ofNewest("{.status.replicas[*].state}"), "Refused Refused Refused");
  const std::string lost = pods().at(0);
  kubectl().expect({"delete", "pod", "-n", "demo", lost});
  EXPECT_TRUE(cluster_->isRolledOut("demo", kRolloutPods)) << "the new Pod is ready";
  EXPECT_TRUE(eventually([&] { return pods().size() == 3 && servedBy("3/3"); })) << revisions();
  EXPECT_THAT(pods(), Not(Contains(lost)));
  EXPECT_TRUE(allAnswer("one"));
  EXPECT_THAT(cluster_->logs(), HasSubstr("serving the newest good configuration"));
  EXPECT_THAT(ofNewest("{.status.replicas[*].state}"), "Refused Refused Refused");
  EXPECT_TRUE(clients.goOn(kFewRequests)) << clients.report();
  EXPECT_TRUE(clients.failures().empty()) << clients.report();

  kubectl().apply(settings() + "---\n" + route("two"));
  EXPECT_TRUE(allAnswer("two"));
  clients.stop();
  EXPECT_TRUE(clients.failures().empty()) << clients.report();
}

/// Nothing changes for anybody.
void KubeRollout::aRefusingCanary() {
  refuseSettings();
  ASSERT_TRUE(eventually([this] { return ofNewest("{.status.state}") == "Tainted"; })) << revisions();
  EXPECT_TRUE(allAnswer("one"));
  EXPECT_TRUE(servedBy("3/3")) << revisions();
  kubectl().apply(settings());
  const std::string inSync = R"({.status.conditions[?(@.reason=="DesiredVersionPublished")].status})";
  EXPECT_TRUE(eventually([&] { return fieldsOfRevisions(inSync) == "True"; })) << revisions();
}

/// Waits until one of two Pods answers with the version, and returns its name.
std::string KubeRollout::awaitCanary(const std::vector<std::string>& answering, const std::string& version) const {
  std::string canary;
  const auto isOne = [&] {
    for (const auto& [pod, answer] : versionsAt(answering)) {
      if (answer == version) canary = pod;
    }
    return !canary.empty();
  };
  EXPECT_TRUE(eventually(isOne)) << revisions();
  return canary;
}

void KubeRollout::aReplicaThatIsNotReady() {
  const std::vector<std::string> all = pods();
  cluster_->stopProcessOf("demo", all.at(2));
  kubectl().apply(route("two"));
  const std::string canary = awaitCanary({all[0], all[1]}, "two");
  const std::string other = canary == all[0] ? all[1] : all[0];
  letTimePass(std::chrono::seconds(8));  // longer than a canary serves alone
  EXPECT_EQ(versionAt(other), "one") << "one Pod does not have it ready";
  EXPECT_EQ(ofNewest(R"({.status.conditions[?(@.type=="Validated")].status})"), "False");
  EXPECT_EQ(ofNewest(R"({.status.replicas[?(@.name==")" + other + R"(")].reason})"), "AwaitsCanary");
  cluster_->continueProcessOf("demo", all[2]);
  EXPECT_TRUE(allAnswer("two"));
}

void KubeRollout::aReplicaThatIsLost() {
  const std::vector<std::string> all = pods();
  cluster_->stopProcessOf("demo", all.at(2));
  kubectl().apply(route("three"));
  EXPECT_NE(awaitCanary({all[0], all[1]}, "three"), "");
  kubectl().expect({"delete", "pod", "-n", "demo", all[2], "--grace-period=1"});
  EXPECT_TRUE(allAnswer("three"));
  EXPECT_THAT(pods(), Not(Contains(all[2])));
}

void KubeRollout::aCanaryThatIsLost() {
  const std::vector<std::string> all = pods();
  cluster_->stopProcessOf("demo", all.at(2));
  kubectl().apply(route("four"));
  const std::string canary = awaitCanary({all[0], all[1]}, "four");
  kubectl().expect({"delete", "pod", "-n", "demo", canary});
  EXPECT_TRUE(eventually([&] { return ofNewest("{.spec.canary}") != canary; })) << revisions();
  cluster_->continueProcessOf("demo", all[2]);
  EXPECT_TRUE(allAnswer("four"));
}

TEST_F(KubeRollout, HasNoMoreConditionsThanAGatewayMayHave) {
  constexpr std::size_t kMostConditions = 8;  // Gateway API's maxItems
  std::set<std::string> seen;
  const auto see = [&](const char* awaited) {
    std::vector<std::string> now;
    EXPECT_TRUE(eventually([&] {
      now = conditions();
      return std::find(now.begin(), now.end(), awaited) != now.end();
    })) << awaited;
    EXPECT_LE(now.size(), kMostConditions);
    seen.insert(now.begin(), now.end());
  };
  see("sluice.dev/Available");
  refuseSettings();
  see("Degraded");
  const std::string served = kubectl().expect({"get", "egressrevisions", "-n", "demo", "-o",
                                               R"(jsonpath={.items[?(@.status.state=="Served")].spec.revision})"});
  const ProgramOutcome back =
      sluice({"revisions", "rollback", served, "--gateway", "demo/egress", "--kubeconfig", cluster_->kubeconfig()});
  EXPECT_EQ(back.exitCode, 0) << back.errors;
  see("sluice.dev/RolledBack");
  EXPECT_THAT(seen, testing::IsSupersetOf({"Accepted", "Programmed", "sluice.dev/Provisioned", "sluice.dev/Available",
                                           "sluice.dev/RolledBack", "Degraded"}));
  EXPECT_LE(seen.size(), kMostConditions) << "all of them together";
}

TEST_F(KubeRollout, SwitchesOverOnceTheCanaryServesAndAllOthersAreReady) {
  askForCanary();
  aRefusingCanary();
  if (HasFatalFailure()) return;
  aReplicaThatIsNotReady();
  aReplicaThatIsLost();
  aCanaryThatIsLost();
}

}  // namespace
}  // namespace sluice::test
