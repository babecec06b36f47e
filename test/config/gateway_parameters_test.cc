#include "config/model/gateway_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>

#include "config/load/load.h"
#include "proxy/content/json.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadParameters(const std::string& spec) {
  return loadText(object("sluice.dev/v1alpha1", "GatewayParameters", "p", "spec: {" + spec + "}\n"));
}
GatewayParameters parametersWith(const std::string& spec) {
  const Configuration configuration = loadParameters(spec);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<GatewayParameters>().at(0);
}

TEST(GatewaysParameters, AreReadAsTheyAreWritten) {
  const GatewayParameters all = parametersWith(
      "replicas: 5, image: 'example.com/sluice:1', logLevel: debug, service: {type: NodePort}, "
      "resources: {limits: {memory: 1Gi, cpu: '2'}}, nodeSelector: {disk: ssd}, tolerations: [{operator: Exists}], "
      "affinity: {nodeAffinity: {}}");
  EXPECT_EQ(all.replicas, 5U);
  EXPECT_FALSE(all.autoscaling);
  EXPECT_EQ(all.image, "example.com/sluice:1");
  EXPECT_EQ(all.logLevel, "debug");
  EXPECT_EQ(all.serviceType, "NodePort");
  EXPECT_EQ(content::writeJson(all.resources.unpacked()), R"({"limits":{"memory":"1Gi","cpu":"2"}})");
  EXPECT_EQ(content::writeJson(all.nodeSelector.unpacked()), R"({"disk":"ssd"})");
  EXPECT_EQ(content::writeJson(all.tolerations.unpacked()), R"([{"operator":"Exists"}])");
  EXPECT_EQ(content::writeJson(all.affinity.unpacked()), R"({"nodeAffinity":{}})");
}

TEST(GatewaysParameters, MaySayNothing) {
  const GatewayParameters none = parametersWith("");
  EXPECT_FALSE(none.replicas);
  EXPECT_EQ(none.serviceType, "ClusterIP");
  EXPECT_TRUE(none.resources.isNull());
}

TEST(GatewaysParameters, MayScale) {
  const GatewayParameters scaled = parametersWith("autoscaling: {maxReplicas: 9}");
  EXPECT_EQ(scaled.autoscaling->minReplicas, 2U);
  EXPECT_EQ(scaled.autoscaling->maxReplicas, 9U);
  EXPECT_EQ(scaled.autoscaling->targetCpuUtilization, 70U);
}

TEST(GatewaysParameters, CannotChangeWhatTheGatewayClassDecides) {
  for (const char* setting :
       {"accessLog: {path: x}", "addressGuard: {allow: [10.0.0.0/8]}", "dns: {ipv6: true}", "egressPolicies: []",
        "errorDetail: Names", "extensionManager: {}", "extensionManagers: []", "identity: {}", "processorCatalogs: []",
        "revisions: {keep: 3}", "sessionPersistence: {}", "stateDir: /tmp"}) {
    const std::string key = std::string(setting).substr(0, std::string_view(setting).find(':'));
    EXPECT_THAT(rendered(loadParameters("settings: {" + std::string(setting) + "}").problems),
                Contains(HasSubstr("spec.settings." + key + ": is a setting of the GatewayClass")));
  }
  EXPECT_THAT(rendered(loadParameters("settings: {limits: {matches: 3}}").problems),
              Contains(HasSubstr("spec.settings.limits.matches: is a setting of the GatewayClass")));
}

TEST(GatewaysParameters, HaveBoundedFreeFormValues) {
  const std::string large = "{a: " + std::string(300000, 'x') + "}";
  for (const char* field : {"resources", "nodeSelector", "affinity"}) {
    EXPECT_THAT(rendered(loadParameters(std::string(field) + ": " + large).problems),
                Contains(HasSubstr("spec." + std::string(field) + ": has 300007 bytes, and 262144 are allowed")));
  }
  const auto inConfigMap = [](const std::string& text) {
    return rendered(loadText("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n  " +
                             std::string(ConfigMap::kParametersKey) + ": '" + text + "'\n")
                        .problems);
  };
  EXPECT_THAT(inConfigMap(std::string(300000, '[')),
              testing::ElementsAre(HasSubstr("gateway-parameters.yaml: has 300000 bytes, and 262144 are allowed")));
  EXPECT_THAT(inConfigMap("replicas: 3"), IsEmpty());
}

TEST(GatewaysParameters, AreDocumentedWithWhatTheyCannotChange) {
  const std::string page = fileText(SLUICE_SOURCE_DIR "/config/reference/kubernetes.md");
  const std::size_t begin = page.find("`settings` has every key of `settings.yaml`");
  const std::string paragraph = page.substr(begin, page.find("\n\n", begin) - begin);
  const std::string reader = fileText(SLUICE_SOURCE_DIR "/config/read/gateways/settings_reader.cc");
  const std::size_t table = reader.find("kOfGatewayClass[] = {");
  const std::string rows = reader.substr(table, reader.find("};", table) - table);
  static const std::regex kRow(R"re("([\w.]+)")re");
  int count = 0;
  for (auto row = std::sregex_iterator(rows.begin(), rows.end(), kRow); row != std::sregex_iterator(); ++row) {
    EXPECT_THAT(paragraph, HasSubstr("`" + (*row)[1].str() + "`"));
    ++count;
  }
  EXPECT_GT(count, 15);
}

TEST(GatewaysParameters, SayWhatIsWrongWithThem) {
  const std::pair<const char*, const char*> wrong[] = {
      {"replicas: 1001", "spec.replicas: "},
      {"replicas: 2, autoscaling: {maxReplicas: 3}", "spec.replicas: must not be given together with autoscaling"},
      {"autoscaling: {}", "spec.autoscaling.maxReplicas: is required"},
      {"autoscaling: {minReplicas: 4, maxReplicas: 3}", "spec.autoscaling.maxReplicas: must not be less than"},
      {"image: 'a b'", "spec.image: must be a reference to an image"},
      {"service: {type: ExternalName}", "spec.service.type: "},
      {"logLevel: loud", "spec.logLevel: "},
      {"resources: [1]", "spec.resources: must be a map"},
      {"tolerations: {}", "spec.tolerations: must be a list"},
      {"replica: 3", "spec.replica: unknown field"},
      {"settings: 3", "spec.settings: must be a map"},
      {"settings: {drainTime: 3s}", "spec.settings.drainTime: unknown field"},
      {"settings: {timeouts: {request: soon}}", "spec.settings.timeouts.request: "}};
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadParameters(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

}  // namespace
}  // namespace sluice::config
