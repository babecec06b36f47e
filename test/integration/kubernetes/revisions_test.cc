// Tests that the configurations which a Gateway's replicas got are stored in a real API server as EgressRevisions, and
// restored from there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/revisions_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(KubeRevisions, AreKeptAndSayWhoServesThem) {
  const std::string first = awaitRevisionIn("Served");
  EXPECT_EQ(fieldOf(first, "{.status.served}"), "1/1");
  EXPECT_EQ(fieldOf(first, "{.metadata.labels.gateway\\.networking\\.k8s\\.io/gateway-name}"), "egress");
  EXPECT_EQ(fieldOf(first, "{.metadata.ownerReferences[0].name}"), "egress");
  kubectl->apply(routeToBackend("two"));
  EXPECT_TRUE(answers("/", "two"));
  EXPECT_EQ(awaitRevisionIn("Superseded"), first);
  EXPECT_NE(awaitRevisionIn("Served"), first);
  EXPECT_THAT(kubectl->expect({"get", "ser", "--namespace", "demo"}),
              AllOf(HasSubstr("GATEWAY"), HasSubstr("REVISION"), HasSubstr("STATE"), HasSubstr("SERVED"),
                    HasSubstr("AGE"), HasSubstr("Superseded"), HasSubstr("1/1")));
  EXPECT_THAT(kubectl
                  ->run({"patch", "egressrevision", first, "--namespace", "demo", "--type=merge", "-p",
                         R"({"spec":{"data":"Zg=="}})"})
                  .errors,
              HasSubstr("data never changes"));
}

TEST_F(KubeRevisions, AreNotMadeByABackendThatNobodyOfTheGatewayNames) {
  const std::string first = awaitRevisionIn("Served");
  std::string other = external("one", two.port());
  other.replace(other.find("namespace: demo"), std::string("namespace: demo").size(), "namespace: elsewhere");
  kubectl->apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n---\n" + other);
  kubectl->apply(routeToBackend("two"));
  EXPECT_TRUE(answers("/", "two"));
  ASSERT_EQ(awaitRevisionIn("Superseded"), first);
  const std::string second = awaitRevisionIn("Served");
  kubectl->apply(routeToBackend("one"));
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(eventually([&] { return revisionsIn("Served") == first + " "; }))
      << "although there is another Backend of that name now: " << revisionsIn("Served");
  EXPECT_EQ(awaitRevisionIn("Superseded"), second);
}

TEST_F(KubeRevisions, AreFewHoweverManyChangesThereAre) {
  awaitRevisionIn("Served");
  const auto begun = std::chrono::steady_clock::now();
  constexpr std::size_t kChanges = 20;
  for (std::size_t i = 0; i < kChanges; ++i) {
    const std::string path = "/change/" + std::to_string(i);
    kubectl->apply(route("all", path, toExternal("one")));
    ASSERT_TRUE(answers(path, "one"));
    letTimePass(std::chrono::seconds(1));  // the time in which an earlier version recorded each of them
  }
  const auto count = [&] {
    const std::string names = kubectl->expect({"get", "egressrevisions", "--namespace", "demo", "-o", "name"});
    return static_cast<std::size_t>(std::count(names.begin(), names.end(), '\n'));
  };
  const auto minutes = [&] {
    return static_cast<std::size_t>((std::chrono::steady_clock::now() - begun) / std::chrono::minutes(1));
  };
  constexpr std::size_t kAtOnce = 5;  // the first one, and four changes
  EXPECT_LE(count(), kAtOnce + 2 * minutes());
  // The newest one alone is served.
  const bool recorded = eventually([&] { return !revisionsIn("Served").empty(); }, std::chrono::minutes(2));
  EXPECT_TRUE(recorded) << controller->process().errors();
  EXPECT_LE(count(), kAtOnce + 1 + 2 * minutes());
  EXPECT_GE(count(), 3U) << "some are recorded while they change";
}

