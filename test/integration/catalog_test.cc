// Tests which payload processors a gateway reports as supported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kEdit = "{\"group\":\"sluice.dev\",\"kind\":\"HeaderModifier\",\"versions\":[\"v1\"]";

GatewaySpec specWith(const std::string& entry) {
  const std::string catalog =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: types}\ndata:\n  edit.yaml: |\n    " + entry +
      "\n";
  return {.backends = {{.port = 9}},
          .settings = "processorCatalogs: [{namespace: test, name: types}]",
          .routes = routeOfRules("    -\n" + backendRefs()) + "\n---\n" + catalog};
}

TEST(Catalog, IsAnAdminPageThatFollowsTheConfiguration) {
  GatewayProcess gateway(
      specWith("{type: 'sluice.dev/HeaderModifier:v1', engine: builtin, phases: [request-headers]}"));
  EXPECT_THAT(gateway.adminGet("/catalog"),
              HasSubstr("\"name\":\"test-extension-kinds\",\"namespace\":\"test\",\"key\":\"sluice.dev_HeaderModifier_"
                        "v1.schema.json\"}],\"engine\":"
                        "\"builtin\",\"phases\":[\"request-headers\"]}"));
  gateway.reload(specWith("{type: 'sluice.dev/HeaderModifier:v1', engine: builtin, phases: [response-headers]}"));
  EXPECT_THAT(gateway.adminGet("/catalog"), HasSubstr("\"phases\":[\"response-headers\"]"));
  gateway.reload(specWith("{type: 'sluice.dev/HeaderModifier:v1', engine: builtin, phases: [nonsense]}"));
  EXPECT_THAT(gateway.adminGet("/catalog"), Not(HasSubstr("HeaderModifier"))) << "a restriction that nobody can read";
}

constexpr const char* kFile =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\n"
    "spec:\n  controllerName: sluice.dev/egress-gateway\n"
    "  parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: ops}\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ops}\n"
    "data:\n  settings.yaml: |\n    processorCatalogs: [{namespace: ops, name: types}]\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: types, namespace: ops}\ndata:\n  edit.yaml: |\n"
    "    type: sluice.dev/HeaderModifier:v1\n    engine: builtin\n    phases: [";

class CatalogCommand : public testing::Test {
 protected:
  ProgramOutcome catalog(const std::string& phases, const std::vector<std::string>& more = {}) {
    const std::string path = folder_.write("a.yaml", kFile + phases + "]\n");
    std::vector<std::string> command = {programPath("sluice"), "catalog", "--config", path};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }

  TempDir folder_;
};

TEST_F(CatalogCommand, PrintsTheList) {
  const ProgramOutcome got = catalog("request-headers");
  EXPECT_EQ(got.exitCode, 0);
  EXPECT_THAT(got.output, StartsWith("[{\"group\":"));
  EXPECT_THAT(got.output, HasSubstr(kEdit));
}

TEST_F(CatalogCommand, PrintsTheObjectsThatPublishIt) {
  const ProgramOutcome got = catalog("request-headers", {"--publish", "sluice-system"});
  EXPECT_EQ(got.exitCode, 0);
  EXPECT_THAT(got.output, HasSubstr("\"name\":\"egress-extension-kinds\",\"namespace\":\"sluice-system\""));
  EXPECT_THAT(got.output,
              HasSubstr("\"sluice.dev/supported-extension-kinds\":\"sluice-system/egress-extension-kinds\""));
  EXPECT_THAT(got.output, HasSubstr("\"sluice.dev_HeaderModifier_v1.schema.json\":\"{"));
  EXPECT_THAT(got.output, HasSubstr("\"gateway.networking.k8s.io_CredentialInjector_v1.schema.json\":\"{"));
}

TEST_F(CatalogCommand, ReportsErrorsAndExitsWithOne) {
  const ProgramOutcome got = catalog("request-headres");
  EXPECT_EQ(got.exitCode, 1);
  EXPECT_THAT(got.output + got.errors, HasSubstr("a.yaml:22:"));
  EXPECT_THAT(got.output + got.errors, HasSubstr("ConfigMap ops/types: edit.yaml: phases[0]: must be"));
}

}  // namespace
}  // namespace sluice::test
