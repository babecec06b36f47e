// Tests the writes of `sluice controller` to a real API server: the conditions that `sluice validate` prints, only when
// they change, and beside the entries of other writers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/controller_fixture.h"
#include "test/integration/support/wall_clock.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Controllers : public ControllerTest {};

/// Returns the versions of all objects but the GatewayClass, to which every new leader writes.
std::map<std::string, std::string> versionsBesideTheClass(const Kubectl& kubectl) {
  auto versions = versionsAt(kubectl);
  std::erase_if(versions, [](const auto& each) { return each.first.starts_with("GatewayClass."); });
  return versions;
}

/// Returns how often the server has accepted each write. The leader's record, the catalog's annotation and the status
/// of the GatewayClass are written at the same time, and the server refuses a write that names an older version.
std::map<std::string, int> acceptedWrites(const FaultProxy& proxy) {
  std::map<std::string, int> times;
  for (const ProxiedExchange& each : proxy.exchanges()) {
    const std::string request = each.head.substr(0, each.head.find(" HTTP/1.1\r\n"));
    if (!isCountedWrite(request)) continue;
    if (each.answer.starts_with("HTTP/1.1 409 ")) {
      EXPECT_THAT(request, HasSubstr("/gatewayclasses/sluice/status"));
    } else {
      ++times[request];
    }
  }
  return times;
}

TEST_F(Controllers, WriteTheConditionsOfTheFileSourceOnceAndOnlyWhatChanges) {
  applyAll();
  std::vector<std::string> texts = {readFile(kClusterObjects)};
  for (const char* file : {"/backend-tls.yaml", "/payloadprocessors.yaml", "/payloadprocessingpipelines.yaml"}) {
    texts.push_back(readFile(kValidObjects + file));
    kubectl->apply(texts.back());
  }
  FaultProxy proxy(*server);
  {
    ClusterProcess controller({"controller"}, proxy.kubeconfig());
    controller.waitUntilItLeads();
    expectStatusesOf(texts);
    letItRest(proxy);
    const auto versions = versionsAt(*kubectl);
    const std::map<std::string, int> times = acceptedWrites(proxy);
    for (const auto& [write, count] : times) EXPECT_EQ(count, 1) << write;
    EXPECT_EQ(times.size(), versions.size() + 2) << "one for each object, and two for the catalog";

    // One route changes, and nothing else.
    std::size_t from = proxy.requests().size();
    kubectl->expect(
        {"patch", "httproute", "web", "-n", "demo", "--type=merge", "-p",
         R"({"spec":{"rules":[{"backendRefs":[{"group":"sluice.dev","kind":"Backend","name":"nowhere"}]}]}})"});
    EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "web",
                                 "{.status.parents[0].conditions[?(@.type==\"ResolvedRefs\")].reason}",
                                 "BackendNotFound"));
    letItRest(proxy);
    EXPECT_THAT(writesIn(proxy, from),
                ElementsAre("PATCH " + kGatewayApiPath + "/namespaces/demo/httproutes/web/status"));
    EXPECT_EQ(kubectl->get("httproute", "demo", "web", "{.status.parents[0].conditions[0].observedGeneration}"), "2");

    // A route that comes is counted by its Gateway.
    from = proxy.requests().size();
    kubectl->apply(routeTo("further", "egress", "origin"));
    EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "further", kAcceptedHere, "True"));
    letItRest(proxy);
    EXPECT_THAT(writesIn(proxy, from),
                testing::UnorderedElementsAre("PATCH " + kGatewayApiPath + "/namespaces/demo/httproutes/further/status",
                                              "PATCH " + kGatewayApiPath + "/namespaces/demo/gateways/egress/status"));

    // Labels are not part of a status.
    from = proxy.requests().size();
    kubectl->expect({"label", "httproutes,gateways", "--all", "-n", "demo", "colour=blue"});
    letItRest(proxy);
    EXPECT_THAT(writesIn(proxy, from), IsEmpty());
  }
  const auto versions = versionsBesideTheClass(*kubectl);
  const std::size_t from = proxy.requests().size();
  ClusterProcess again({"controller"}, proxy.kubeconfig());
  again.waitUntilItLeads();
  letItRest(proxy);
  EXPECT_EQ(versionsBesideTheClass(*kubectl), versions);
  for (const std::string& write : writesIn(proxy, from)) EXPECT_THAT(write, HasSubstr("fieldManager=sluice-catalog"));
}

// --- beside other writers --------------------------------------------------------------------------------------------

/// Returns a patch of a route's status with these parents.
std::string parentsPatch(const std::string& parents) { return "{\"status\":{\"parents\":[" + parents + "]}}"; }

