// Tests the reader of a Gateway's spec.tls.frontend: how its clients are verified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "config/load/object_reading.h"
#include "config/yaml/yaml_reader.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFrontendAuthority = "{group: '', kind: ConfigMap, name: ca}";

std::string gatewayVerifying(const std::string& frontend) {
  return object("gateway.networking.k8s.io/v1", "Gateway", "g",
                "spec:\n  gatewayClassName: c\n  tls: {frontend: " + frontend +
                    "}\n  listeners: [{name: a, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: s}]}}]\n");
}

Gateway gatewayWithFrontend(const std::string& frontend) {
  const Configuration configuration = loadText(gatewayVerifying(frontend));
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const auto& all = configuration.model.all<Gateway>();
  return all.empty() ? Gateway() : all.at(0);
}

std::vector<std::string> problemsOfFrontend(const std::string& frontend) {
  const Configuration refused = loadText(gatewayVerifying(frontend));
  EXPECT_THAT(refused.model.all<Gateway>(), IsEmpty()) << frontend << ": none of its listeners is served";
  return rendered(refused.problems);
}

TEST(Frontend, IsReadWithItsPorts) {
  const Gateway gateway =
      gatewayWithFrontend("{default: {validation: {caCertificateRefs: [" + std::string(kFrontendAuthority) +
                          ", {group: '', kind: Secret, namespace: keys, name: more}], mode: "
                          "AllowInsecureFallback}}, perPort: [{port: 8443, "
                          "tls: {validation: {caCertificateRefs: [" +
                          kFrontendAuthority + "], mode: AllowValidOnly}}}, {port: 9443, tls: {}}]}");
  EXPECT_THAT(gateway.unsupported, IsEmpty());
  ASSERT_TRUE(gateway.frontend && gateway.frontend->byDefault);
  const FrontendValidation& byDefault = *gateway.frontend->byDefault;
  EXPECT_TRUE(byDefault.insecureFallback);
  EXPECT_EQ(byDefault.path, "spec.tls.frontend.default.validation");
  EXPECT_EQ(byDefault.position.line, 6U);
  ASSERT_THAT(byDefault.caCertificateRefs, SizeIs(2));
  EXPECT_EQ(byDefault.caCertificateRefs[0].kind, "ConfigMap");
  EXPECT_EQ(byDefault.caCertificateRefs[0].nameSpace, "");
  const ObjectRef& second = byDefault.caCertificateRefs[1];
  EXPECT_EQ(second.group, "");
  EXPECT_EQ(second.kind, "Secret");
  EXPECT_EQ(second.nameSpace, "keys");
  EXPECT_EQ(second.name, "more");
  EXPECT_EQ(second.path, "spec.tls.frontend.default.validation.caCertificateRefs[1]");
  ASSERT_THAT(gateway.frontend->perPort, SizeIs(2));
  EXPECT_EQ(gateway.frontend->perPort[0].port, 8443);
  ASSERT_TRUE(gateway.frontend->perPort[0].validation);
  EXPECT_FALSE(gateway.frontend->perPort[0].validation->insecureFallback);
  EXPECT_EQ(gateway.frontend->perPort[0].validation->path, "spec.tls.frontend.perPort[0].tls.validation");
  EXPECT_EQ(gateway.frontend->perPort[1].port, 9443);
  EXPECT_FALSE(gateway.frontend->perPort[1].validation);
}

TEST(Frontend, MayVerifyNobody) {
  const Gateway gateway = gatewayWithFrontend("{default: {}}");
  EXPECT_THAT(gateway.unsupported, IsEmpty());
  ASSERT_TRUE(gateway.frontend);
  EXPECT_FALSE(gateway.frontend->byDefault);
  EXPECT_THAT(gateway.frontend->perPort, IsEmpty());
}

