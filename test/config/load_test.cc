#include "config/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/load/text_cache.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kCoreMap = object("v1", "ConfigMap", "a", "data: {k: v}\n");

// This configuration has every kind, and a reference from each object to the next.
constexpr std::string_view kWhole = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: egress}
spec:
  controllerName: sluice.dev/egress-gateway
  parametersRef: {group: "", kind: ConfigMap, namespace: demo, name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: demo, name: settings}
data:
  settings.yaml: |
    workers: 2
    accessLog: {path: "off"}
    dns: {hosts: {origin.test: [127.0.0.1]}}
    addressGuard: {allow: [127.0.0.0/8]}
    timeouts: {clientIdle: 1h, upstreamIdle: 1h}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: demo, name: egress}
spec:
  gatewayClassName: egress
  addresses: [{type: IPAddress, value: 127.0.0.1}]
  listeners:
  - name: tls
    protocol: HTTPS
    port: 8443
    tls: {mode: Terminate, certificateRefs: [{kind: Secret, name: listener}]}
---
apiVersion: v1
kind: Secret
metadata: {namespace: demo, name: listener}
type: kubernetes.io/tls
stringData:
  tls.crt: |
    -----BEGIN CERTIFICATE-----
  tls.key: secret
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: demo, name: origin}
spec:
  parentRefs: [{name: egress}]
  rules:
  - backendRefs: [{group: gateway.networking.x-k8s.io, kind: XBackend, name: x}]
  - backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 443}]
---
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackend
metadata: {namespace: demo, name: x}
spec:
  type: ExternalHostname
  externalHostname: {hostname: origin.test}
  port: {port: 8443}
  protocol: HTTP2
  tls:
    mode: ServerOnly
    validation:
      hostname: origin.test
      caCertificateRefs: [{group: "", kind: ConfigMap, name: origin-ca}]
---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {namespace: demo, name: origin}
spec:
  destination:
    type: FQDN
    fqdn: {hostname: origin.test, port: 443}
  tls: {mode: Terminate, sni: origin.test, caBundleRef: {name: origin-ca}}
)";

TEST(Load, ReadsEveryKindOfAWholeConfiguration) {
  const Configuration configuration = loadText(std::string(kWhole));
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const Model& model = configuration.model;
  EXPECT_TRUE(configuration.readable);
  EXPECT_EQ(model.gatewayClassName, "egress");
  EXPECT_EQ(model.settings.workers, 2u);
  EXPECT_EQ(model.settings.timeouts.clientIdle, std::chrono::hours(1));
  EXPECT_EQ(model.settings.dns.hosts.at("origin.test"), std::vector<std::string>{"127.0.0.1"});
  ASSERT_NE(model.find<Gateway>(kGatewayGroup, Gateway::kKind, "demo", "egress"), nullptr);
  EXPECT_EQ(model.all<HttpRoute>().at(0).rules.size(), 2u);
  EXPECT_EQ(model.find<SecretObject>("demo", "listener")->find("tls.key")->reveal(), "secret");
  EXPECT_NE(model.find<Backend>(kGatewayGroup, "Backend", "demo", "origin"), nullptr);
  EXPECT_NE(model.find<Backend>(kExperimentalGroup, "XBackend", "demo", "x"), nullptr);
  EXPECT_EQ(model.find<Backend>(kGatewayGroup, "Backend", "demo", "x"), nullptr);
}

TEST(Load, SkipsEmptyDocumentsAndExpandsLists) {
  const Configuration configuration = loadText(
      "---\n---\napiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: "
      "{name: a}}\n"
      "- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: c}}\n");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_NE(configuration.model.find<ConfigMap>("default", "a"), nullptr);
  EXPECT_NE(configuration.model.find<ConfigMap>("c", "b"), nullptr);
}

TEST(Load, ReadsTheItemsOfAListOfOneKind) {
  const Configuration configuration = loadText(
      "apiVersion: v1\nkind: ConfigMapList\nmetadata: {resourceVersion: '7'}\nitems:\n- metadata: {name: a}\n"
      "- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: c}}\n"
      "- metadata: {name: Wrong}\n");
  EXPECT_NE(configuration.model.find<ConfigMap>("default", "a"), nullptr);
  EXPECT_NE(configuration.model.find<ConfigMap>("c", "b"), nullptr);
  ASSERT_EQ(configuration.problems.size(), 1u) << "of the item, at its own place";
  EXPECT_THAT(render(configuration.problems[0]),
              ::testing::StartsWith("config.yaml:7:20: error: ConfigMap default/Wrong: metadata.name: "));
}