constexpr const char* kOthersParent =
    R"({"parentRef":{"name":"theirs"},"controllerName":"example.com/other","conditions":[{"type":"Accepted",)"
    R"("status":"True","reason":"Accepted","message":"","lastTransitionTime":"2026-01-31T23:59:59Z"}]})";
constexpr const char* kOthersConditions =
    R"({"status":{"conditions":[{"type":"example.com/Cost","status":"True","reason":"Low","message":"",)"
    R"("lastTransitionTime":"2026-01-31T23:59:59Z"}]}})";

TEST_F(Controllers, LeaveTheEntriesOfOthersAloneAndRemoveTheirOwnStaleOnes) {
  applyAll();
  const auto patchStatus = [&](const std::string& kind, const std::string& name, const std::string& patch) {
    kubectl->expect({"patch", kind, name, "-n", "demo", "--subresource=status", "--type=merge", "-p", patch});
  };
  const std::string others = "{.status.parents[?(@.controllerName==\"example.com/other\")]}";
  const std::string ours = "{.status.parents[?(@.controllerName==\"sluice.dev/egress-gateway\")].parentRef.name}";
  kubectl->apply(routeTo("moving", "egress", "origin"));
  patchStatus("httproute", "moving", parentsPatch(kOthersParent));
  patchStatus("gateway", "egress", kOthersConditions);
  const std::string before = kubectl->get("httproute", "demo", "moving", others);
  ClusterProcess controller({"controller"}, server->kubeconfig());
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "moving", ours, "egress"));
  EXPECT_EQ(kubectl->get("httproute", "demo", "moving", others), before);
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress",
                               "{.status.conditions[?(@.type==\"Accepted\")].observedGeneration}", "1"));
  EXPECT_EQ(kubectl->get("gateway", "demo", "egress", "{.status.conditions[?(@.type==\"example.com/Cost\")].reason}"),
            "Low");

  // The route moves to the Gateway of another controller.
  kubectl->apply(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: theirs}\n"
      "spec: {gatewayClassName: theirs, listeners: [{name: http, protocol: HTTP, port: 80}]}\n");
  kubectl->apply(routeTo("moving", "theirs", "origin"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "moving", ours, ""));
  EXPECT_EQ(kubectl->get("httproute", "demo", "moving", others), before);

  // The route is attached to both: the controller writes an entry for its own Gateway only.
  kubectl->expect({"patch", "httproute", "moving", "-n", "demo", "--type=merge", "-p",
                   R"({"spec":{"parentRefs":[{"name":"theirs"},{"name":"egress"}]}})"});
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "moving", ours, "egress"));
  EXPECT_EQ(kubectl->get("httproute", "demo", "moving", others), before);

  // Everything of ours goes.
  kubectl->expect({"delete", "gateways", "egress", "bad", "-n", "demo"});
  EXPECT_TRUE(kubectl->waitFor("payloadprocessors.sluice.dev", "demo", "model-router",
                               "{.status.ancestors[0].conditions[?(@.type==\"Accepted\")].reason}", "TargetNotFound"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "moving", ours, ""));
  EXPECT_EQ(kubectl->get("httproute", "demo", "moving", others), before);
}

TEST_F(Controllers, EndInTheRightStateWhileOthersWriteTheSameObjects) {
  applyAll();
  ClusterProcess controller({"controller"}, server->kubeconfig());
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "experimental", kAcceptedHere, "True"));
  const TempDir folder;
  std::string storm;
  for (int i = 0; i < 200; ++i) {
    // Labels, foreign entries of the status, and the spec, in turn: each is a new version of the object.
    const std::string host = "h" + std::to_string(i) + ".example.com";
    storm +=
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: web, "
        "labels: {turn: t" +
        std::to_string(i) + "}}\nspec:\n  parentRefs: [{name: egress, sectionName: http}]\n  hostnames: [" + host +
        "]\n  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: " + (i % 2 == 0 ? "nowhere" : "origin") +
        "}]}]\n";
  }
  kubectl->apply(storm);
  const std::string resolved = "{.status.parents[0].conditions[?(@.type==\"ResolvedRefs\")].status}";
  const std::string generation = kubectl->get("httproute", "demo", "web", "{.metadata.generation}");
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "web",
                               "{.status.parents[0].conditions[?(@.type==\"ResolvedRefs\")].observedGeneration}",
                               generation));
  EXPECT_EQ(kubectl->get("httproute", "demo", "web", resolved), "True");
  EXPECT_EQ(controller.process().said("a status cannot be written"), 0u)
      << controller.process().output() << controller.process().errors();
}

