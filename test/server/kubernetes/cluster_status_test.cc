// Tests the output of `sluice status --kubernetes` for the objects and Leases of a cluster.
#include "proxy/server/kubernetes/cluster_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "proxy/content/json.h"

namespace sluice::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const base::WallTime kNoon = base::WallTime(std::chrono::hours(24 * 365 * 30 + 12));
constexpr const char* kOurs = "sluice.dev/egress-gateway";
const std::string kGroupPath = "/apis/gateway.networking.k8s.io/v1/";
constexpr const char* kLeasesPath = "/apis/coordination.k8s.io/v1/leases";

content::Value json(const std::string& text) {
  auto parsed = content::parseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *std::move(parsed) : content::Value();
}

std::string condition(const std::string& type, const std::string& status, int generation = 1) {
  return R"({"type":")" + type + R"(","status":")" + status + R"(","reason":"Why","message":"because",)" +
         R"("observedGeneration":)" + std::to_string(generation) + "}";
}

std::string metadata(const std::string& name, int generation = 1) {
  return R"("metadata":{"namespace":"demo","name":")" + name + R"(","generation":)" + std::to_string(generation) + "}";
}

content::Value gatewayOf(const std::string& name, const std::string& conditions,
                         const std::string& className = "egress", int generation = 1) {
  return json("{" + metadata(name, generation) + R"(,"spec":{"gatewayClassName":")" + className +
              R"("},"status":{"addresses":[{"value":"10.0.0.1"},{"value":"10.0.0.2"}],"conditions":[)" + conditions +
              "]}}");
}

/// `parents` are the entries of its status.
content::Value routeTo(const std::string& gateway, const std::string& name, const std::string& parents) {
  return json("{" + metadata(name) + R"(,"spec":{"parentRefs":[{"name":")" + gateway + R"("}]},"status":{"parents":[)" +
              parents + "]}}");
}

std::string parentBy(const std::string& controller, const std::string& status) {
  return R"({"controllerName":")" + controller + R"(","conditions":[)" + condition("Accepted", status) + "]}";
}

kubernetes::ReplicaReport reportOf(const std::string& replica) {
  kubernetes::ReplicaReport report;
  report.replica = replica;
  report.nameSpace = "sluice-system";
  report.replicaOf = "sluice";
  report.desired = report.served = "0123456789ab";
  return report;
}

content::Value leaseOfReport(const kubernetes::ReplicaReport& report, base::WallTime at = kNoon) {
  return json(kubernetes::replicaLease(report, at));
}

/// Lists of a cluster with our GatewayClass.
struct ListedCluster {
  std::vector<content::Value> gateways;
  std::vector<content::Value> routes;
  std::vector<content::Value> leases;
  std::map<std::string, std::vector<content::Value>> others = {};  // by the path of their collection

  ClusterStatus status() const {
    ClusterLists lists;
    lists.server = "https://127.0.0.1:6443";
    const content::Value ours = json(
        R"({"metadata":{"name":"egress","annotations":{"sluice.dev/supported-extension-kinds":"sluice-system/kinds"}},)"
        R"("spec":{"controllerName":"sluice.dev/egress-gateway"}})");
    const content::Value foreign = json(R"({"metadata":{"name":"other"},"spec":{"controllerName":"a.test/b"}})");
    const std::map<std::string, std::vector<content::Value>> core = {{kGroupPath + "gatewayclasses", {foreign, ours}},
                                                                     {kGroupPath + "gateways", gateways},
                                                                     {kGroupPath + "httproutes", routes},
                                                                     {kLeasesPath, leases}};
    for (const ClusterCollection& each : statusCollections()) {
      lists.each.emplace_back();
      for (const auto* known : {&core, &others}) {
        const auto found = known->find(each.paths.front());
        if (found != known->end()) lists.each.back() = found->second;
      }
    }
    return readClusterStatus(std::move(lists), kNoon + std::chrono::seconds(20));
  }
};

TEST(ClusterStatus, AsksForEveryVersionOfItsKindsAndForTheLeasesOfReplicas) {
  const std::vector<ClusterCollection> collections = statusCollections();
  ASSERT_GT(collections.size(), 20U);
  EXPECT_THAT(collections[0].paths, ElementsAre("/apis/gateway.networking.k8s.io/v1/gatewayclasses",
                                                "/apis/gateway.networking.k8s.io/v1beta1/gatewayclasses"));
  EXPECT_THAT(collections[4].paths, ElementsAre("/apis/gateway.networking.k8s.io/v1/grpcroutes"));
  EXPECT_THAT(collections.back().paths, ElementsAre(kLeasesPath));
  EXPECT_EQ(collections.back().selector, "labelSelector=sluice.dev%2Freplica-of");
  for (std::size_t i = 0; i < collections.size(); ++i) {
    EXPECT_EQ(collections[i].optional, i >= 5 && i + 1 < collections.size()) << collections[i].paths.front();
  }
}