TEST(Frontend, ThatIsWrongRefusesTheGateway) {
  const std::string validation = "{validation: {caCertificateRefs: [" + std::string(kFrontendAuthority) + "]}}";
  const std::pair<std::string, std::string> wrong[] = {
      {"{}", "frontend.default: is required"},
      {"{perPort: []}", "frontend.default: is required"},
      {"{default: {validation: {}}}", "default.validation.caCertificateRefs: is required"},
      {"{default: {validation: {caCertificateRefs: []}}}", "caCertificateRefs: must have at least one item"},
      {"{default: {validation: {caCertificateRefs: [{kind: ConfigMap, name: a}]}}}",
       "caCertificateRefs[0].group: is required"},
      {"{default: {validation: {caCertificateRefs: [{group: '', name: a}]}}}",
       "caCertificateRefs[0].kind: is required"},
      {"{default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap}]}}}",
       "caCertificateRefs[0].name: is required"},
      {"{default: {validation: {caCertificateRefs: [" + std::string(kFrontendAuthority) + "], mode: AllowAll}}}",
       "validation.mode: must be AllowValidOnly or AllowInsecureFallback, but is \"AllowAll\""},
      {"{default: {validaton: {}}}", "default.validaton: unknown field: did you mean validation?"},
      {"{default: {}, perPort: [{tls: {}}]}", "perPort[0].port: is required"},
      {"{default: {}, perPort: [{port: 443}]}", "perPort[0].tls: is required"},
      {"{default: {}, perPort: [{port: 65536, tls: {}}]}", "perPort[0].port: must be between 1 and 65535"},
      {"{default: {}, perPort: [{port: 443, tls: {}}, {port: 443, tls: " + validation + "}]}",
       "perPort[1].port: repeats 443"},
  };
  for (const auto& [frontend, message] : wrong) {
    EXPECT_THAT(problemsOfFrontend(frontend), Contains(HasSubstr("spec.tls.frontend")).Times(1)) << frontend;
    EXPECT_THAT(problemsOfFrontend(frontend), ElementsAre(HasSubstr(message))) << frontend;
  }
}

TEST(Frontend, HasAtMostSixteenAuthoritiesAndSixtyFourPorts) {
  std::string authorities = kFrontendAuthority;
  for (int i = 0; i < 15; ++i) authorities += std::string(", ") + kFrontendAuthority;
  EXPECT_THAT(gatewayWithFrontend("{default: {validation: {caCertificateRefs: [" + authorities + "]}}}")
                  .frontend->byDefault->caCertificateRefs,
              SizeIs(16));
  EXPECT_THAT(problemsOfFrontend("{default: {validation: {caCertificateRefs: [" + authorities + ", " +
                                 kFrontendAuthority + "]}}}"),
              ElementsAre(EndsWith("caCertificateRefs: has 17 items; at most 16 are allowed")));
  std::string ports;
  for (int i = 1; i <= 64; ++i) ports += "{port: " + std::to_string(i) + ", tls: {}}, ";
  EXPECT_THAT(gatewayWithFrontend("{default: {}, perPort: [" + ports + "]}").frontend->perPort, SizeIs(64));
  EXPECT_THAT(problemsOfFrontend("{default: {}, perPort: [" + ports + "{port: 65, tls: {}}]}"),
              ElementsAre(EndsWith("perPort: has 65 items; at most 64 are allowed")));
}

TEST(Frontend, NamesFileAndLineOfAFault) {
  EXPECT_THAT(problemsOfFrontend("{default: {validation: {mode: None, caCertificateRefs: [" +
                                 std::string(kFrontendAuthority) + "]}}}"),
              ElementsAre(testing::StartsWith("config.yaml:6:")));
}

TEST(Frontend, OfALaterVersionClosesTheListeners) {
  // An API server may know fields that this program does not know. They could demand more of clients.
  Problems problems;
  const std::vector<Document> documents = readYaml(gatewayVerifying("{default: {validation: {caCertificateRefs: [" +
                                                                    std::string(kFrontendAuthority) + "], later: 1}}}"),
                                                   {}, problems);
  ObjectSet set;
  std::vector<ObjectReading> readings;
  readObjects(documents.at(0).root, {Severity::kWarning, base::Secret()}, readings);
  set.readings.push_back(std::make_shared<const std::vector<ObjectReading>>(std::move(readings)));
  const Configuration configuration = load(set, nullptr);
  ASSERT_THAT(configuration.model.all<Gateway>(), SizeIs(1));
  const Gateway& gateway = configuration.model.all<Gateway>().at(0);
  ASSERT_THAT(gateway.unsupported, SizeIs(1));
  EXPECT_EQ(gateway.unsupported[0].path, "spec.tls.frontend");
  EXPECT_TRUE(gateway.unsupported[0].altersTraffic);
}

}  // namespace
}  // namespace sluice::config