TEST(Load, JudgesTheItemsOfAListAsTheyWouldBeJudgedAlone) {
  const std::string gateway = "metadata: {name: g}\n  spec: {gatewayClassName: a, listeners: [], surprise: 1}\n";
  const auto problemsOf = [&](const std::string& head, const std::string& item) {
    std::vector<std::string> messages;
    for (const Problem& each : loadText(head + "items:\n- " + item + gateway).problems)
      messages.push_back(each.object + ": " + each.field + ": " + each.message);
    return messages;
  };
  const std::string version = "apiVersion: gateway.networking.k8s.io/v1\n";
  const std::vector<std::string> single = problemsOf(version + "kind: GatewayList\n", "");
  EXPECT_FALSE(single.empty());
  EXPECT_EQ(single, problemsOf("apiVersion: v1\nkind: List\n", version + "  kind: Gateway\n  "));
}

TEST(Load, TakesNoUnknownKindForAList) {
  const Configuration configuration = loadText("apiVersion: a.test/v1\nkind: AllowList\nitems: [{a: 1}]\n");
  ASSERT_EQ(configuration.problems.size(), 1u);
  EXPECT_THAT(render(configuration.problems[0]), ::testing::HasSubstr("unknown kind \"AllowList\""));
}

TEST(Load, RefusesAListInsideAList) {
  const Configuration configuration =
      loadText("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n");
  EXPECT_EQ(configuration.problems.size(), 1u);
}

TEST(Load, RefusesTheWholeSetIfOneTextIsNotYaml) {
  const Configuration configuration = loadTexts({{"good.yaml", kCoreMap}, {"bad.yaml", "a: [\n"}}, base::Secret());
  EXPECT_FALSE(configuration.readable);
  EXPECT_TRUE(configuration.model.all<ConfigMap>().empty());
  ASSERT_EQ(configuration.problems.size(), 1u);
  EXPECT_THAT(render(configuration.problems[0]), ::testing::StartsWith("bad.yaml:2:1: error: not YAML"));
}

TEST(Load, PassesOverKindsThatAreNoConcernOfAGateway) {
  EXPECT_THAT(loadText(object("v1", "ServiceAccount", "a", "")).problems, ::testing::IsEmpty());
  EXPECT_THAT(loadText(object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "a", "")).problems,
              ::testing::IsEmpty());
  EXPECT_THAT(loadText(object("rbac.authorization.k8s.io/v1", "ClusterRole", "a", "rules: []\n")).problems,
              ::testing::IsEmpty());
  EXPECT_THAT(loadText("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n").problems,
              ::testing::IsEmpty());
  EXPECT_THAT(rendered(loadText(object("apps/v1", "NetworkPolicy", "a", "")).problems),
              ElementsAre("config.yaml:2:7: error: NetworkPolicy a: unknown kind \"NetworkPolicy\" of \"apps/v1\""));
}

TEST(Load, ReportsUnknownKindsWithASuggestion) {
  EXPECT_THAT(
      rendered(loadText(object("v1", "ConfigMop", "a", "")).problems),
      ElementsAre(
          "config.yaml:2:7: error: ConfigMop a: unknown kind \"ConfigMop\" of \"v1\": did you mean ConfigMap?"));
  EXPECT_THAT(rendered(loadText(object("v1", "Gateway", "a", "")).problems),
              ElementsAre("config.yaml:2:7: error: Gateway a: unknown kind \"Gateway\" of \"v1\": that is a kind of "
                          "gateway.networking.k8s.io/v1 or gateway.networking.k8s.io/v1beta1"));
  EXPECT_THAT(rendered(loadText(object("gateway.networking.k8s.io/v1", "TLSRoute", "a", "")).problems),
              ElementsAre("config.yaml:2:7: error: TLSRoute a: kind TLSRoute of gateway.networking.k8s.io/v1 is known, "
                          "but not supported yet; the object has no effect"));
  EXPECT_THAT(rendered(loadText("a: 1\n").problems),
              ElementsAre("config.yaml:1:1: error: must have apiVersion and kind"));
  EXPECT_THAT(rendered(loadText("- a\n").problems),
              ElementsAre("config.yaml:1:1: error: must be an object with apiVersion and kind"));
}

TEST(Load, RefusesAnObjectOfAnotherVersionAndKeepsWhatIsLegible) {
  const Configuration configuration = loadText(object("gateway.networking.k8s.io/v1alpha2", "HTTPRoute", "a",
                                                      "spec: {parentRefs: [{name: g}], hostnames: [b.c]}\n"));
  EXPECT_THAT(
      rendered(configuration.problems),
      ElementsAre("config.yaml:1:13: error: HTTPRoute default/a: apiVersion: must be gateway.networking.k8s.io/v1 or "
                  "v1beta1, but is \"gateway.networking.k8s.io/v1alpha2\""));
  const Rejected* rejected = configuration.model.findRejected(kGatewayGroup, "HTTPRoute", "default", "a");
  ASSERT_NE(rejected, nullptr);
  ASSERT_NE(rejected->legible<HttpRoute>(), nullptr);
  EXPECT_THAT(rejected->legible<HttpRoute>()->hostnames, ElementsAre("b.c"));
}

