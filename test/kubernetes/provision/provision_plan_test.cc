#include "proxy/kubernetes/provision/provision_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/kubernetes/fake_api.h"
#include "test/kubernetes/provision/gateway_fixture.h"

namespace sluice::kubernetes {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

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

const char* const kLegibleGateway = "{gatewayClassName: sluice, listeners: [{name: a, port: 80, protocol: HTTP}]}";

/// Calls `use` with the objects of an API server that has the GatewayClass and the Gateway.
template <typename Use>
void withObjects(const Use& use) {
  ApiRig rig;
  FakeApi api(rig);
  api.put("/apis/gateway.networking.k8s.io/v1/gatewayclasses", "", "sluice",
          R"("spec":{"controllerName":"sluice.dev/egress-gateway"})");
  api.put("/apis/gateway.networking.k8s.io/v1/gateways", "demo", "egress", R"("spec":{"gatewayClassName":"sluice"})",
          R"("uid":"u-1")");
  std::optional<ClusterObjects> objects;
  rig.inTurn([&] {
    objects.emplace(rig.client, ClusterScope());
    objects->start();
  });
  api.serve();
  use(*objects);
  rig.inTurn([&] { objects.reset(); });
}

/// Returns the plan for one Gateway with that spec, of a GatewayClass with these settings.
ProvisionPlan planWith(const std::string& settings, const std::string& spec = kLegibleGateway) {
  const std::string gatewayClass =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec: {controllerName: "
      "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: demo, name: s}}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: s}\ndata: {settings.yaml: '{" +
      settings + "}'}\n---\n";
  const std::string key =
      "apiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: key}\nstringData: {key: "
      "0123456789abcdef0123456789abcdef}\n---\n";
  const std::string gateway =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec: " +
      spec + "\n";
  control::CompiledConfiguration compiled;
  compiled.model = config::loadText(gatewayClass + key + gateway).model;
  compiled.model.controllerNamespace = "sluice-system";
  NamesOfGateways names;
  names.own[{"Gateway", "demo", "egress"}].secrets = {{"vault", "key"}};
  std::optional<ProvisionPlan> plan;
  withObjects([&](const ClusterObjects& objects) {
    plan = planProvision(compiled, objects, "example.com/sluice:1", names, "u-role");
  });
  EXPECT_TRUE(plan);
  return plan.value_or(ProvisionPlan());
}

/// Returns the kinds of the planned objects.
std::vector<const ProvisionedKind*> madeOf(const ProvisionPlan& plan) {
  std::vector<const ProvisionedKind*> kinds;
  for (const ProvisionedObject& each : plan.objects) {
    if (!each.onlyIfThere) kinds.push_back(each.kind);
  }
  return kinds;
}

/// Returns the paths of the objects of access that are kept if they are there.
std::vector<std::string> accessKeptBy(const ProvisionPlan& plan) {
  std::vector<std::string> paths;
  for (const ProvisionedObject& each : plan.objects) {
    EXPECT_TRUE(isAccess(*each.kind)) << each.path();
    if (each.onlyIfThere && each.kind == &provisioned::kRole) paths.push_back(each.nameSpace + "/" + each.name);
  }
  return paths;
}

const std::pair<std::string, std::string> kPlannedGateway{"demo", "egress"};

TEST(ProvisionPlan, LeavesPodsAsTheyAreWhileTheSettingsAreWrong) {
  EXPECT_THAT(madeOf(planWith("drainTimeout: 60s")), Contains(&provisioned::kDeployment));
  EXPECT_THAT(planWith("drainTimeout: 60s").leftAlone, IsEmpty());
  for (const char* spec : {kLegibleGateway, "{gatewayClassName: sluice, listeners: [{name: a, port: 0}]}"}) {
    const ProvisionPlan wrong = planWith("drainTimeout: soon", spec);
    EXPECT_THAT(wrong.objects, IsEmpty()) << spec;
    EXPECT_THAT(wrong.leftAlone, ElementsAre(Pair(kPlannedGateway, LeftAlone::kAll)))
        << "they would end in another time than they should";
  }
}

TEST(ProvisionPlan, MakesNothingOfAGatewayThatHasChosenWhatItsClassForbids) {
  const ProvisionPlan forbidden = planWith("provisioning: {namespaces: [other]}");
  EXPECT_THAT(madeOf(forbidden), IsEmpty());
  EXPECT_THAT(accessKeptBy(forbidden), ElementsAre("demo/demo.egress-sluice", "vault/demo.egress-sluice"));
  EXPECT_THAT(forbidden.leftAlone, ElementsAre(Pair(kPlannedGateway, LeftAlone::kPods))) << "Pods that run stay";
  EXPECT_THAT(madeOf(planWith("provisioning: {namespaces: [demo]}")), Contains(&provisioned::kDeployment));
}

TEST(ProvisionPlan, KeepsWhatAGatewayMayReadWhichItsSchemaRefuses) {
  const ProvisionPlan refused =
      planWith("", "{gatewayClassName: sluice, listeners: [{name: a, port: 80, protocol: HTTP, hostname: 1.2.3.4}]}");
  EXPECT_THAT(madeOf(refused), IsEmpty());
  EXPECT_THAT(accessKeptBy(refused), ElementsAre("demo/demo.egress-sluice", "vault/demo.egress-sluice"));
  EXPECT_THAT(refused.leftAlone, ElementsAre(Pair(kPlannedGateway, LeftAlone::kPods)));
}

TEST(ProvisionPlan, LeavesNoRightsElsewhereToAGatewayThatIsNotLegible) {
  const ProvisionPlan illegible = planWith("", "{listeners: 7}");
  EXPECT_THAT(illegible.objects, IsEmpty());
  EXPECT_THAT(illegible.leftAlone, ElementsAre(Pair(kPlannedGateway, LeftAlone::kNotElsewhere)));
  EXPECT_THAT(planWith("", "{gatewayClassName: other, listeners: 7}").leftAlone, IsEmpty());
}

TEST(ProvisionPlan, HasWhatPodsNeedBeforeThem) {
  const std::vector<const ProvisionedKind*> kinds =
      madeOf(planWith("sessionPersistence: {secretRef: {namespace: demo, name: key}}"));
  std::vector<const ProvisionedKind*> inOrder;
  for (const ProvisionedKind* each : provisionedKinds()) {
    inOrder.insert(inOrder.end(), static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), each)), each);
  }
  EXPECT_EQ(kinds, inOrder);
  EXPECT_EQ(kinds.front(), &provisioned::kServiceAccount);
  EXPECT_THAT(kinds, Contains(&provisioned::kSecret));
}

TEST(ProvisionPlan, KnowsTheObjectsOfEachGatewayOfItsClass) {
  const auto namesWith = [](const std::string& spec, const std::string& name = "egress") {
    config::Model model = config::loadText(
                              "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: "
                              "{namespace: demo, name: " +
                              name + "}\nspec: " + spec + "\n")
                              .model;
    model.gatewayClassName = "sluice";
    GatewayObjects names;
    withObjects([&](const ClusterObjects& objects) { names = podObjectsOf(model, objects); });
    return names;
  };
  const GatewayObjects expected = {{"Gateway demo/egress", {{"demo", "egress-sluice"}, "u-1"}}};
  EXPECT_EQ(namesWith(kLegibleGateway), expected);
  EXPECT_EQ(namesWith("{gatewayClassName: sluice, listeners: [{name: a, port: 0}]}"), expected)
      << "its Pods stay as they are";
  EXPECT_THAT(namesWith("{gatewayClassName: other, listeners: []}"), IsEmpty());
  EXPECT_THAT(namesWith(kLegibleGateway, "gone"), IsEmpty());
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
}  // namespace sluice::kubernetes
