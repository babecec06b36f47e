#include "config/resolve_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kClassWithSettings =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\n"
    "spec: {controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, name: s, "
    "namespace: default}}\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\n"
    "data: {settings.yaml: '{drainTimeout: 7s, dns: {minTtl: 20s, hosts: {a.test: [192.0.2.1]}}, "
    "limits: {connections: 11}}'}\n---\n";

std::string gatewayNamed(const std::string& name, const std::string& parametersRef) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: " + name +
         "}\nspec: {gatewayClassName: sluice, infrastructure: {parametersRef: {" + parametersRef +
         "}}, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n";
}
const std::string kRefToOurs = "group: sluice.dev, kind: GatewayParameters, name: p";
const std::string kRefToConfigMap = "group: '', kind: ConfigMap, name: p";

std::string ours(const std::string& spec) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {name: p}\nspec: {" + spec + "}\n---\n";
}
/// Returns a ConfigMap whose text begins in the second line of `data`.
std::string configMapWith(const std::string& text) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\ndata:\n  parameters.yaml: |\n    " + text + "\n---\n";
}

struct ResolvedText {
  explicit ResolvedText(const std::string& text, const ResolvedText* before = nullptr)
      : configuration(loadTexts({{"a.yaml", kClassWithSettings + text}}, base::Secret(),
                                before == nullptr ? nullptr : &before->configuration.model)) {}

  const Model& model() const { return configuration.model; }
  const ResolvedParameters* first() const { return model().parametersOf(model().all<Gateway>().at(0)); }
  std::vector<std::string> problems() const { return rendered(configuration.problems); }

  Configuration configuration;
};

TEST(ResolveParameters, PutsTheSettingsOfTheOneGatewayOverThoseOfItsClass) {
  const std::string fields = "replicas: 3, settings: {drainTimeout: 9s, dns: {hosts: {b.test: [192.0.2.2]}}}";
  for (const ResolvedText& each :
       {ResolvedText(gatewayNamed("g", kRefToOurs) + ours(fields)),
        ResolvedText(gatewayNamed("g", kRefToConfigMap) + configMapWith("{" + fields + "}"))}) {
    EXPECT_THAT(each.problems(), IsEmpty());
    ASSERT_NE(each.first(), nullptr);
    ASSERT_TRUE(each.first()->parameters);
    EXPECT_EQ(each.first()->parameters->replicas, 3U);
    EXPECT_EQ(each.first()->fault, "");
    const base::Settings& settings = each.model().settings;
    EXPECT_EQ(settings.drainTimeout, seconds(9));
    EXPECT_EQ(settings.dns.minTtl, seconds(20)) << "that of the class";
    EXPECT_EQ(settings.dns.hosts.size(), 2U);
    EXPECT_EQ(settings.limits.connections, 11U);
    EXPECT_EQ(gatewaysWithoutTheirSettings(each.model()), "");
  }
}

TEST(ResolveParameters, LeavesTheSettingsOfTheClassToAProcessOfSeveralGateways) {
  const ResolvedText both(gatewayNamed("g", kRefToOurs) + gatewayNamed("h", kRefToOurs) +
                          ours("settings: {drainTimeout: 9s}"));
  EXPECT_THAT(both.problems(), IsEmpty());
  EXPECT_EQ(both.model().settings.drainTimeout, seconds(7));
  ASSERT_TRUE(both.first()->settings);
  EXPECT_EQ(both.first()->settings->drainTimeout, seconds(9)) << "its own process has them";
  EXPECT_EQ(gatewaysWithoutTheirSettings(both.model()), "default/g, default/h");
}

TEST(ResolveParameters, CountsAGatewayThatItsSchemaRefusesAsAnother) {
  const ResolvedText both(gatewayNamed("g", kRefToOurs) + ours("settings: {drainTimeout: 9s}") +
                          "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: h}\nspec: 3\n");
  EXPECT_EQ(both.model().settings.drainTimeout, seconds(7));
}

TEST(ResolveParameters, SaysWhereAConfigMapIsWrong) {
  const ResolvedText unknown(gatewayNamed("g", kRefToConfigMap) + configMapWith("replica: 3"));
  ASSERT_NE(unknown.first(), nullptr);
  EXPECT_FALSE(unknown.first()->parameters);
  EXPECT_EQ(unknown.first()->fault,
            "ConfigMap default/p: parameters.yaml: replica: unknown field: did you mean replicas?");
  EXPECT_THAT(unknown.problems(), Contains(HasSubstr("a.yaml:21:5: ")));

  const ResolvedText without(gatewayNamed("g", kRefToConfigMap) +
                             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\ndata: {settings.yaml: ''}\n");
  EXPECT_EQ(without.first()->fault, "ConfigMap default/p: data: has no key parameters.yaml");
  EXPECT_EQ(ResolvedText(gatewayNamed("g", kRefToConfigMap)).first(), nullptr) << "there is no such object";
}

TEST(ResolveParameters, RefusesSettingsThatDoNotFitThoseOfTheClass) {
  const ResolvedText misfit(gatewayNamed("g", kRefToOurs) + ours("settings: {dns: {maxTtl: 10s}}"));
  EXPECT_FALSE(misfit.first()->parameters);
  EXPECT_THAT(misfit.first()->fault,
              HasSubstr("GatewayParameters default/p: settings.dns.maxTtl: must not be shorter"));
}

TEST(ResolveParameters, LeavesThoseOfBeforeInServiceWhileTheNewOnesCannotBeUsed) {
  const ResolvedText good(gatewayNamed("g", kRefToConfigMap) +
                          configMapWith("{replicas: 3, settings: {drainTimeout: 9s}}"));
  const ResolvedText bad(gatewayNamed("g", kRefToConfigMap) + configMapWith("replicas: many"), &good);
  ASSERT_TRUE(bad.first()->parameters);
  EXPECT_EQ(bad.first()->parameters->replicas, 3U);
  EXPECT_THAT(bad.first()->fault, HasSubstr("parameters.yaml: replicas: "));
  EXPECT_EQ(bad.model().settings.drainTimeout, seconds(9));
  const ResolvedText stillBad(gatewayNamed("g", kRefToConfigMap) + configMapWith("replicas: few"), &bad);
  EXPECT_EQ(stillBad.first()->parameters->replicas, 3U);
  const ResolvedText gone(gatewayNamed("g", kRefToConfigMap), &bad);
  EXPECT_EQ(gone.first(), nullptr) << "what was deleted does not come back";
}

TEST(ResolveParameters, SaysThatAnObjectOfBeforeIsUsed) {
  const ResolvedText good(gatewayNamed("g", kRefToOurs) + ours("replicas: 3"));
  const ResolvedText bad(gatewayNamed("g", kRefToOurs) + ours("replicas: many"), &good);
  ASSERT_TRUE(bad.first()->parameters);
  EXPECT_EQ(bad.first()->parameters->replicas, 3U);
  EXPECT_THAT(bad.first()->fault, HasSubstr("spec.replicas: "));
}

}  // namespace
}  // namespace sluice::config