TEST_F(Controllers, WriteOnceWhatTheSchemaOfAnOlderDefinitionDrops) {
  startOwnServer();
  // A CRD whose status keeps no messages, and lacks the parts of a Gateway's listeners.
  kubectl->expect({"patch", "crd", "payloadprocessingpipelines.sluice.dev", "--type=json", "-p",
                   R"([{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/status",)"
                   R"("value":{"type":"object","properties":{"phase":{"type":"string"}}}}])"});
  applyAll();
  // The server may use the earlier schema for a while after it has stored the new one.
  EXPECT_TRUE(eventually([&] {
    return kubectl
        ->expect({"patch", "payloadprocessingpipelines.sluice.dev", "tidy", "-n", "demo", "--dry-run=server",
                  "--subresource=status", "--type=merge", "-p", R"({"status":{"ancestors":[]}})", "-o",
                  "jsonpath={.status.ancestors}"})
        .empty();
  }));
  FaultProxy proxy(*server);
  ClusterProcess controller({"controller"}, proxy.kubeconfig());
  controller.waitUntilItLeads();
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "experimental", kAcceptedHere, "True"));
  EXPECT_TRUE(controller.process().waitUntilSaid("does not keep what is written", 1));
  letItRest(proxy);
  kubectl->expect({"label", "payloadprocessingpipelines.sluice.dev", "--all", "-n", "demo", "colour=blue"});
  letItRest(proxy);
  const std::vector<std::string> writes = writesIn(proxy);
  for (const char* name : {"tidy", "without-secret"}) {
    const std::string path =
        "PATCH /apis/sluice.dev/v1alpha1/namespaces/demo/payloadprocessingpipelines/" + std::string(name) + "/status";
    EXPECT_EQ(std::count(writes.begin(), writes.end(), path), 1) << name;
  }
  EXPECT_TRUE(controller.process().waitUntilSaid("does not keep what is written", 1));
  EXPECT_EQ(controller.process().said("does not keep what is written"), 1u);
}

// --- the catalog -----------------------------------------------------------------------------------------------------

TEST_F(Controllers, ReportWhenTheDefinitionsBecomeThoseOfAnotherVersion) {
  startOwnServer();
  applyAll();
  ClusterProcess controller({"controller"}, server->kubeconfig());
  const auto supported = [&](const std::string& status) {
    return kubectl->waitFor("gatewayclass", "", "sluice",
                            R"({.status.conditions[?(@.type=="SupportedVersion")].status})", status);
  };
  EXPECT_TRUE(supported("True"));
  kubectl->expect({"annotate", "crd", "gatewayclasses.gateway.networking.k8s.io", "--overwrite",
                   "gateway.networking.k8s.io/bundle-version=v1.9.0"});
  EXPECT_TRUE(supported("False")) << controller.process().errors();
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "experimental", kAcceptedHere, "True"));
}

/// Returns the settings that name a catalog, and the catalog, which bounds HeaderModifier to these phases.
std::string catalogOfPhases(const std::string& phases) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: settings}\ndata:\n  settings.yaml: |\n"
         "    addressGuard: {allow: [127.0.0.0/8]}\n    processorCatalogs: [{namespace: demo, name: types}]\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: types}\ndata:\n  edit.yaml: |\n"
         "    {type: 'sluice.dev/HeaderModifier:v1', engine: builtin, phases: [" +
         phases + "]}\n";
}