TEST_F(KubeRevisions, HoldNoSecrets) {
  const std::string first = awaitRevisionIn("Served");
  kubectl->apply(
      "apiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: key}\nstringData: {key: hush}\n---\n"
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: demo, name: p}\n"
      "spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}\n  processors:\n"
      "    - {name: key, type: \"gateway.networking.k8s.io/CredentialInjector:v1\", phase: request-headers,"
      " config: {allowPlaintext: true, secretRef: {name: key, key: key}}}\n");
  EXPECT_TRUE(eventually([&] {
    ask("/");
    return one.heads().back().find("authorization: Bearer hush") != std::string::npos;
  }));
  EXPECT_EQ(awaitRevisionIn("Superseded"), first);
  const std::string data = fieldOf(awaitRevisionIn("Served"), "{.spec.data}");
  const TempDir folder;
  const std::string packed = folder.write("data", data);
  const ProgramOutcome unpacked = run({"sh", "-c", "base64 -d " + packed + " | gunzip"});
  EXPECT_THAT(unpacked.output, AllOf(HasSubstr("PayloadProcessor"), HasSubstr("HTTPRoute"), HasSubstr("\"egress\""),
                                     Not(HasSubstr("aHVzaA==")), Not(HasSubstr("hush"))));
}

TEST_F(KubeRevisions, AreBroughtBackUntilThatIsUndone) {
  const std::string first = awaitRevisionIn("Served");
  kubectl->apply(routeToBackend("two"));
  EXPECT_TRUE(answers("/", "two"));
  ASSERT_EQ(awaitRevisionIn("Superseded"), first);
  const std::string second = awaitRevisionIn("Served");

  const ProgramOutcome back = rollBack();
  EXPECT_EQ(back.exitCode, 0) << back.errors;
  EXPECT_THAT(back.output, HasSubstr("EgressRevision " + first + " is active"));
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", kRolledBackStatus, "True"))
      << controller->process().errors();
  EXPECT_EQ(awaitRevisionIn("Served"), first);
  EXPECT_EQ(awaitRevisionIn("Superseded"), second);
  // A process that starts meanwhile serves it, too.
  sluice.reset();
  startGateway({"--gateway", "demo/egress"});
  EXPECT_TRUE(answers("/", "one"));

  const ProgramOutcome undone = rollBack({"--undo"});
  EXPECT_EQ(undone.exitCode, 0) << undone.errors;
  EXPECT_TRUE(answers("/", "two"));
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", kRolledBackStatus, ""));
  EXPECT_EQ(rollBack({"--undo"}).exitCode, 1);
  EXPECT_THAT(rollBack({"0000"}).errors, HasSubstr("has no revision '0000'"));
  kubectl->apply(
      "apiVersion: sluice.dev/v1alpha1\nkind: EgressRevision\nmetadata: {namespace: demo, name: egress-abcd}\nspec: "
      "{revision: abcd, gatewayRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}}\n");
  EXPECT_THAT(rollBack({"abcd"}).errors, HasSubstr("no replica of Gateway demo/egress has reported"));
  kubectl->expect({"patch", "egressrevision", "egress-abcd", "--namespace", "demo", "--subresource=status",
                   "--type=merge", "-p", R"({"status":{"state":"Superseded"}})"});
  EXPECT_THAT(rollBack({"abcd"}).errors, HasSubstr("too large to be kept"));
}

TEST_F(KubeRevisions, AreBroughtBackHoweverMuchOthersHaveCreatedBesideThem) {
  const std::string first = awaitRevisionIn("Served");
  kubectl->apply(routeToBackend("two"));
  ASSERT_EQ(awaitRevisionIn("Superseded"), first);
  std::string others;
  for (int i = 0; i < 25; ++i) {
    const std::string revision = "a" + std::to_string(i);
    others += "apiVersion: sluice.dev/v1alpha1\nkind: EgressRevision\nmetadata:\n  namespace: demo\n  name: other-" +
              revision + "\n  finalizers: [tenant.test/stays]\n  annotations: {large: " +
              std::string(std::size_t{250} << 10, 'x') + "}\nspec: {revision: " + revision +
              ", gatewayRef: {group: gateway.networking.k8s.io, kind: Gateway, name: other}}\n---\n";
  }
  kubectl->apply(others);
  const ProgramOutcome back = rollBack();
  EXPECT_EQ(back.exitCode, 0) << back.errors;
  EXPECT_THAT(back.output, HasSubstr("EgressRevision " + first + " is active"));
}