TEST(ClusterStatus, IsGoodWhenEveryConditionAndEveryReplicaIs) {
  const ListedCluster cluster = {{gatewayOf("egress", condition("Programmed", "True"))},
                                 {routeTo("egress", "models", parentBy(kOurs, "True"))},
                                 {leaseOfReport(reportOf("a")), leaseOfReport(reportOf("b"))}};
  EXPECT_FALSE(cluster.status().hasFaults());
  EXPECT_EQ(clusterStatusOutput(cluster.status()).text,
            "https://127.0.0.1:6443: all is well\n"
            "\n"
            "GATEWAY       CLASS    ADDRESSES            ROUTES   REPLICAS   STATUS\n"
            "demo/egress   egress   10.0.0.1, 10.0.0.2   1        2 of 2     ok\n"
            "\n"
            "REPLICA           GATEWAY   SERVED         DESIRED        RENEWED                       STATUS\n"
            "sluice-system/a   all       0123456789ab   0123456789ab   1999-12-25T12:00:00.000000Z   ok\n"
            "sluice-system/b   all       0123456789ab   0123456789ab   1999-12-25T12:00:00.000000Z   ok\n"
            "\n"
            "KIND        NAMESPACE   NAME     STATUS\n"
            "HTTPRoute   demo        models   ok\n");
}

TEST(ClusterStatus, PutsFaultsFirst) {
  kubernetes::ReplicaReport bad = reportOf("z");
  bad.gateway = "demo/b";
  bad.desired = "fedcba987654";
  bad.state = control::ConfigState::kRollback;
  bad.problem = "HTTPRoute other/broken: spec: it is wrong";
  bad.problemNamespace = "other";
  bad.failed = {{"HTTPRoute", "demo", "worse", "", "Invalid", "spec.rules"}};
  bad.failedInAll = 3;
  bad.listedInAll = 3;
  const ListedCluster cluster = {
      {gatewayOf("a", condition("Programmed", "True")), gatewayOf("b", condition("Programmed", "False"))},
      {routeTo("a", "good", parentBy(kOurs, "True")), routeTo("b", "worse", parentBy(kOurs, "False"))},
      {leaseOfReport(reportOf("a")), leaseOfReport(bad)}};
  EXPECT_TRUE(cluster.status().hasFaults());
  const std::string text = clusterStatusOutput(cluster.status()).text;
  EXPECT_LT(text.find("demo/b"), text.find("demo/a"));
  EXPECT_LT(text.find("sluice-system/z"), text.find("sluice-system/a"));
  EXPECT_LT(text.find("   worse"), text.find("   good"));
  EXPECT_THAT(text, HasSubstr("there are faults\n"));
  EXPECT_THAT(text, HasSubstr("1 of 2     Programmed False, Why: because\n"));
  EXPECT_THAT(text, HasSubstr("SomeReplicasFailing: 1 of 2 replicas fail: sluice-system/z"));
  EXPECT_THAT(text, HasSubstr("   Rollback\n"));
  EXPECT_THAT(text, HasSubstr("   HTTPRoute other/broken: spec: it is wrong\n"));
  EXPECT_THAT(text, HasSubstr("HTTPRoute demo/worse: Invalid: spec.rules\n"));
  EXPECT_THAT(text, HasSubstr("and 2 more conditions\n"));
}

TEST(ClusterStatus, CountsNoReplicaOfAnotherNamespace) {
  kubernetes::ReplicaReport forged = reportOf("forged");
  forged.nameSpace = "tenant";
  forged.state = control::ConfigState::kRollbackFailed;
  forged.problem = "call 555";
  content::Value unread = leaseOfReport(forged);
  for (content::Member& each : unread.members) {
    if (each.key == "metadata")
      std::erase_if(each.value.members, [](const auto& one) { return one.key == "annotations"; });
  }
  const ListedCluster cluster = {{gatewayOf("egress", condition("Programmed", "True"))},
                                 {},
                                 {leaseOfReport(reportOf("here")), leaseOfReport(forged), unread}};
  const ClusterStatus status = cluster.status();
  EXPECT_FALSE(status.hasFaults()) << clusterStatusOutput(status).text;
  EXPECT_EQ(status.gateways.at(0).fleet.replicas, 1U);
  EXPECT_EQ(status.ignored, 2U);
  EXPECT_THAT(clusterStatusOutput(status).text, HasSubstr("\n2 reports of replicas count for no Gateway\n"));
  EXPECT_THAT(clusterStatusOutput(status).text, testing::Not(HasSubstr("forged")));
}

