#include "config/supported_kinds.h"

#include <gtest/gtest.h>

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
  v2.yaml: "{type: 'acme.test/Pii:v2', engine: lua, phases: [request-body], schemaRef: {name: types}}"
  v1.yaml: "{type: 'acme.test/Pii:v1', engine: lua, phases: [request-body], schemaRef: {name: types}}"
  v3.yaml: "{type: 'acme.test/Pii:v3', engine: lua, phases: [connect], schemaRef: {name: types}}"
  away.yaml: "{type: 'acme.test/Away:v1', engine: ext-proc, phases: [connect], schemaRef: {name: types}}"
  bad.yaml: "{type: 'acme.test/Bad:v1', engine: lua, phases: [connect], schemaRef: {name: nobody}}"
)";

std::shared_ptr<const Catalog> catalogOf(std::string_view text) {
  const Configuration loaded = loadText(text);
  EXPECT_EQ(rendered(loaded.problems), std::vector<std::string>());
  CatalogMemo memo;
  Problems problems;
  return memo.read(loaded.model,
                   {{{"sluice.dev/Edit:v1", {"request-headers", "connect"}, true, "{}"}}, {ProcessorEngine::kLua}},
                   problems);
}

constexpr std::string_view kList =
    R"([{"group":"acme.test","kind":"Pii","versions":["v3"],)"
    R"("schemaRefs":[{"apiVersion":"v1","kind":"ConfigMap","name":"types","namespace":"ops","key":"schema.json"}],)"
    R"("engine":"lua","phases":["connect"]},)"
    R"({"group":"acme.test","kind":"Pii","versions":["v1","v2"],)"
    R"("schemaRefs":[{"apiVersion":"v1","kind":"ConfigMap","name":"types","namespace":"ops","key":"schema.json"},)"
    R"({"apiVersion":"v1","kind":"ConfigMap","name":"types","namespace":"ops","key":"schema.json"}],)"
    R"("engine":"lua","phases":["request-body"]},)"
    R"({"group":"sluice.dev","kind":"Edit","versions":["v1"],"schemaRefs":[],"engine":"builtin",)"
    R"("phases":["request-headers","connect"]}])";

TEST(SupportedKinds, AreThoseThatCanBeUsed) { EXPECT_EQ(supportedKindsJson(*catalogOf(kEntries)), kList); }

TEST(SupportedKinds, ArePublishedInAConfigMapThatTheGatewayClassNames) {
  const auto list = content::parseJson(publishedKindsJson(*catalogOf(kEntries), "egress", "ops"));
  ASSERT_TRUE(list);
  const content::Value& configMap = list->find("items")->items.at(0);
  EXPECT_EQ(configMap.find("kind")->text, "ConfigMap");
  EXPECT_EQ(configMap.find("metadata")->find("name")->text, "egress-extension-kinds");
  EXPECT_EQ(configMap.find("metadata")->find("namespace")->text, "ops");
  EXPECT_EQ(configMap.find("data")->find("supportedExtensionKinds.json")->text, kList);
  const content::Value& gatewayClass = list->find("items")->items.at(1);
  EXPECT_EQ(gatewayClass.find("metadata")->find("name")->text, "egress");
  EXPECT_EQ(gatewayClass.find("metadata")->find("annotations")->find("sluice.dev/supported-extension-kinds")->text,
            "ops/egress-extension-kinds");
}

}  // namespace
}  // namespace sluice::config
