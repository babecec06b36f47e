// Tests that a controller and the replicas of a Gateway trust neither reports of replicas in namespaces of others, nor
// EgressRevisions that another client has made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/revisions_fixture.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kServedByAll = "{.status.served}";
constexpr const char* kRouteConditions = "{.status.parents[0].conditions}";

class KubeTrust : public KubeRevisions {
 protected:
  /// Writes a Lease in namespace tenant: a replica that is none of demo/egress, and refuses this revision of it.
  void forgeReport(const std::string& revision) const {
    kubectl->apply(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: tenant}\n---\n"
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  namespace: tenant\n  name: sluice-replica-pod\n"
        "  labels: {sluice.dev/replica-of: demo.egress}\n  annotations:\n    sluice.dev/report: "
        "'{\"replica\":\"pod\",\"replicaOf\":\"demo.egress\",\"gateway\":\"demo/egress\",\"state\":\"Rollback\","
        "\"desired\":\"x\",\"served\":\"y\",\"problem\":\"call 555\",\"objects\":{\"desired\":\"" +
        revision.substr(revision.rfind('-') + 1) +
        "\",\"served\":\"y\",\"refused\":true},\"failedInAll\":1,\"failed\":[{\"kind\":\"HTTPRoute\",\"namespace\":"
        "\"demo\",\"name\":\"all\",\"revision\":\"r\",\"reason\":\"Invalid\",\"message\":\"call 555\"}]}'\n"
        "spec: {holderIdentity: pod, leaseDurationSeconds: 600}\n");
  }
};

TEST_F(KubeTrust, IsNotGivenToReportsFromTheNamespaceOfAnother) {
  const std::string first = awaitRevisionIn("Served");
  forgeReport(first);
  // The reports below are later than this one.
  kubectl->apply(routeToBackend("two"));
  ASSERT_TRUE(answers("/", "two"));
  ASSERT_EQ(awaitRevisionIn("Superseded"), first);
  const std::string second = awaitRevisionIn("Served");
  EXPECT_EQ(fieldOf(second, kServedByAll), "1/1");
  EXPECT_EQ(fieldOf(first, kServedByAll), "0/1");
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "all",
                               R"({.status.parents[0].conditions[?(@.type=="sluice.dev/Programmed")].status})", "True"))
      << kubectl->get("httproute", "demo", "all", kRouteConditions);
  EXPECT_THAT(kubectl->get("httproute", "demo", "all", kRouteConditions), Not(HasSubstr("555")));
  EXPECT_THAT(kubectl->get("gateway", "demo", "egress", "{.status.conditions}"), Not(HasSubstr("555")));

  forgeReport(second);
  sluice.reset();  // no replica is left that reports for the Gateway
  EXPECT_TRUE(eventually([&] { return fieldOf(second, kServedByAll) == "0/0"; })) << fieldOf(second, "{.status}");
  EXPECT_EQ(fieldOf(second, "{.status.state}"), "Superseded");
  EXPECT_TRUE(controller->process().waitUntilSaid("reports of replicas in a namespace are ignored", 1));
}

TEST_F(KubeTrust, IsNotGivenToAnEgressRevisionWithoutAStatus) {
  const std::string first = awaitRevisionIn("Served");
  const std::string data = fieldOf(first, "{.spec.data}");
  const auto forged = [&](const std::string& name, const std::string& more) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: EgressRevision\nmetadata: {namespace: demo, name: " + name +
           "}\nspec: {revision: 'abcdef012345', gatewayRef: {group: gateway.networking.k8s.io, kind: Gateway, name: "
           "egress}, data: '" +
           data + "'" + more + "}\nstatus: {state: Served, served: 1/1, secrets: [{namespace: demo, name: s}]}\n";
  };
  const TempDir folder;
  const std::string active = folder.write("active.yaml", forged("egress-abcdef012345", ", active: true"));
  EXPECT_THAT(kubectl->run({"create", "-f", active}).errors, HasSubstr("active is set once the object is there"));
  for (const char* name : {"egress-abcdef012345", "of-another-name"}) {
    kubectl->expect({"create", "-f", folder.write("forged.yaml", forged(name, ""))});
    kubectl->expect(
        {"patch", "egressrevision", name, "--namespace", "demo", "--type=merge", "-p", R"({"spec":{"active":true}})"});
    EXPECT_EQ(fieldOf(name, "{.status}"), "") << "who creates an object writes no status";
  }
  // Were one of them active, no change would be served.
  kubectl->apply(routeToBackend("two"));
  EXPECT_TRUE(answers("/", "two"));
  EXPECT_EQ(awaitRevisionIn("Superseded"), first);
  EXPECT_EQ(kubectl->get("gateway", "demo", "egress", kRolledBackStatus), "");
  EXPECT_EQ(fieldOf("egress-abcdef012345", "{.status}"), "") << "no replica has reported it";
  sluice.reset();
  startGateway({"--gateway", "demo/egress"});
  EXPECT_TRUE(answers("/", "two")) << "a process that starts serves none of them either";
}

}  // namespace
}  // namespace sluice::test
