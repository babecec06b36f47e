#include "config/load/gateway_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kClassWithSettings =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\n"
    "spec: {controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, name: s, "
    "namespace: default}}\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\n"
    "data: {settings.yaml: '{drainTimeout: 7s, addressGuard: {allow: [10.0.0.0/8]}, limits: {connections: "
    "11}}'}\n---\n";

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
/// Returns a ConfigMap whose text begins on the second line of `data`.
std::string configMapWith(const std::string& text) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\ndata:\n  gateway-parameters.yaml: |\n    " + text +
         "\n---\n";
}

struct OwnSettings {
  explicit OwnSettings(const std::string& text, const OwnSettings* before = nullptr,
                       const std::string& gatewayClass = kClassWithSettings)
      : configuration(loadTexts({{"a.yaml", gatewayClass + text}}, base::Secret(),
                                before == nullptr ? nullptr : &before->configuration.model)) {}

  const Model& model() const { return configuration.model; }
  const Gateway& first() const { return model().all<Gateway>().at(0); }
  const GatewayParameters* parameters() const { return parametersOf(model(), first()); }
  std::vector<std::string> problems() const { return rendered(configuration.problems); }

  Configuration configuration;
};

TEST(GatewaySettings, OfTheOneGatewayCountBeforeThoseOfItsClass) {
  const std::string fields =
      "replicas: 3, settings: {drainTimeout: 9s, limits: {headerFields: 12}, paths: {encodedSlash: Decode}}";
  for (const OwnSettings& each :
       {OwnSettings(gatewayNamed("g", kRefToOurs) + ours(fields)),
        OwnSettings(gatewayNamed("g", kRefToConfigMap) + configMapWith("{" + fields + "}"))}) {
    EXPECT_THAT(each.problems(), IsEmpty());
    ASSERT_NE(each.parameters(), nullptr);
    EXPECT_EQ(each.parameters()->replicas, 3U);
    const base::Settings& settings = each.model().settings;
    EXPECT_EQ(settings.drainTimeout, seconds(9));
    EXPECT_EQ(settings.limits.headerFields, 12U);
    EXPECT_EQ(settings.paths.encodedSlash, base::EncodedSlash::kDecode);
    EXPECT_EQ(settings.limits.connections, 11U) << "that of the class";
    EXPECT_EQ(settings.addressGuardAllow.size(), 1U);
    EXPECT_EQ(gatewaysWithoutTheirSettings(each.model()), "");
  }
}

TEST(GatewaySettings, NameTheKeysThatWereDerivedForThePod) {
  base::Settings settings;
  useDerivedKeys({"demo", "keys"}, settings);
  EXPECT_EQ(settings, base::Settings()) << "there are no keys to replace";
  settings.sessionKey = {"vault", "s", "now", ""};
  settings.revisions.keyRef = {"vault", "r", "key"};
  useDerivedKeys({"demo", "keys"}, settings);
  EXPECT_EQ(settings.sessionKey, (base::SessionKeyRef{"demo", "keys", "session", ""}));
  EXPECT_EQ(settings.revisions.keyRef, (base::RevisionKeyRef{"demo", "keys", "revision"}));
  settings.sessionKey->previousKey = "before";
  useDerivedKeys({"demo", "keys"}, settings);
  EXPECT_EQ(settings.sessionKey->previousKey, "session-previous");
}

TEST(GatewaySettings, DoNotCountInAProcessOfSeveralGateways) {
  const OwnSettings both(gatewayNamed("g", kRefToOurs) + gatewayNamed("h", kRefToOurs) +
                         ours("settings: {drainTimeout: 9s}"));
  EXPECT_THAT(both.problems(), IsEmpty());
  EXPECT_EQ(both.model().settings.drainTimeout, seconds(7));
  EXPECT_EQ(settingsOf(both.model(), both.first()).drainTimeout, seconds(9)) << "its own process has them";
  EXPECT_EQ(gatewaysWithoutTheirSettings(both.model()), "default/g, default/h");
}

TEST(GatewaySettings, DoNotCountBesideAGatewayThatItsSchemaRefuses) {
  const OwnSettings both(gatewayNamed("g", kRefToOurs) + ours("settings: {drainTimeout: 9s}") +
                         "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: h}\nspec: 3\n");
  EXPECT_EQ(both.model().settings.drainTimeout, seconds(7));
}

TEST(GatewaySettings, AreOfTheKindThatIsNamed) {
  const std::string other = "group: other.dev, kind: GatewayParameters, name: p";
  EXPECT_EQ(OwnSettings(gatewayNamed("g", other) + ours("replicas: 3")).parameters(), nullptr);
  EXPECT_EQ(OwnSettings(gatewayNamed("g", kRefToConfigMap) + ours("replicas: 3")).parameters(), nullptr);
}

TEST(GatewaySettings, OfAConfigMapAreCheckedWhereTheyStand) {
  const OwnSettings unknown(gatewayNamed("g", kRefToConfigMap) + configMapWith("replica: 3"));
  EXPECT_EQ(unknown.parameters(), nullptr);
  EXPECT_THAT(unknown.problems(),
              ElementsAre("a.yaml:21:5: error: ConfigMap default/p: gateway-parameters.yaml: replica: "
                          "unknown field: did you mean replicas?"));
}

TEST(GatewaySettings, OfBeforeServeOnWhileTheNewOnesAreWrong) {
  const std::string goodText = "{replicas: 3, settings: {drainTimeout: 9s}}";
  const OwnSettings good(gatewayNamed("g", kRefToConfigMap) + configMapWith(goodText));
  const std::string badText = gatewayNamed("g", kRefToConfigMap) + configMapWith("replicas: many");
  const OwnSettings bad(badText, &good);
  ASSERT_NE(bad.parameters(), nullptr);
  EXPECT_EQ(bad.parameters()->replicas, 3U);
  EXPECT_EQ(bad.model().settings.drainTimeout, seconds(9));
  ASSERT_EQ(bad.model().kept.size(), 1U) << "so it is stored, and counts in what is served";
  EXPECT_THAT(bad.model().kept[0].message, HasSubstr("gateway-parameters.yaml: replicas: "));

  // Settings that only the GatewayClass may have come from its current version.
  std::string narrower = kClassWithSettings;
  narrower.replace(narrower.find("10.0.0.0/8"), 10, "10.9.0.0/16");
  EXPECT_THAT(OwnSettings(badText, &bad, narrower).model().settings.addressGuardAllow, ElementsAre("10.9.0.0/16"));
  EXPECT_EQ(OwnSettings(gatewayNamed("g", kRefToConfigMap), &bad).parameters(), nullptr) << "it was deleted";
}

TEST(GatewaySettings, OfAnUnknownKeyAreReportedOnce) {
  TextCache cache;
  const std::string text =
      R"({"apiVersion":"sluice.dev/v1alpha1","kind":"GatewayParameters","metadata":{"name":"p","namespace":"default"},)"
      R"("spec":{"settings":{"newer":1,"drainTimeout":"9s"}}})";
  const Configuration configuration =
      load(readTexts({{"a.yaml", kClassWithSettings + gatewayNamed("g", kRefToOurs)}, {"kubernetes:p", text}}, {},
                     base::Secret("key"), cache),
           nullptr);
  EXPECT_THAT(rendered(configuration.problems), ElementsAre(HasSubstr("warning: GatewayParameters default/p: "
                                                                      "spec.settings.newer: unknown field")));
  EXPECT_EQ(configuration.model.settings.drainTimeout, seconds(9));
}

}  // namespace
}  // namespace sluice::config
