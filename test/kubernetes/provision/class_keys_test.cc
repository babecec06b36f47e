#include "proxy/kubernetes/provision/class_keys.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/base/base64.h"
#include "proxy/kubernetes/provision/gateway_access.h"
#include "proxy/kubernetes/provision/gateway_pods.h"
#include "test/kubernetes/provision/gateway_fixture.h"

namespace sluice::kubernetes {
namespace {

constexpr const char* kNamesBoth =
    "sessionPersistence: {secretRef: {namespace: sluice-system, name: s, key: new, previousKey: old}}, revisions: "
    "{keyRef: "
    "{namespace: sluice-system, name: s, key: revision}}";

/// A class with these settings and a Secret with three keys, of which two are long enough.
config::Model classWith(const std::string& settings) {
  const std::string longKey(32, 'k');
  return config::loadText(
             "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec: "
             "{controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: "
             "sluice-system, name: settings}}\n---\n"
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: sluice-system, name: settings}\ndata: "
             "{settings.yaml: '{" +
             settings +
             "}'}\n---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: sluice-system, name: s}\n"
             "stringData: {new: " +
             longKey + "1, old: " + longKey + "2, revision: short}\n")
      .model;
}

std::string entry(const std::optional<ProvisionedObject>& keys, const std::string& name) {
  return keys ? base::decodeBase64(fieldAt(*keys, "data|" + name)).value_or("") : std::string();
}

TEST(ClassKeys, AreDerivedForEachGateway) {
  const RunGateway gateway(kListenersOfTwoPorts);
  const config::Model model = classWith(kNamesBoth);
  GatewayToRun run = gateway.run();
  const auto keys = classKeysOf(run, model);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->path(), "/api/v1/namespaces/demo/secrets/egress-sluice-keys");
  EXPECT_EQ(keys->owner, "u-1");
  EXPECT_EQ(entry(keys, "session").size(), 32U);
  EXPECT_EQ(entry(keys, "session-previous").size(), 32U);
  EXPECT_NE(entry(keys, "session"), entry(keys, "session-previous"));
  EXPECT_EQ(entry(keys, "revision"), "") << "it could be guessed";
  EXPECT_EQ(keys->body.find("kkkk"), std::string::npos) << "the class's own key stays where it is";
  run.uid = "u-2";
  EXPECT_NE(entry(classKeysOf(run, model), "session"), entry(keys, "session"));
}

TEST(ClassKeys, ThatWereReplacedArePreviousOnes) {
  const RunGateway gateway(kListenersOfTwoPorts);
  const auto before = classKeysOf(
      gateway.run(), classWith("sessionPersistence: {secretRef: {namespace: sluice-system, name: s, key: old}}"));
  const auto now = classKeysOf(gateway.run(), classWith(kNamesBoth));
  EXPECT_EQ(entry(now, "session-previous"), entry(before, "session"));
  EXPECT_EQ(entry(before, "session-previous"), "");
}

TEST(ClassKeys, AreNoneIfTheSettingsNameNone) {
  const RunGateway gateway(kListenersOfTwoPorts);
  EXPECT_FALSE(classKeysOf(gateway.run(), classWith("")));
}

TEST(ClassKeys, AreNamedByThePods) {
  const RunGateway gateway(kListenersOfTwoPorts);
  GatewayToRun run = gateway.run();
  const auto args = [&] {
    return fieldAt(only(podsOf(run), provisioned::kDeployment), "spec|template|spec|containers|0|args");
  };
  EXPECT_EQ(args().find("--class-keys"), std::string::npos);
  run.classKeys = nameOfClassKeys(run.gateway);
  EXPECT_NE(args().find("\"--class-keys\",\"egress-sluice-keys\""), std::string::npos) << args();
  const std::string role = fieldAt(only(accessOf(run, {}), provisioned::kRole), "rules");
  EXPECT_NE(role.find("\"resourceNames\":[\"egress-sluice-keys\"]"), std::string::npos) << role;
}

}  // namespace
}  // namespace sluice::kubernetes