TEST_F(Controllers, PublishTheCatalogAndWhatChangesInIt) {
  applyAll();
  FaultProxy proxy(*server);
  ClusterProcess controller({"controller"}, proxy.kubeconfig());
  const std::string annotation = "{.metadata.annotations.sluice\\.dev/supported-extension-kinds}";
  EXPECT_TRUE(eventually([&] { return !kubectl->get("gatewayclass", "", "sluice", annotation).empty(); }))
      << kubectl->expect({"get", "gatewayclass", "sluice", "-o", "yaml"});
  const std::string name = kubectl->get("gatewayclass", "", "sluice", annotation);
  ASSERT_THAT(name, HasSubstr("/"));
  const std::string nameSpace = name.substr(0, name.find('/'));
  const std::string map = name.substr(name.find('/') + 1);
  EXPECT_THAT(kubectl->get("configmap", nameSpace, map, "{.data}"), HasSubstr("sluice.dev_BodyRouter_v1.schema.json"));
  const auto published = [&](const std::string& key) {
    return kubectl->get("configmap", nameSpace, map, "{.data." + key + "}");
  };
  // Returns true once the list has the type with these phases.
  const auto hasPhases = [&](const std::string& phases) {
    return eventually([&] {
      const std::string list = published("supportedExtensionKinds\\.json");
      const std::size_t at = list.find("\"kind\":\"HeaderModifier\"");
      return at != std::string::npos && list.substr(at, list.find('}', list.find(']', list.find("phases", at))) - at)
                                            .ends_with("\"phases\":[" + phases + "]");
    });
  };
  EXPECT_TRUE(hasPhases(R"("request-headers","backend-request","backend-response","response-headers")"));

  // The list follows the catalog: an entry that comes, that changes, and that nobody can read.
  kubectl->apply(catalogOfPhases("response-headers"));
  EXPECT_TRUE(hasPhases("\"response-headers\"")) << controller.process().errors();
  kubectl->apply(catalogOfPhases("request-headers, response-headers"));
  EXPECT_TRUE(hasPhases(R"("request-headers","response-headers")"));
  EXPECT_THAT(published("types"), HasSubstr("sluice.dev/HeaderModifier:v1\n"));
  kubectl->apply(catalogOfPhases("nonsense"));
  EXPECT_TRUE(eventually([&] { return published("types").find("HeaderModifier") == std::string::npos; }));
  EXPECT_THAT(published("types"), HasSubstr("sluice.dev/BodyRouter:v1\n"));
  EXPECT_EQ(kubectl->get("gatewayclass", "", "sluice", annotation), name);

  // A class that is deleted does not come back.
  kubectl->expect({"delete", "gatewayclass", "sluice"});
  letItRest(proxy);
  EXPECT_EQ(kubectl->get("gatewayclass", "", "sluice", "{.metadata.name}"), "");
  EXPECT_EQ(controller.process().said("cannot be published"), 0u);
}

// --- leadership ---------------------------------------------------------------------------------------------------

class ControllersWithRoles : public ControllerTest {
 protected:
  void startServer() override {
    startOwnServer({"--authorization-mode", "RBAC", "--token-auth-file",
                    folder.write("tokens", "secret,system:serviceaccount:default:controller,1\n")});
  }
  /// Permits everything but writing these statuses.
  void permit(const std::string& statuses) const {
    kubectl->apply(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: controller}\nrules:\n"
        "  - {apiGroups: [\"*\"], resources: [\"*\"], verbs: [get, list, watch]}\n"
        "  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, patch]}\n"
        "  - {apiGroups: [\"*\"], resources: [configmaps, gatewayclasses], verbs: [create, patch]}\n"
        "  - {apiGroups: [\"*\"], resources: [" +
        statuses +
        "], verbs: [patch]}\n---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: controller}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: controller}\n"
        "subjects: [{kind: ServiceAccount, namespace: default, name: controller}]\n");
  }
  const TempDir folder;
};

TEST_F(ControllersWithRoles, WriteOtherKindsWhileOneIsForbiddenAndThatOnceItIsPermitted) {
  const std::string others =
      "gatewayclasses/status, gateways/status, grpcroutes/status, xbackends/status, backends/status, "
      "payloadprocessors/status, payloadprocessingpipelines/status, backendtlspolicies/status";
  permit(others);
  applyAll();
  for (int i = 0; i < 40; ++i) kubectl->apply(routeTo("more-" + std::to_string(i), "egress", "origin"));
  const std::string kubeconfig =
      folder.write("kubeconfig", kubeconfigOf(server->url(), server->dataFolder() + "/ca.crt", "{token: secret}"));
  ClusterProcess controller({"controller"}, kubeconfig);
  EXPECT_TRUE(controller.process().waitUntilSaid("a status cannot be written", 1));
  EXPECT_TRUE(kubectl->waitFor("grpcroute", "demo", "calls", kAcceptedHere, "True"));
  EXPECT_TRUE(kubectl->waitFor("payloadprocessingpipelines.sluice.dev", "demo", "tidy",
                               "{.status.conditions[?(@.type==\"Accepted\")].status}", "True"));
  EXPECT_EQ(kubectl->get("httproute", "demo", "web", "{.status.parents}"), "");
  EXPECT_EQ(controller.process().said("a status cannot be written"), 1u)
      << controller.process().output() << controller.process().errors();
  permit(others + ", httproutes/status");
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "web", kAcceptedHere, "True"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "more-39", kAcceptedHere, "True"));
}

TEST_F(ControllersWithRoles, SayThatTheLeaseIsForbidden) {
  const std::string kubeconfig =
      folder.write("kubeconfig", kubeconfigOf(server->url(), server->dataFolder() + "/ca.crt", "{token: secret}"));
  ClusterProcess controller({"controller"}, kubeconfig);
  EXPECT_TRUE(controller.process().waitUntilSaid("the Lease can be neither taken nor renewed", 1));
}

