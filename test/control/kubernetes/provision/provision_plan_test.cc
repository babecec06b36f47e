#include "proxy/control/kubernetes/provision/provision_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "test/control/kubernetes/fake_api.h"
#include "test/control/kubernetes/provision/gateway_fixture.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;

/// Returns the status that the one Gateway, which was Programmed, gets in a cluster with this GatewayClass of ours.
config::ObjectStatus withServiceAddress(RunGateway gateway, const std::string& ourClass = "sluice") {
  gateway.configuration.model.gatewayClassName = ourClass;
  config::ObjectStatus status;
  status.group = config::kGatewayGroup;
  status.kind = "Gateway";
  status.nameSpace = "demo";
  status.name = "egress";
  status.shape = config::StatusShape::kGateway;
  status.conditions.push_back({"Programmed", config::ConditionStatus::kTrue, "Programmed", "", 3});
  return withServiceAddresses(config::StatusList{status}, gateway.configuration.model)[0];
}

/// Returns the kinds of what is planned for one Gateway of a GatewayClass with these settings.
std::vector<std::string> plannedWith(const std::string& settings, bool& leftAlone) {
  const std::string gatewayClass =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec: {controllerName: "
      "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: demo, name: s}}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: s}\ndata: {settings.yaml: '{" +
      settings + "}'}\n---\n";
  const std::string gateway =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec: "
      "{gatewayClassName: sluice, listeners: [{name: a, port: 80, protocol: HTTP}]}\n";
  CompiledConfiguration compiled;
  compiled.model = config::loadText(gatewayClass + gateway).model;
  compiled.model.controllerNamespace = "sluice-system";
  ApiRig rig;
  FakeApi api(rig);
  api.put("/apis/gateway.networking.k8s.io/v1/gatewayclasses", "", "sluice",
          R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
  api.put("/apis/gateway.networking.k8s.io/v1/gateways", "demo", "egress", R"("spec":{"gatewayClassName":"sluice"})",
          R"("uid":"u-1")");
  std::optional<ClusterObjects> objects;
  rig.inTurn([&] {
    objects.emplace(rig.client, ClusterScope(), [] {});
    objects->start();
  });
  api.serve();
  std::vector<std::string> kinds;
  const auto plan = planProvision(compiled, *objects, "example.com/sluice:1", {});
  EXPECT_TRUE(plan);
  if (plan) {
    leftAlone = plan->leftAlone.contains({"demo", "egress"}) || plan->podsLeftAlone.contains({"demo", "egress"});
    for (const ProvisionedObject& each : plan->objects) {
      if (!each.onlyIfThere) kinds.emplace_back(each.kind->kind);
      EXPECT_TRUE(!leftAlone || isAccess(*each.kind)) << "what Pods may read is kept also while they are left alone";
    }
  }
  rig.inTurn([&] { objects.reset(); });
  return kinds;
}

TEST(ProvisionPlan, LeavesPodsAsTheyAreWhileTheSettingsAreWrong) {
  bool leftAlone = false;
  EXPECT_THAT(plannedWith("drainTimeout: 60s", leftAlone), testing::Contains("Deployment"));
  EXPECT_FALSE(leftAlone);
  EXPECT_THAT(plannedWith("drainTimeout: soon", leftAlone), testing::IsEmpty());
  EXPECT_TRUE(leftAlone) << "they would end in another time than they should";
}

TEST(ProvisionPlan, MakesNothingOfAGatewayThatHasChosenWhatItsClassForbids) {
  bool leftAlone = false;
  EXPECT_THAT(plannedWith("provisioning: {namespaces: [other]}", leftAlone), testing::IsEmpty());
  EXPECT_TRUE(leftAlone) << "Pods that run stay as they are";
  EXPECT_THAT(plannedWith("provisioning: {namespaces: [demo]}", leftAlone), testing::Contains("Deployment"));
}

TEST(ProvisionPlan, HasTheAccountBeforeWhatGivesItRights) {
  bool leftAlone = false;
  const std::vector<std::string> kinds = plannedWith("", leftAlone);
  ASSERT_FALSE(kinds.empty());
  EXPECT_EQ(kinds.front(), "ServiceAccount");
}

TEST(ProvisionPlan, GivesAGatewayTheNameOfItsService) {
  const config::ObjectStatus status = withServiceAddress(RunGateway(kListenersOfTwoPorts));
  ASSERT_EQ(status.addresses.size(), 1U);
  EXPECT_EQ(status.addresses[0].type, "Hostname");
  EXPECT_EQ(status.addresses[0].value, "egress-sluice.demo.svc");
  EXPECT_EQ(status.conditions[0].status, config::ConditionStatus::kTrue);
}

TEST(ProvisionPlan, GivesAGatewayNoAddressOfItsOwnChoice) {
  const std::string listeners = kListenersOfTwoPorts;
  const config::ObjectStatus status =
      withServiceAddress(RunGateway(listeners + ", addresses: [{type: IPAddress, value: 10.0.0.9}]"));
  EXPECT_TRUE(status.addresses.empty());
  const config::Condition& programmed = status.conditions.at(0);
  EXPECT_EQ(programmed.status, config::ConditionStatus::kFalse);
  EXPECT_EQ(programmed.reason, "AddressNotUsable");
  EXPECT_THAT(programmed.message,
              HasSubstr("spec.addresses[0]: the Pods of a Gateway have the address of its Service"));
  EXPECT_EQ(programmed.observedGeneration, 3);
  EXPECT_EQ(withServiceAddress(RunGateway(listeners + ", addresses: [{type: IPAddress}]")).addresses.size(), 1U)
      << "it leaves the choice to the gateway";
}

TEST(ProvisionPlan, LeavesGatewaysOfOtherClassesAlone) {
  EXPECT_TRUE(withServiceAddress(RunGateway(kListenersOfTwoPorts), "another").addresses.empty());
}

}  // namespace
}  // namespace sluice::control
