#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kNamespace =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: web}}\n";

/// Returns a Gateway with this text in spec.infrastructure.
std::string gatewayWithInfrastructure(const std::string& infrastructure) {
  return with(kGateway, "gatewayClassName: sluice\n",
              "gatewayClassName: sluice\n  infrastructure: {" + infrastructure + "}\n");
}
std::string gatewayWithOurParameters() {
  return gatewayWithInfrastructure("parametersRef: {group: sluice.dev, kind: GatewayParameters, name: ours}");
}

/// A GatewayClass with these settings for `provisioning`, and a Gateway with these parameters.
struct ChosenPods {
  explicit ChosenPods(const std::string& provisioning, const std::string& parameters = "{}",
                      const std::string& gateway = gatewayWithOurParameters())
      : world(
            {with(
                 test::kClass, "sluice.dev/egress-gateway",
                 "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: default, name: s}"),
             test::configMap("s", "settings.yaml", "provisioning: {" + provisioning + "}"), kNamespace, gateway,
             "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {name: ours}\nspec: " + parameters,
             kBackend, kRoute}) {
    world.recompileWithController("sluice-system");
  }
  std::string accepted() const { return world.condition("Gateway", "egress", "Accepted"); }
  std::string message() const { return world.message("Gateway", "egress", "Accepted"); }

  World world;
};

constexpr const char* kForbidden = "False/InvalidParameters";
constexpr const char* kAccepted = "True/Accepted";

TEST(PodChoices, AreTheClassesUnlessItAllowsThem) {
  struct ForbiddenParameter {
    const char* parameters;
    const char* field;
    const char* setting;
  };
  const ForbiddenParameter choices[] = {
      {"{image: 'example.com/theirs:1'}", "spec.image", "allowImage"},
      {"{service: {type: LoadBalancer}}", "spec.service.type", "allowServiceType"},
      {"{nodeSelector: {a: b}}", "spec.nodeSelector", "allowScheduling"},
      {"{tolerations: [{operator: Exists}]}", "spec.tolerations", "allowScheduling"},
      {"{affinity: {nodeAffinity: {}}}", "spec.affinity", "allowScheduling"},
  };
  for (const ForbiddenParameter& each : choices) {
    const ChosenPods forbidden("", each.parameters);
    EXPECT_EQ(forbidden.accepted(), kForbidden) << each.parameters;
    EXPECT_THAT(forbidden.message(),
                AllOf(HasSubstr("spec.infrastructure.parametersRef: GatewayParameters default/ours: "),
                      HasSubstr(each.field), HasSubstr(std::string("provisioning.") + each.setting)));
    EXPECT_EQ(forbidden.world.condition("Gateway", "egress", "Programmed"), "False/Invalid");
    EXPECT_EQ(forbidden.world.outcome(), "default/origin") << "Pods that run serve on";
    const ChosenPods allowed(std::string(each.setting) + ": true", each.parameters);
    EXPECT_EQ(allowed.accepted(), kAccepted) << each.parameters << allowed.message();
  }
  const ChosenPods rest("",
                        "{replicas: 3, logLevel: debug, service: {type: ClusterIP}, resources: {limits: {cpu: 1}}}");
  EXPECT_EQ(rest.accepted(), kAccepted) << rest.message();
}

TEST(PodChoices, AreNamedTogether) {
  EXPECT_THAT(
      ChosenPods("allowScheduling: true", "{image: a, service: {type: NodePort}, nodeSelector: {a: b}}").message(),
      AllOf(HasSubstr("spec.image"), HasSubstr("spec.service.type"), Not(HasSubstr("spec.nodeSelector"))));
}

TEST(PodChoices, GiveNoIdentityInACloud) {
  for (const char* each :
       {"annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::1:role/admin'}",
        "annotations: {iam.gke.io/gcp-service-account: a}", "annotations: {azure.workload.identity/client-id: a}",
        "annotations: {iam.amazonaws.com/role: a}", "labels: {azure.workload.identity/use: 'true'}",
        "labels: {aadpodidbinding: a}"}) {
    const ChosenPods forbidden("", "{}", gatewayWithInfrastructure(each));
    EXPECT_EQ(forbidden.accepted(), kForbidden) << each;
    EXPECT_THAT(forbidden.message(),
                AllOf(HasSubstr("spec.infrastructure."), HasSubstr("provisioning.allowServiceAccountAnnotations")));
    EXPECT_EQ(ChosenPods("allowServiceAccountAnnotations: true", "{}", gatewayWithInfrastructure(each)).accepted(),
              kAccepted);
  }
  EXPECT_EQ(ChosenPods("", "{}", gatewayWithInfrastructure("annotations: {prometheus.io/scrape: 'true'}")).accepted(),
            kAccepted);
}

TEST(PodChoices, AreForGatewaysOfTheNamespacesThatTheClassNames) {
  EXPECT_EQ(ChosenPods("namespaces: []").accepted(), kAccepted);
  EXPECT_EQ(ChosenPods("namespaces: [other, default]").accepted(), kAccepted);
  EXPECT_EQ(ChosenPods("namespaces: {matchLabels: {team: web}}").accepted(), kAccepted);
  for (const char* each : {"namespaces: [other]", "namespaces: {matchLabels: {team: data}}"}) {
    const ChosenPods forbidden(each);
    EXPECT_EQ(forbidden.accepted(), kForbidden) << each;
    EXPECT_THAT(forbidden.message(), AllOf(HasSubstr("metadata.namespace: "), HasSubstr("provisioning.namespaces")));
  }
}

TEST(PodChoices, DoNotMatterWhereNobodyKeepsPods) {
  ChosenPods chosen("namespaces: [other]", "{image: a}");
  chosen.world.recompileWithController("");
  EXPECT_EQ(chosen.accepted(), kAccepted);
}

}  // namespace
}  // namespace sluice::compile