TEST(ClusterStatus, CountsOnlyPodsOfTheDeploymentOfAGatewayWhosePodsTheControllerKeeps) {
  kubernetes::ReplicaReport beside = reportOf("beside");
  beside.nameSpace = "demo";
  beside.gateway = "demo/egress";
  kubernetes::ReplicaReport pod = beside;
  pod.replica = "egress-egress-5d9c7b8f6-x2x4z";
  pod.podUid = "u-1";
  const std::vector<content::Value> leases = {leaseOfReport(beside), leaseOfReport(pod)};
  const ListedCluster kept = {{gatewayOf("egress", condition("sluice.dev/Provisioned", "True"))}, {}, leases};
  EXPECT_EQ(kept.status().gateways.at(0).fleet.replicas, 1U);
  const ListedCluster own = {{gatewayOf("egress", condition("Programmed", "True"))}, {}, leases};
  EXPECT_EQ(own.status().gateways.at(0).fleet.replicas, 2U);
}

TEST(ClusterStatus, CountsReplicasOfTheirGatewayThatAreThere) {
  kubernetes::ReplicaReport elsewhere = reportOf("elsewhere");
  elsewhere.gateway = "demo/other";
  elsewhere.state = control::ConfigState::kRollbackFailed;
  const ListedCluster cluster = {{gatewayOf("egress", condition("Programmed", "True"))},
                                 {},
                                 {leaseOfReport(reportOf("here")), leaseOfReport(elsewhere),
                                  leaseOfReport(reportOf("old"), kNoon - std::chrono::seconds(11))}};
  const ClusterStatus status = cluster.status();
  ASSERT_EQ(status.gateways.size(), 1U);
  EXPECT_EQ(status.gateways[0].fleet.replicas, 1U);
  EXPECT_THAT(status.gateways[0].faults, IsEmpty());
  ASSERT_EQ(status.replicas.size(), 3U);
  EXPECT_TRUE(status.replicas[0].hasFaults());
  EXPECT_TRUE(status.replicas[2].gone);
  EXPECT_EQ(status.replicas[2].report.replica, "old");
}

TEST(ClusterStatus, SaysWhatNobodyHasLookedAt) {
  const ListedCluster cluster = {{gatewayOf("egress", condition("Programmed", "True", 1), "egress", 2)},
                                 {routeTo("egress", "models", parentBy("a.test/b", "True"))},
                                 {}};
  const ClusterStatus status = cluster.status();
  ASSERT_EQ(status.gateways.size(), 1U);
  EXPECT_THAT(status.gateways[0].faults, ElementsAre("its status is about generation 1, and it has generation 2",
                                                     "NoReplicas: No replica reports."));
  ASSERT_EQ(status.routes.size(), 1U);
  EXPECT_THAT(status.routes[0].faults, ElementsAre("it has no status: no controller has looked at it"));
}

TEST(ClusterStatus, LeavesOutWhatBelongsToOthers) {
  const ListedCluster cluster = {{gatewayOf("foreign", condition("Programmed", "False"), "other")},
                                 {routeTo("foreign", "models", parentBy("a.test/b", "False"))},
                                 {}};
  const ClusterStatus status = cluster.status();
  EXPECT_THAT(status.gateways, IsEmpty());
  EXPECT_THAT(status.routes, IsEmpty());
  EXPECT_TRUE(status.hasFaults());
  EXPECT_THAT(clusterStatusOutput(status).text, HasSubstr("no Gateway has a GatewayClass of sluice\n"));
}

TEST(ClusterStatus, NamesALeaseWhoseReportIsNotUnderstood) {
  const ListedCluster cluster = {
      {},
      {},
      {json(R"({"metadata":{"namespace":"sluice-system","name":"x","annotations":{"sluice.dev/report":"{}"}}})")}};
  EXPECT_THAT(cluster.status().problems,
              ElementsAre("Lease sluice-system/x: state must be InSync, Rollback or RollbackFailed"));
}

TEST(ClusterStatus, ShowsFirstWhereReplicasDiffer) {
  kubernetes::ReplicaReport behind = reportOf("behind");
  behind.served = "fedcba987654";
  behind.state = control::ConfigState::kRollback;
  behind.failed = {{"HTTPRoute", "demo", "web", "", "Invalid", "spec.rules"}};
  behind.failedInAll = 2;
  const ListedCluster cluster = {
      {gatewayOf("egress", condition("Programmed", "True"))},
      {routeTo("egress", "models", parentBy(kOurs, "False")), routeTo("egress", "good", parentBy(kOurs, "True"))},
      {leaseOfReport(reportOf("a")), leaseOfReport(behind), leaseOfReport(reportOf("c"))}};
  const std::string text = clusterStatusOutput(cluster.status()).text;
  EXPECT_THAT(
      text, testing::StartsWith("https://127.0.0.1:6443: there are faults\n"
                                "\n"
                                "1 of 3 replicas differs from the others:\n"
                                "\n"
                                "REPLICA                GATEWAY   FIELD    HAS                           OTHERS HAVE\n"
                                "sluice-system/behind   all       served   fedcba987654                  0123456789ab\n"
                                "                                 state    Rollback                      InSync\n"
                                "                                 failed   HTTPRoute demo/web: Invalid   nothing\n"
                                "                                          and 1 more\n"
                                "\n"
                                "GATEWAY "));
  EXPECT_LT(text.find("HTTPRoute   demo        models"), text.find("RENEWED")) << "what is good comes last";
  EXPECT_GT(text.find("HTTPRoute   demo        good"), text.find("RENEWED"));
}