TEST_F(KubeRevisions, ThatAllRefuseAreTaintedUntilTheyAreDeleted) {
  const std::string first = awaitRevisionIn("Served");
  kubectl->apply(service("moving", one.port()) + route("all", "/", toService("moving")));
  ASSERT_TRUE(eventually([&] { return fieldOf(first, "{.status.state}") == "Superseded"; }));
  applySettings("workers: many");
  const std::string bad = awaitRevisionIn("Tainted");
  EXPECT_NE(bad, first);
  EXPECT_THAT(fieldOf(bad, R"({.status.conditions[?(@.type=="Tainted")].message})"), HasSubstr("workers"));
  EXPECT_EQ(ask("/"), "one");
  EXPECT_THAT(rollBack({bad}).errors, HasSubstr("is tainted"));
  kubectl->apply(service("moving", two.port()));
  EXPECT_TRUE(answers("/", "two")) << "what is served has the endpoints of now";
  const std::string uid = fieldOf(bad, "{.metadata.uid}");
  kubectl->expect({"delete", "egressrevision", "--namespace", "demo", bad});
  // It is tried again, is still wrong, and is kept again.
  EXPECT_TRUE(eventually([&] {
    const std::string now = fieldOf(bad, "{.metadata.uid}");
    return !now.empty() && now != uid && fieldOf(bad, "{.status.state}") == "Tainted";
  })) << controller->process().errors();
  EXPECT_EQ(ask("/"), "two");
}

TEST_F(KubeRevisions, AreWhatANewReplicaStartsFromWhileTheNewestOneIsRefused) {
  const std::string first = awaitRevisionIn("Served");
  kubectl->apply(service("moving", one.port()) + route("all", "/", toService("moving")));
  ASSERT_EQ(awaitRevisionIn("Superseded"), first);
  const std::string good = awaitRevisionIn("Served");
  applySettings("workers: many");
  const std::string bad = awaitRevisionIn("Tainted");
  restart();
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(eventually([&] { return hasState("Rollback"); })) << sluice->adminGet("/status");
  EXPECT_TRUE(sluice->isReady());
  EXPECT_TRUE(eventually([&] { return fieldOf(good, "{.status.served}") == "1/1"; })) << "it reports what it serves";
  EXPECT_EQ(fieldOf(bad, "{.status.state}"), "Tainted");
  kubectl->apply(service("moving", two.port()));
  EXPECT_TRUE(answers("/", "two")) << "what is served has the endpoints of now";

  applySettings("workers: 1\n    dns: {hosts: {origin.test: [127.0.0.1]}}\n    addressGuard: {allow: [127.0.0.0/8]}");
  EXPECT_TRUE(eventually([&] { return hasState("InSync"); })) << sluice->adminGet("/status");
  kubectl->apply(routeToBackend("one"));
  EXPECT_TRUE(answers("/", "one"));
}

TEST_F(KubeRevisions, AreServedByAReplicaThatHasKeptOneItself) {
  const std::string good = awaitRevisionIn("Served");
  const TempDir state;
  restart({"--state-dir", state.path()});
  ASSERT_TRUE(answers("/", "one"));
  applySettings("workers: many");
  ASSERT_NE(awaitRevisionIn("Tainted"), good);
  sluice.reset();
  ASSERT_TRUE(eventually([&] { return fieldOf(good, "{.status.served}") == "0/0"; }));
  restart({"--state-dir", state.path()});
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(eventually([&] { return fieldOf(good, "{.status.served}") == "1/1"; })) << "it reports what it serves";
}

