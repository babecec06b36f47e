#include "config/catalog/supported_kinds.h"

#include <gtest/gtest.h>

#include "config/catalog/catalog_cache.h"
#include "proxy/content/json.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

constexpr std::string_view kEntries = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: egress}
spec: {controllerName: sluice.dev/egress-gateway,
       parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: ops}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: ops}
data: {settings.yaml: "processorCatalogs: [{namespace: ops, name: types}]"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: types, namespace: ops}
data:
  schema.json: "{}"
  v2.yaml: "{type: 'acme.test/Pii:v2', engine: lua, phases: [request-body], schemaRef: {name: types}, lua: {script: x}}"
  v1.yaml: "{type: 'acme.test/Pii:v1', engine: lua, phases: [request-body], schemaRef: {name: types}, lua: {script: x}}"
  v3.yaml: "{type: 'acme.test/Pii:v3', engine: lua, phases: [connect], schemaRef: {name: types}, lua: {script: x}}"
  away.yaml: "{type: 'acme.test/Away:v1', engine: ext-proc, phases: [connect], schemaRef: {name: types}}"
  bad.yaml: "{type: 'acme.test/Bad:v1', engine: lua, phases: [connect], schemaRef: {name: nobody}, lua: {script: x}}"
)";

std::shared_ptr<const Catalog> catalogOf(const Model& model) {
  CatalogCache cache;
  Problems problems;
  return cache.read(model, {{{"sluice.dev/Edit:v1", {"request-headers", "connect"}, true, "{}"}}, {"lua"}}, problems);
}

Model modelOf(std::string_view text) {
  Configuration loaded = loadText(text);
  EXPECT_EQ(rendered(loaded.problems), std::vector<std::string>());
  return std::move(loaded.model);
}

std::string kindsOf(std::string_view text) {
  const Model model = modelOf(text);
  return supportedKindsJson(*catalogOf(model), kindsConfigMap(model));
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kEntries);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string kList =
    R"([{"group":"acme.test","kind":"Pii","versions":["v3"],)"
    R"("schemaRefs":[{"apiVersion":"v1","kind":"ConfigMap","name":"types","namespace":"ops","key":"schema.json"}],)"
    R"("engine":"lua","phases":["connect"]},)"
    R"({"group":"acme.test","kind":"Pii","versions":["v1","v2"],)"
    R"("schemaRefs":[{"apiVersion":"v1","kind":"ConfigMap","name":"types","namespace":"ops","key":"schema.json"},)"
    R"({"apiVersion":"v1","kind":"ConfigMap","name":"types","namespace":"ops","key":"schema.json"}],)"
    R"("engine":"lua","phases":["request-body"]},)"
    R"({"group":"sluice.dev","kind":"Edit","versions":["v1"],"schemaRefs":)";
constexpr const char* kEnd = R"("key":"sluice.dev_Edit_v1.schema.json"}],"engine":"builtin",)"
                             R"("phases":["request-headers","connect"]}])";
const std::string kBuiltinRef =
    R"([{"apiVersion":"v1","kind":"ConfigMap","name":"egress-extension-kinds","namespace":"ops",)";

TEST(SupportedKinds, AreTheUsableTypes) { EXPECT_EQ(kindsOf(kEntries), kList + kBuiltinRef + kEnd); }

TEST(SupportedKinds, ReferToSchemasInTheConfigMapThatTheAnnotationNames) {
  const auto annotated = [](const std::string& value) {
    return kindsOf(replaced("{name: egress}",
                            "{name: egress, annotations: {sluice.dev/supported-extension-kinds: '" + value + "'}}"));
  };
  EXPECT_EQ(annotated("ops/kinds"),
            kList + R"([{"apiVersion":"v1","kind":"ConfigMap","name":"kinds","namespace":"ops",)" + kEnd);
  for (const char* wrong : {"", "kinds", "/kinds", "ops/"}) {
    EXPECT_EQ(annotated(wrong), kList + kBuiltinRef + kEnd) << wrong;
  }
}

TEST(SupportedKinds, ReferToTheDefaultNamespaceIfTheClassHasNoSettings) {
  const std::string bare =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\nspec: {controllerName: "
      "sluice.dev/egress-gateway}\n";
  const std::string edit = R"([{"group":"sluice.dev","kind":"Edit","versions":["v1"],"schemaRefs":)";
  EXPECT_EQ(kindsOf(bare), edit + R"([{"apiVersion":"v1","kind":"ConfigMap","name":"egress-extension-kinds",)" +
                               R"("namespace":"default",)" + kEnd);
  EXPECT_EQ(kindsOf(""), edit + R"([],"engine":"builtin","phases":["request-headers","connect"]}])") << "no class";
}

TEST(SupportedKinds, ArePublishedInAConfigMapThatTheGatewayClassNames) {
  const auto list = content::parseJson(publishedKindsJson(*catalogOf(modelOf(kEntries)), "egress", "ops"));
  ASSERT_TRUE(list);
  const content::Value& configMap = list->find("items")->items.at(0);
  EXPECT_EQ(configMap.find("kind")->text, "ConfigMap");
  EXPECT_EQ(configMap.find("metadata")->find("name")->text, "egress-extension-kinds");
  EXPECT_EQ(configMap.find("metadata")->find("namespace")->text, "ops");
  EXPECT_EQ(configMap.find("data")->find("supportedExtensionKinds.json")->text, kList + kBuiltinRef + kEnd);
  EXPECT_EQ(configMap.find("data")->members.size(), 3U) << "schemas of others are where their entries say";
  EXPECT_EQ(configMap.find("data")->find("types")->text,
            "acme.test/Pii:v1\nacme.test/Pii:v2\nacme.test/Pii:v3\nsluice.dev/Edit:v1\n");
  EXPECT_EQ(configMap.find("data")->find("sluice.dev_Edit_v1.schema.json")->text, "{}");
  const content::Value& gatewayClass = list->find("items")->items.at(1);
  EXPECT_EQ(gatewayClass.find("metadata")->find("name")->text, "egress");
  EXPECT_EQ(gatewayClass.find("metadata")->find("annotations")->find("sluice.dev/supported-extension-kinds")->text,
            "ops/egress-extension-kinds");
}

}  // namespace
}  // namespace sluice::config
