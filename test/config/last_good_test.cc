#include "config/load/last_good.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "config/read/object_kinds.h"
#include "config/yaml/yaml_reader.h"
#include "config/yaml/yaml_writer.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadAfter(const std::string& text, const Model* previous = nullptr) {
  return loadTexts({{"a.yaml", text}}, base::Secret(), previous);
}

std::string map(const std::string& value, const std::string& surprise = "") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: n, generation: " + value + "}\ndata: {k: v" +
         value + "}\n" + surprise;
}
const std::string* valueIn(const Model& model) {
  const ConfigMap* found = model.find<ConfigMap>("n", "m");
  return found == nullptr ? nullptr : found->find("k");
}

TEST(LastGood, IsPutBackWithTheGenerationOfTheRefusedVersion) {
  const Configuration good = loadAfter(map("1"));
  const Model model = loadAfter(map("2", "surprise: 1\n"), &good.model).model;
  ASSERT_NE(valueIn(model), nullptr);
  EXPECT_EQ(*valueIn(model), "v1");
  EXPECT_EQ(model.find<ConfigMap>("n", "m")->meta.generation, 2);
  EXPECT_THAT(model.rejected, IsEmpty());
  ASSERT_EQ(model.kept.size(), 1U);
  EXPECT_EQ(model.kept[0].generation, 2);
  EXPECT_EQ(model.kept[0].message, "surprise: unknown field");
  EXPECT_EQ(model.findKept("", "ConfigMap", "n", "m"), &model.kept[0]);
}

TEST(LastGood, HasTheSourcesCurrentVersion) {
  const auto loadVersion = [](const std::string& version, const std::string& more, const Model* previous) {
    const std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, uid: u" + version +
                             ", resourceVersion: r" + version + "}\n" + more;
    return loadTexts({{"config.yaml", text}}, base::Secret(), previous);
  };
  const Configuration good = loadVersion("1", "", nullptr);
  const Model model = loadVersion("2", "surprise: 1\n", &good.model).model;
  EXPECT_EQ(model.find<ConfigMap>("default", "m")->meta.uid, "u2");
  EXPECT_EQ(model.find<ConfigMap>("default", "m")->meta.resourceVersion, "r2");
  EXPECT_EQ(model.kept.at(0).resourceVersion, "r2");
}

TEST(LastGood, IsAbsentWithoutAPreviousVersion) {
  const Configuration other = loadAfter(object("v1", "ConfigMap", "m", "data: {k: v}\n"));
  const Model model = loadAfter(map("2", "surprise: 1\n"), &other.model).model;
  EXPECT_EQ(valueIn(model), nullptr);
  EXPECT_EQ(model.rejected.size(), 1U);
  EXPECT_THAT(model.kept, IsEmpty());
}

TEST(LastGood, IsServedOnlyWhileTheObjectStaysInvalid) {
  const Configuration good = loadAfter(map("1"));
  const Configuration bad = loadAfter(map("2", "surprise: 1\n"), &good.model);
  const Configuration worse = loadAfter(map("3", "surprise: 2\n"), &bad.model);
  ASSERT_NE(valueIn(worse.model), nullptr);
  EXPECT_EQ(*valueIn(worse.model), "v1");
  EXPECT_EQ(worse.model.kept.size(), 1U);
  EXPECT_EQ(worse.model.all<ConfigMap>().size(), 1U);

  const Configuration mended = loadAfter(map("4"), &worse.model);
  EXPECT_EQ(*valueIn(mended.model), "v4");
  EXPECT_THAT(mended.model.kept, IsEmpty());

  const Configuration deleted = loadAfter("", &worse.model);
  EXPECT_EQ(valueIn(deleted.model), nullptr);
  EXPECT_THAT(deleted.model.kept, IsEmpty());
  EXPECT_EQ(valueIn(loadAfter(map("5", "surprise: 1\n"), &deleted.model).model), nullptr);
}

struct Valid {
  std::string group;
  std::string version;
  std::string kind;
  std::string rest;

  std::string text() const { return textOf(rest); }
  /// Every kind either requires a field that this text lacks, or refuses unknown fields.
  std::string refusedText() const { return textOf("surprise: 1\n"); }

 private:
  std::string textOf(const std::string& body) const {
    return object(group.empty() ? version : group + "/" + version, kind, "a", body);
  }
};