TEST_F(KubeRevisions, AreNotStartedFromIfTheyAreForged) {
  const std::string good = awaitRevisionIn("Served");
  applySettings("workers: many");
  ASSERT_NE(awaitRevisionIn("Tainted"), good);
  sluice.reset();  // it would write the states of revisions anew
  const auto forge = [this](const std::string& revision, const std::string& data, const std::string& status) {
    kubectl->apply("apiVersion: sluice.dev/v1alpha1\nkind: EgressRevision\nmetadata: {namespace: demo, name: egress-" +
                   revision + "}\nspec: {revision: " + revision +
                   ", gatewayRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}" + data + "}\n");
    if (status.empty()) return;
    kubectl->expect({"patch", "egressrevision", "egress-" + revision, "--namespace", "demo", "--subresource=status",
                     "--type=merge", "-p",
                     R"({"status":{"lastServed":"2099-01-01T00:00:00Z","state":")" + status + "\"}}"});
  };
  const std::string emptyGzip = ", data: H4sIAAAAAAAAAwMAAAAAAAAAAAA=";
  forge("aa01", emptyGzip, "");
  forge("aa02", emptyGzip, "Superseded");
  forge("aa03", "", "Superseded");
  restart();
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_EQ(logged("an earlier configuration cannot be served"), 2U) << sluice->process().errors();
  EXPECT_THAT(sluice->process().errors(),
              AllOf(HasSubstr("EgressRevision egress-aa02: spec.data: has another digest than spec.revision"),
                    HasSubstr("EgressRevision egress-aa03: spec.data: is missing"), Not(HasSubstr("egress-aa01"))));
}

/// A second replica of a Gateway that asks for a canary.
class KubeCanary : public KubeRevisions {
 protected:
  void SetUp() override {
    KubeRevisions::SetUp();
    if (IsSkipped()) return;
    awaitRevisionIn("Served");
    kubectl->expect({"annotate", "gateway", "--namespace", "demo", "egress", "sluice.dev/rollout=Canary"});
    awaitRevisionIn("Superseded");
    other = std::make_unique<ClusterProcess>(
        std::vector<std::string>{"run", "--kubernetes", "--gateway", "demo/egress"}, server->kubeconfig());
    ASSERT_TRUE(eventually([&] { return isServedBy("2/2"); })) << other->process().errors();
  }
  bool isServedBy(const std::string& replicas) const {
    return kubectl->expect({"get", "ser", "--namespace", "demo"}).find(replicas) != std::string::npos;
  }
  /// Returns a revision of a replica: "desired" or "served".
  template <typename Replica>
  static std::string revisionOf(const Replica& replica, const std::string& which) {
    const std::string status = replica.adminGet("/status");
    const std::size_t at = status.find("\"" + which + "\":\"");
    return at == std::string::npos ? which : status.substr(at + which.size() + 4, 12);
  }
  std::vector<std::string> served() const { return {revisionOf(*sluice, "served"), revisionOf(*other, "served")}; }

  std::unique_ptr<ClusterProcess> other;
};

TEST_F(KubeCanary, ServesANewRevisionBeforeAllOthers) {
  controller->stop();
  const std::vector<std::string> before = served();
  const std::string ofOne = revisionOf(*sluice, "desired");
  const std::string ofOther = revisionOf(*other, "desired");
  // The one that cannot listen serves less than it desires, so the revisions of before are compared.
  const auto changed = [&] {
    const std::vector<std::string> now = served();
    return (now[0] != before[0] ? 1 : 0) + (now[1] != before[1] ? 1 : 0);
  };
  kubectl->apply(routeToBackend("two"));
  const auto hasCanary = [&] {
    return revisionOf(*sluice, "desired") != ofOne && revisionOf(*other, "desired") != ofOther && changed() == 1;
  };
  ASSERT_TRUE(eventually(hasCanary)) << "one of them serves it, and the other one waits\n"
                                     << sluice->process().errors() << "\n"
                                     << other->process().errors();
  controller = std::make_unique<ClusterProcess>(std::vector<std::string>{"controller"}, server->kubeconfig());
  EXPECT_TRUE(eventually([&] { return changed() == 2; })) << controller->process().errors();
  EXPECT_TRUE(answers("/", "two"));
  EXPECT_TRUE(eventually([&] {
    return kubectl->expect({"get", "events.events.k8s.io", "-n", "demo", "-o", "json"}).find("\"CanaryServes\"") !=
           std::string::npos;
  })) << controller->process().errors();
}

}  // namespace
}  // namespace sluice::test
