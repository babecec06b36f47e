#include "proxy/kubernetes/provision/gateway_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/kubernetes/provision/gateway_fixture.h"

namespace sluice::kubernetes {
namespace {

const ProvisionedObject& objectAt(const std::vector<ProvisionedObject>& objects, const std::string& path) {
  static const ProvisionedObject kNone;
  for (const ProvisionedObject& each : objects) {
    if (each.path() == path) return each;
  }
  ADD_FAILURE() << path;
  return kNone;
}

TEST(GatewayAccess, IsToItsLeasesAndToWhatItsObjectsName) {
  const RunGateway gateway(kListenersOfTwoPorts);
  NamesOfGateways names;
  names.common.configMaps = {{"system", "settings"}};
  names.own[{"Gateway", "demo", "egress"}].secrets = {{"demo", "tls"}, {"vault", "key"}};
  names.own[{"Gateway", "demo", "other"}].secrets = {{"demo", "of-another"}};
  const auto objects = accessOf(gateway.run(), names);
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/";
  const std::string name = "/demo.egress-sluice";
  EXPECT_EQ(objects.size(), 7U);
  EXPECT_EQ(fieldAt(objectAt(objects, roles + "demo/roles" + name), "rules"),
            R"([{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create","patch","delete"]},)"
            R"({"apiGroups":["sluice.dev"],"resources":["egressrevisions"],"verbs":["create","list","watch"]},)"
            R"({"apiGroups":[""],"resources":["secrets"],"resourceNames":["tls"],"verbs":["list","watch"]}])");
  EXPECT_EQ(fieldAt(objectAt(objects, roles + "vault/roles" + name), "rules"),
            R"([{"apiGroups":[""],"resources":["secrets"],"resourceNames":["key"],"verbs":["list","watch"]}])");
  EXPECT_EQ(fieldAt(objectAt(objects, roles + "system/roles" + name), "rules"),
            R"([{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["settings"],"verbs":["list","watch"]}])");
  const ProvisionedObject& binding = objectAt(objects, roles + "vault/rolebindings" + name);
  EXPECT_EQ(fieldAt(binding, "roleRef|name"), "demo.egress-sluice");
  EXPECT_EQ(fieldAt(binding, "subjects"), R"([{"kind":"ServiceAccount","name":"egress-sluice","namespace":"demo"}])");
  EXPECT_EQ(fieldAt(binding, "metadata|ownerReferences"), "") << "an owner of another namespace is no owner";
}

TEST(GatewayAccess, GoesWithTheRoleOfTheInstallationIfItIsElsewhere) {
  const RunGateway gateway(kListenersOfTwoPorts);
  NamesOfGateways names;
  names.own[{"Gateway", "demo", "egress"}].secrets = {{"vault", "key"}};
  GatewayToRun run = gateway.run();
  run.sharedRole = "u-role";
  for (const ProvisionedObject& each : accessOf(run, names)) {
    EXPECT_EQ(fieldAt(each, "metadata|ownerReferences|0|kind"), each.nameSpace == "demo" ? "Gateway" : "ClusterRole");
    if (each.nameSpace == "demo") continue;
    EXPECT_EQ(fieldAt(each, "metadata|ownerReferences"),
              R"([{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","name":"sluice-gateway",)"
              R"("uid":"u-role"}])")
        << each.path();
  }
}

TEST(GatewayAccess, ToWhatHoldsNoSecretsIsABindingOfEachGateway) {
  const RunGateway gateway(std::string(", infrastructure: {labels: {team: a}, annotations: {note: c}}") +
                           kListenersOfTwoPorts);
  const ProvisionedObject binding = only(accessOf(gateway.run(), {}), provisioned::kClusterRoleBinding);
  EXPECT_EQ(binding.path(), "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/sluice-gateway.demo.egress-sluice");
  EXPECT_EQ(fieldAt(binding, "roleRef|name"), "sluice-gateway");
  EXPECT_EQ(fieldAt(binding, "subjects"), R"([{"kind":"ServiceAccount","name":"egress-sluice","namespace":"demo"}])");
  EXPECT_EQ(fieldAt(binding, "metadata|labels|sluice.dev/gateway-namespace"), "demo");
}

TEST(GatewayAccess, CarriesWhatInfrastructureSaysInTheGatewaysNamespaceAlone) {
  const RunGateway gateway(std::string(", infrastructure: {labels: {team: a}, annotations: {note: c}}") +
                           kListenersOfTwoPorts);
  NamesOfGateways names;
  names.own[{"Gateway", "demo", "egress"}].secrets = {{"vault", "key"}};
  for (const ProvisionedObject& each : accessOf(gateway.run(), names)) {
    const bool own = each.nameSpace == "demo";
    EXPECT_EQ(fieldAt(each, "metadata|labels|team"), own ? "a" : "") << each.path();
    EXPECT_EQ(fieldAt(each, "metadata|annotations"), own ? R"({"note":"c"})" : "") << each.path();
  }
}

TEST(GatewayAccess, NamesNoMoreThanARoleHasRoomFor) {
  const RunGateway gateway(kListenersOfTwoPorts);
  NamesOfGateways names;
  NamedObjects& own = names.own[{"Gateway", "demo", "egress"}];
  own.secrets = {{"vault", "key"}};
  for (int i = 0; i < 6400; ++i) {
    std::string name = std::to_string(100'000 + i);
    own.configMaps.emplace("vault", name + std::string(253 - name.size(), 'x'));
  }
  const auto objects = accessOf(gateway.run(), names);
  const ProvisionedObject& role =
      objectAt(objects, "/apis/rbac.authorization.k8s.io/v1/namespaces/vault/roles/demo.egress-sluice");
  EXPECT_GT(role.body.size(), 1'000'000U);
  EXPECT_LT(role.body.size(), 1'100'000U) << "an API server takes no more than 1.5 MB";
  EXPECT_THAT(role.body, testing::HasSubstr(R"("resourceNames":["key"])")) << "Secrets come first";
}

}  // namespace
}  // namespace sluice::kubernetes