TEST(ClusterStatus, ShowsObjectsOfAllKindsThatAreNotGood) {
  const auto entry = [](const std::string& key, const std::string& controller, const std::string& status) {
    return "{\"" + key + "\":\"" + controller + R"(","conditions":[)" + condition("Accepted", status) + "]}";
  };
  const auto object = [](const std::string& name, const std::string& list, const std::string& entries) {
    return json("{" + metadata(name) + R"(,"status":{")" + list + "\":[" + entries + "]}}");
  };
  ListedCluster cluster = {{gatewayOf("egress", condition("Programmed", "True"))}, {}, {leaseOfReport(reportOf("a"))}};
  cluster.others["/apis/sluice.dev/v1alpha1/backends"] = {
      object("api", "controllers", entry("name", kOurs, "False")),
      object("good", "controllers", entry("name", kOurs, "True")),
      object("foreign", "controllers", entry("name", "a.test/b", "False"))};
  cluster.others["/apis/sluice.dev/v1alpha1/payloadprocessors"] = {
      object("guard", "ancestors",
             entry("controllerName", kOurs, "False") + "," + entry("controllerName", "a.test/b", "False"))};
  cluster.others["/apis/sluice.dev/v1alpha1/payloadprocessingpipelines"] = {
      object("steps", "conditions", condition("Accepted", "False")), json("{" + metadata("unseen") + "}")};
  cluster.others["/apis/gateway.envoyproxy.io/v1alpha1/backends"] = {
      object("of-envoy", "conditions", condition("Accepted", "False"))};
  const ClusterStatus status = cluster.status();
  EXPECT_TRUE(status.hasFaults());
  EXPECT_THAT(clusterStatusOutput(status).text,
              HasSubstr("\n\nKIND                        NAMESPACE   NAME    STATUS\n"
                        "Backend                     demo        api     Accepted False, Why: because\n"
                        "PayloadProcessingPipeline   demo        steps   Accepted False, Why: because\n"
                        "PayloadProcessor            demo        guard   Accepted False, Why: because\n\nREPLICA "));
  const content::Value document = json(content::outputJson(clusterStatusOutput(status).value));
  EXPECT_EQ(document.find("objects")->items.size(), 3U);
  EXPECT_EQ(document.find("objects")->items.at(0).find("status")->items.size(), 1U) << "only our part";
}

TEST(ClusterStatus, SaysWhichKindsMayNotBeRead) {
  const ListedCluster cluster = {
      {gatewayOf("egress", condition("Programmed", "True"))}, {}, {leaseOfReport(reportOf("a"))}};
  ClusterStatus status = cluster.status();
  status.unread = {"/apis/sluice.dev/v1alpha1/backends", "/apis/sluice.dev/v1alpha1/trafficpolicies"};
  EXPECT_FALSE(status.hasFaults());
  EXPECT_THAT(clusterStatusOutput(status).text,
              HasSubstr("\nthis user may not list 2 kinds: /apis/sluice.dev/v1alpha1/backends and others\n"));
}

TEST(ClusterStatus, IsJsonForPrograms) {
  const ListedCluster cluster = {{gatewayOf("egress", condition("Programmed", "True"))},
                                 {routeTo("egress", "models", parentBy(kOurs, "False"))},
                                 {leaseOfReport(reportOf("a"))}};
  const content::Value document = json(content::outputJson(clusterStatusOutput(cluster.status()).value));
  EXPECT_EQ(document.find("faults")->text, "true");
  EXPECT_EQ(document.find("gateways")->items.at(0).find("replicas")->find("serving")->text, "1");
  EXPECT_EQ(document.find("gateways")->items.at(0).find("status")->find("addresses")->items.size(), 2U);
  EXPECT_EQ(document.find("replicas")->items.at(0).find("served")->text, "0123456789ab");
  EXPECT_EQ(document.find("routes")->items.at(0).find("faults")->items.at(0).text, "Accepted False, Why: because");
  EXPECT_EQ(document.find("routes")->items.at(0).find("parents")->items.size(), 1U);
}

}  // namespace
}  // namespace sluice::server