/// Returns the objects of this project's kinds in test/support/kube/objects/valid.
std::vector<Valid> validObjectsOfOurs() {
  std::vector<Valid> objects;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/test/support/kube/objects/valid")) {
    Problems problems;
    const auto file = std::make_shared<const std::string>(entry.path().filename().string());
    for (const Document& each : readYaml(fileText(entry.path().string()), {file}, problems)) {
      const std::string& apiVersion = each.root.find("apiVersion")->text;
      const std::size_t slash = apiVersion.find('/');
      Value rest = each.root;
      std::erase_if(rest.members, [](const Member& member) { return member.key != "spec"; });
      objects.push_back({apiVersion.substr(0, slash), apiVersion.substr(slash + 1), each.root.find("kind")->text,
                         rest.members.empty() ? "" : writeYaml(rest)});
    }
    EXPECT_THAT(rendered(problems), IsEmpty());
  }
  return objects;
}

/// Returns one valid object of each kind of other APIs.
std::vector<Valid> validObjectsOfOthers() {
  const std::string gateway(kGatewayGroup);
  const std::string prototype(kPrototypeGroup);
  const std::string destination = "spec: {destination: {type: FQDN, fqdn: {hostname: a.test, port: 80}}}\n";
  const std::string ported =
      "spec: {destination: {type: Fqdn, fqdn: {hostname: a.test}, ports: [{number: 80, protocol: HTTP}]}}\n";
  const std::string envoy(kEnvoyGroup);
  const std::string targets = "targetRefs: [{group: '', kind: Service, name: a}]}\n";
  const std::string processors = "processors: [{name: p, type: 'a.b/K:v1'}]}\n";
  const std::string target = "spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: a}, ";
  return {
      {gateway, "v1", "GatewayClass", "spec: {controllerName: example.com/x}\n"},
      {gateway, "v1", "Gateway", "spec: {gatewayClassName: a, listeners: [{name: l, port: 80, protocol: HTTP}]}\n"},
      {prototype, "v0alpha0", "EgressGateway",
       "spec: {gatewayClassName: a, listeners: [{name: l, port: 80, protocol: HTTP}]}\n"},
      {gateway, "v1", "HTTPRoute", "spec: {parentRefs: [{name: a}]}\n"},
      {gateway, "v1", "GRPCRoute", "spec: {parentRefs: [{name: a}]}\n"},
      {gateway, "v1", "ReferenceGrant",
       "spec: {from: [{group: g.test, kind: K, namespace: n}], to: [{group: '', kind: Secret}]}\n"},
      {"", "v1", "Namespace", ""},
      {"", "v1", "ConfigMap", "data: {k: v}\n"},
      {"", "v1", "Secret", "stringData: {k: v}\n"},
      {"", "v1", "Service", "spec: {ports: [{port: 80}]}\n"},
      {std::string(kDiscoveryGroup), "v1", "EndpointSlice", "addressType: IPv4\nendpoints: []\n"},
      {gateway, "v1alpha1", "Backend", destination},
      {envoy, "v1alpha1", "Backend", "spec: {endpoints: [{fqdn: {hostname: a.test, port: 443}}]}\n"},
      {prototype, "v0alpha0", "Backend", ported},
      {prototype, "v0alpha0", "XBackendDestination", ported},
      {std::string(kExperimentalGroup), "v1alpha1", "XBackend",
       "spec: {type: ExternalHostname, externalHostname: {hostname: a.test}, port: {port: 443}}\n"},
      {gateway, "v1alpha1", "PayloadProcessor", target + processors},
      {std::string(kNetworkingGroup), "v0alpha0", "PayloadProcessor",
       target + "processors: [{name: p, type: ExtProcess, extProcess: {backendRef: {name: a, port: 80}}}]}\n"},
      {gateway, "v1alpha1", "PayloadProcessingPipeline", "spec: {" + processors},
      {prototype, "v0alpha0", "XPayloadProcessor", "spec: {backendRef: {name: a, port: 80}, failureMode: Closed}\n"},
      {gateway, "v1", "BackendTLSPolicy",
       "spec: {validation: {hostname: a.test, wellKnownCACertificates: System}, " + targets},
      {std::string(kExperimentalGroup), "v1alpha1", "XBackendTrafficPolicy", "spec: {" + targets},
      {envoy, "v1alpha1", "BackendTrafficPolicy",
       "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: a}]}\n"},
      {envoy, "v1alpha1", "SecurityPolicy", "spec: {" + targets},
      {envoy, "v1alpha1", "ClientTrafficPolicy", "spec: {" + targets},
      {envoy, "v1alpha1", "EnvoyExtensionPolicy",
       "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: a}]}\n"},
  };
}

