#include "proxy/control/kubernetes/provision/provision_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/control/kubernetes/client/api_rig.h"
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

/// Returns true if there is a plan for a GatewayClass with these settings.
bool isPlannedWith(const std::string& settings) {
  CompiledConfiguration compiled;
  compiled.model = config::loadText(
                       "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec: "
                       "{controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, "
                       "namespace: demo, name: s}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, "
                       "name: s}\ndata: {settings.yaml: '{" +
                       settings + "}'}\n")
                       .model;
  ApiRig rig;
  bool planned = false;
  rig.inTurn([&] {
    const ClusterObjects none(rig.client, {}, [] {});
    planned = planProvision(compiled, none, "example.com/sluice:1", {}).has_value();
  });
  return planned;
}

TEST(ProvisionPlan, IsUnknownWhileTheSettingsAreWrong) {
  EXPECT_TRUE(isPlannedWith("drainTimeout: 60s"));
  EXPECT_FALSE(isPlannedWith("drainTimeout: soon")) << "Pods would end in another time than they should";
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