// --- several controllers ---------------------------------------------------------------------------------------------

constexpr const char* kLease = "sluice-controller";

TEST_F(Controllers, OfSeveralOneWritesAndTheNextTakesOverAtOnceWhenItStops) {
  applyAll();
  auto first = std::make_unique<ClusterProcess>(std::vector<std::string>{"controller"}, server->kubeconfig());
  first->waitUntilItLeads();
  FaultProxy proxy(*server);
  ClusterProcess second({"controller"}, proxy.kubeconfig());
  EXPECT_TRUE(proxy.waitForRequests("/leases/sluice-controller", 2));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "experimental", kAcceptedHere, "True"));
  EXPECT_THAT(writesIn(proxy), IsEmpty());
  EXPECT_EQ(renewals(proxy), 0u);
  first->stop();
  EXPECT_EQ(first->process().said(ClusterProcess::kLeadsNoMore), 1u);
  EXPECT_TRUE(second.process().waitForLine(ClusterProcess::kLeads, std::chrono::seconds(10)).has_value())
      << "a Lease that is given back is taken before it would have ended";
  kubectl->apply(routeTo("further", "egress", "origin"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "further", kAcceptedHere, "True"));
  EXPECT_EQ(kubectl->get("lease", "default", kLease, "{.spec.leaseTransitions}"), "1");
}

TEST_F(Controllers, OfOneGatewayWriteItsStatusAndThatOfItsRoutes) {
  applyAll();
  ClusterProcess controller({"controller", "--gateway", "demo/egress"}, server->kubeconfig());
  controller.waitUntilItLeads();
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "experimental", kAcceptedHere, "True"))
      << controller.process().errors();
}

TEST_F(Controllers, OfTwoInDisputeNeverBothWrite) {
  applyAll();
  FaultProxy firstProxy(*server);
  FaultProxy secondProxy(*server);
  ClusterProcess first({"controller"}, firstProxy.kubeconfig());
  first.waitUntilItLeads();
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "experimental", kAcceptedHere, "True"));
  ClusterProcess second({"controller"}, secondProxy.kubeconfig());
  EXPECT_TRUE(secondProxy.waitForRequests("/leases/sluice-controller", 2));

  // The leader is cut off, and stops to lead by its own clock before the other one may begin.
  firstProxy.stall();
  EXPECT_TRUE(first.process().waitUntilSaid(ClusterProcess::kLeadsNoMore, 1));
  EXPECT_EQ(second.process().said(ClusterProcess::kLeads), 0u);
  EXPECT_THAT(writesIn(secondProxy), IsEmpty());
  second.waitUntilItLeads();
  const std::size_t from = firstProxy.requests().size();
  firstProxy.resume();
  kubectl->apply(routeTo("further", "egress", "origin"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "further", kAcceptedHere, "True"));
  letItRest(secondProxy);
  EXPECT_THAT(writesIn(firstProxy, from), IsEmpty());
  EXPECT_EQ(first.process().said(ClusterProcess::kLeads), 1u);
  EXPECT_EQ(kubectl->get("lease", "default", kLease, "{.spec.leaseTransitions}"), "1");

  // The new leader ends without giving the Lease back, and the other one leads again within the Lease's time.
  second.kill();
  EXPECT_TRUE(first.process().waitUntilSaid(ClusterProcess::kLeads, 2));
  kubectl->expect({"delete", "gateway", "egress", "-n", "demo"});
  EXPECT_TRUE(kubectl->waitFor("payloadprocessors.sluice.dev", "demo", "model-router",
                               "{.status.ancestors[0].conditions[?(@.type==\"Accepted\")].reason}", "TargetNotFound"));
}

TEST_F(Controllers, AClockThatIsAheadTakesNoLeaseFromAnotherController) {
  applyAll();
  ClusterProcess first({"controller"}, server->kubeconfig());
  first.waitUntilItLeads();
  FaultProxy proxy(*server);
  WallClock clock;
  clock.setOff(std::chrono::hours(1));
  ClusterProcess ahead({"controller"}, proxy.kubeconfig(), clock.startedBy());
  EXPECT_TRUE(proxy.waitForRequests("/leases/sluice-controller", 3));
  EXPECT_EQ(ahead.process().said(ClusterProcess::kLeads), 0u);
  EXPECT_EQ(renewals(proxy), 0u);
  EXPECT_EQ(kubectl->get("lease", "default", kLease, "{.spec.leaseTransitions}"), "0");
}

}  // namespace
}  // namespace sluice::test
