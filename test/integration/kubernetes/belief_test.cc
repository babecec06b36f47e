// What a controller believes of the replicas of a Gateway: no report in a namespace of others.
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

class KubeBelief : public KubeRevisions {
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

TEST_F(KubeBelief, IsInNoReportFromTheNamespaceOfAnother) {
  const std::string first = awaitRevisionIn("Served");
  forgeReport(first);
  // What follows is reported later than that.
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
  sluice.reset();  // nobody is left that speaks for the Gateway
  EXPECT_TRUE(eventually([&] { return fieldOf(second, kServedByAll) == "0/0"; })) << fieldOf(second, "{.status}");
  EXPECT_EQ(fieldOf(second, "{.status.state}"), "Superseded");
  const std::string log = controller->process().errors();
  EXPECT_THAT(log, HasSubstr("reports of replicas in a namespace do not count"));
}

}  // namespace
}  // namespace sluice::test