TEST(LastGood, IsKeptForEveryKind) {
  std::set<std::pair<std::string, std::string>> missing;
  for (const ObjectKind& each : objectKinds()) missing.emplace(each.group, each.kind);
  std::vector<Valid> all = validObjectsOfOthers();
  for (Valid& each : validObjectsOfOurs()) all.push_back(std::move(each));
  for (const Valid& valid : all) {
    missing.erase({valid.group, valid.kind});
    const std::string each = valid.text();
    const Configuration good = loadAfter(each);
    ASSERT_THAT(good.model.rejected, IsEmpty()) << each;
    const Configuration bad = loadAfter(valid.refusedText(), &good.model);
    EXPECT_THAT(bad.model.rejected, IsEmpty()) << each;
    ASSERT_EQ(bad.model.kept.size(), 1U) << each;
    EXPECT_EQ(bad.model.kept[0].legible<Gateway>(), nullptr);
    EXPECT_EQ(bad.model.kept[0].legible<HttpRoute>(), nullptr);
    // The object in service was put into the right list, so it is kept again.
    EXPECT_EQ(loadAfter(valid.refusedText(), &bad.model).model.kept.size(), 1U) << each;
  }
  EXPECT_THAT(missing, IsEmpty()) << "every kind of the table has an object here";
}

TEST(LastGood, DistinguishesObjectsOfOneNameByTheirGroup) {
  const std::string seed = object("gateway.networking.k8s.io/v1alpha1", "Backend", "a",
                                  "spec: {destination: {type: FQDN, fqdn: {hostname: seed.test, port: 80}}}\n");
  const std::string own = object("sluice.dev/v1alpha1", "Backend", "a",
                                 "spec: {destination: {type: FQDN, fqdn: {hostname: own.test, port: 80}}}\n");
  const Configuration good = loadAfter(seed + "---\n" + own);
  const Configuration bad = loadAfter(own + "surprise: 1\n", &good.model);
  ASSERT_EQ(bad.model.all<Backend>().size(), 1U);
  EXPECT_EQ(bad.model.all<Backend>()[0].hostname, "own.test");
}

std::string settings(const std::string& text, const std::string& rest = "") {
  return object("gateway.networking.k8s.io/v1", "GatewayClass", "c",
                "spec:\n  controllerName: sluice.dev/egress-gateway\n"
                "  parametersRef: {group: '', kind: ConfigMap, namespace: n, name: s}\n") +
         "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, namespace: n}\ndata: {settings.yaml: \"" + text +
         "\"}\n" + rest;
}

TEST(LastGood, SettingsStayInServiceWhenTheirConfigMapIsRefused) {
  const Configuration good = loadAfter(settings("workers: 3"));
  const Configuration bad = loadAfter(settings("workers: 4", "surprise: 1\n"), &good.model);
  EXPECT_EQ(bad.model.settings.workers, 3U);
  EXPECT_EQ(bad.model.settingsFault, "");
  EXPECT_EQ(bad.model.settingsKept, "ConfigMap n/s: surprise: unknown field");
}

TEST(LastGood, SettingsWhoseTextIsRefusedAreAFaultAtOnce) {
  const Configuration good = loadAfter(settings("workers: 3"));
  const Configuration bad = loadAfter(settings("workers: many"), &good.model);
  EXPECT_THAT(bad.model.settingsFault, HasSubstr("settings.yaml: workers: "));
  EXPECT_EQ(bad.model.settingsKept, "");
  EXPECT_THAT(rendered(bad.problems), ElementsAre(HasSubstr("settings.yaml: workers: ")));
}

TEST(LastGood, SettingsWithABrokenReferenceAreAFaultAtOnce) {
  const Configuration good = loadAfter(settings("workers: 3"));
  std::string text = settings("workers: 3");
  text.replace(text.find("name: s}"), 8, "name: t}");
  const Configuration bad = loadAfter(text, &good.model);
  EXPECT_EQ(bad.model.settingsFault, "ConfigMap n/t does not exist");
  EXPECT_EQ(bad.model.settingsKept, "");
}

TEST(LastGood, ARefusedGatewayClassKeepsItsSettings) {
  const Configuration good = loadAfter(settings("workers: 3"));
  std::string text = settings("workers: 4");
  text.replace(text.find("  controllerName"), 2, "  surprise: 1\n  ");
  const Configuration bad = loadAfter(text, &good.model);
  EXPECT_EQ(bad.model.gatewayClassName, "c");
  EXPECT_EQ(bad.model.settings.workers, 4U);  // the ConfigMap is valid, and the kept class refers to it
}

}  // namespace
}  // namespace sluice::config