TEST(Load, RefusesASecondObjectOfTheSameNameAndKeepsTheFirst) {
  const Configuration configuration = loadText(kCoreMap + "---\n" + object("v1", "ConfigMap", "a", "data: {k: w}\n"));
  EXPECT_THAT(
      rendered(configuration.problems),
      ElementsAre("config.yaml:6:1: error: ConfigMap default/a: metadata.name: this object is defined twice, first at "
                  "config.yaml:1, which counts"));
  EXPECT_EQ(*configuration.model.find<ConfigMap>("default", "a")->find("k"), "v");
  EXPECT_TRUE(configuration.model.rejected.empty());
}

TEST(Load, RemembersARejectedObjectWithItsFirstProblem) {
  const Configuration configuration = loadText(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b, generation: 7}\ndata: {k: 1}\ndaat: {}\n");
  EXPECT_THAT(
      rendered(configuration.problems),
      ElementsAre(
          "config.yaml:4:11: error: ConfigMap b/a: data[\"k\"]: must be a string, but is a number: put it in quotes",
          "config.yaml:5:1: error: ConfigMap b/a: daat: unknown field: did you mean data?"));
  EXPECT_EQ(configuration.model.find<ConfigMap>("b", "a"), nullptr);
  const Rejected* rejected = configuration.model.findRejected("", "ConfigMap", "b", "a");
  ASSERT_NE(rejected, nullptr);
  EXPECT_EQ(rejected->generation, 7);
  EXPECT_EQ(rejected->message, "data[\"k\"]: must be a string, but is a number: put it in quotes");
}

TEST(Load, ShowsHowADocumentIsWrittenInAConfigMap) {
  const Configuration configuration = loadText(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata:\n  settings.yaml:\n    workers: 1\n"
      "  list: [1]\n");
  EXPECT_THAT(rendered(configuration.problems),
              ElementsAre("config.yaml:6:5: error: ConfigMap b/a: data[\"settings.yaml\"]: must be a string, but is a "
                          "map: write `settings.yaml: |` and the text below it, indented",
                          "config.yaml:7:9: error: ConfigMap b/a: data[\"list\"]: must be a string, but is a list: "
                          "write `list: |` and the text below it, indented"));
}

TEST(Load, AcceptsUnknownFieldsFromKubernetesWithAWarning) {
  Configuration configuration = loadText(kCoreMap);
  ASSERT_TRUE(configuration.problems.empty());
  Value root;
  root.kind = Value::Kind::kMap;
  const auto scalar = [](std::string text) {
    Value value;
    value.kind = Value::Kind::kString;
    value.text = std::move(text);
    return value;
  };
  Value metadata;
  metadata.kind = Value::Kind::kMap;
  metadata.members.push_back({"name", {}, scalar("a")});
  root.members = {{"apiVersion", {}, scalar("v1")},
                  {"kind", {}, scalar("ConfigMap")},
                  {"metadata", {}, metadata},
                  {"later", {}, scalar("x")}};
  std::vector<ObjectReading> readings;
  readObjects(root, {Severity::kWarning, base::Secret()}, readings);
  ObjectSet set;
  set.readings.push_back(std::make_shared<const std::vector<ObjectReading>>(std::move(readings)));
  configuration = load(set, nullptr);
  EXPECT_THAT(rendered(configuration.problems), ElementsAre("warning: ConfigMap default/a: later: unknown field"));
  EXPECT_NE(configuration.model.find<ConfigMap>("default", "a"), nullptr);
}

TEST(Load, IgnoresFieldsThatTheApiServerAdds) {
  const Configuration configuration = loadText(
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  uid: x\n  resourceVersion: '1'\n  managedFields: "
      "[{manager: kubectl}]\n"
      "  creationTimestamp: null\n  labels: {a: b}\n  annotations: {c: d}\nstatus: {anything: true}\n");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const ObjectMeta& meta = configuration.model.all<ConfigMap>().at(0).meta;
  EXPECT_EQ(meta.labels.at("a"), "b");
  EXPECT_EQ(meta.annotations.at("c"), "d");
  EXPECT_EQ(meta.generation, std::nullopt);
  EXPECT_EQ(meta.uid, "x");
  EXPECT_EQ(meta.resourceVersion, "1");
  EXPECT_EQ(meta.qualifiedName(), "default/a");
}

