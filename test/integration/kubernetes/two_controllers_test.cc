// Tests controllers of one GatewayClass that were installed in two namespaces: one leads, and the other one is a
// standby.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStandsBy = "another controller of the GatewayClass leads";
constexpr const char* kClaimOfClass = R"({.metadata.annotations.leader\.sluice\.dev/sluice-controller})";
constexpr const char* kOwnedBy = R"({.status.conditions[?(@.type=="Accepted")].status})";

class KubeTwoControllers : public KubeSourceTest {
 protected:
  void SetUp() override {
    KubeSourceTest::SetUp();
    if (IsSkipped()) return;
    startServer(InstalledKinds::kGatewayApiAndOurs);
    kubectl->apply(gateway() + "apiVersion: v1\nkind: Namespace\nmetadata: {name: first}\n---\n" +
                   "apiVersion: v1\nkind: Namespace\nmetadata: {name: second}\n---\n" +
                   "apiVersion: v1\nkind: Namespace\nmetadata: {name: tenant}\n");
  }
  /// Returns a kubeconfig of the administrator in that namespace.
  std::string kubeconfigIn(const std::string& nameSpace) const {
    const std::string copy = folder.write(nameSpace, readFile(server->kubeconfig()));
    Kubectl(copy).expect({"config", "set-context", "--current", "--namespace", nameSpace});
    return copy;
  }
  std::unique_ptr<ClusterProcess> controllerIn(const std::string& nameSpace) const {
    return std::make_unique<ClusterProcess>(std::vector<std::string>{"controller"}, kubeconfigIn(nameSpace));
  }
  std::string claim() const { return kubectl->get("gatewayclass", "", "test", kClaimOfClass); }

  const TempDir folder;
};

TEST_F(KubeTwoControllers, AreDistinguishedByTheClaimOfTheClass) {
  // A user who may write Leases in another namespace keeps no controller from leading.
  kubectl->apply(
      "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: tenant, name: sluice-controller}\nspec: "
      "{holderIdentity: forger, leaseDurationSeconds: 100000}\n");
  const auto first = controllerIn("first");
  first->waitUntilItLeads();
  EXPECT_THAT(claim(), HasSubstr(R"("namespace":"first")"));
  const auto second = controllerIn("second");
  ASSERT_TRUE(second->process().waitForLine(kStandsBy)) << second->process().errors();
  EXPECT_TRUE(second->process().waitUntilSaid("first/sluice-controller", 1));
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", kOwnedBy, "True"));
  EXPECT_THAT(second->process().errors(), Not(HasSubstr(ClusterProcess::kLeads)));

  first->stop();
  second->waitUntilItLeads();
  EXPECT_THAT(claim(), HasSubstr(R"("namespace":"second")"));
  const auto again = controllerIn("first");
  ASSERT_TRUE(again->process().waitForLine(kStandsBy)) << again->process().errors();
  EXPECT_THAT(again->process().errors(), Not(HasSubstr(ClusterProcess::kLeads)));
}

TEST_F(KubeTwoControllers, TakeOverFromOneThatIsLost) {
  const auto first = controllerIn("first");
  first->waitUntilItLeads();
  const auto second = controllerIn("second");
  ASSERT_TRUE(second->process().waitForLine(kStandsBy)) << second->process().errors();
  first->kill();
  second->waitUntilItLeads();
  EXPECT_THAT(claim(), HasSubstr(R"("namespace":"second")"));
}

}  // namespace
}  // namespace sluice::test