TEST(Load, AcceptsAnyVersionFieldsOfAnExportedObject) {
  const Configuration configuration =
      loadText("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: [1], resourceVersion: null}\n");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_EQ(configuration.model.all<ConfigMap>().at(0).meta.uid, "");
  EXPECT_EQ(configuration.model.all<ConfigMap>().at(0).meta.resourceVersion, "");
}

TEST(Load, ChecksMetadata) {
  EXPECT_THAT(rendered(loadText("apiVersion: v1\nkind: ConfigMap\n").problems),
              ElementsAre(HasSubstr("metadata: is required")));
  EXPECT_THAT(rendered(loadText("apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n").problems),
              ElementsAre(HasSubstr("metadata.name: is required")));
  EXPECT_THAT(rendered(loadText("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A, nam: x}\n").problems),
              ElementsAre(HasSubstr("metadata.name: must be a DNS name in lower case, but is \"A\""),
                          HasSubstr("metadata.nam: unknown field: did you mean name?")));
}

TEST(Load, ReadsSecretsFromDataAndStringDataAndTheLatterWins) {
  const Configuration configuration =
      loadText(object("v1", "Secret", "a", "data: {x: Zm9v, y: Zm9v}\nstringData: {y: bar}\n"));
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const SecretObject* secret = configuration.model.find<SecretObject>("default", "a");
  EXPECT_EQ(secret->find("x")->reveal(), "foo");
  EXPECT_EQ(secret->find("y")->reveal(), "bar");
  EXPECT_EQ(secret->find("z"), nullptr);
}

TEST(Load, NeverQuotesASecret) {
  const Configuration configuration =
      loadText(object("v1", "Secret", "a", "data: {x: 'hunter2!'}\nstringData: {y: [hunter3]}\n"));
  ASSERT_EQ(configuration.problems.size(), 2u);
  for (const std::string& line : rendered(configuration.problems))
    EXPECT_THAT(line, ::testing::Not(HasSubstr("hunter")));
}

TEST(Load, DecodesBinaryData) {
  const Configuration configuration = loadText(object("v1", "ConfigMap", "a", "data: {x: y}\nbinaryData: {z: Zm9v}\n"));
  EXPECT_EQ(*configuration.model.all<ConfigMap>().at(0).find("z"), "foo");
  EXPECT_THAT(rendered(loadText(object("v1", "ConfigMap", "a", "data: {x: y}\nbinaryData: {x: Zm9v}\n")).problems),
              ElementsAre(HasSubstr("is in data too")));
}

TEST(Load, ReadsFoldersInTheOrderOfFileNames) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "sluice-load-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "inner.yaml");
  std::ofstream(folder / "b.yaml") << object("v1", "ConfigMap", "b", "");
  std::ofstream(folder / "a.json") << R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})";
  std::ofstream(folder / "c.yml") << object("v1", "ConfigMap", "c", "x: y\n");
  std::ofstream(folder / "d.txt") << "not ours";
  std::ofstream(folder / ".hidden.yaml") << "not: ours";
  TextCache cache;
  const Configuration configuration = load(readPaths({folder.string()}, base::Secret(), cache), nullptr);
  ASSERT_EQ(configuration.model.all<ConfigMap>().size(), 2u);
  EXPECT_EQ(configuration.model.all<ConfigMap>()[0].meta.name, "a");
  EXPECT_THAT(rendered(configuration.problems),
              ElementsAre((folder / "c.yml").string() + ":4:1: error: ConfigMap default/c: x: unknown field"));
  std::filesystem::remove_all(folder);
}

TEST(Load, RefusesTheWholeSetForAMissingPathAndStillReportsOtherProblems) {
  const std::string path = ::testing::TempDir() + "sluice-load-test-" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << object("v1", "ConfigMap", "c", "x: y\n");
  TextCache cache;
  const Configuration configuration = load(readPaths({"/nonexistent/sluice", path}, base::Secret(), cache), nullptr);
  std::filesystem::remove(path);
  EXPECT_FALSE(configuration.readable);
  EXPECT_TRUE(configuration.model.rejected.empty());
  EXPECT_THAT(rendered(configuration.problems),
              ElementsAre(HasSubstr("cannot be read"), HasSubstr("ConfigMap default/c: x: unknown field")));
}

TEST(Load, ReportsTheMissingPath) {
  TextCache cache;
  const Configuration configuration = load(readPaths({"/nonexistent/sluice"}, base::Secret(), cache), nullptr);
  EXPECT_FALSE(configuration.readable);
  ASSERT_EQ(configuration.problems.size(), 1u);
  EXPECT_THAT(render(configuration.problems[0]), ::testing::StartsWith("/nonexistent/sluice: error: cannot be read"));
}

}  // namespace
}  // namespace sluice::config
