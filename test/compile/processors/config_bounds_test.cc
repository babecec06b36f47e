// Tests the bounds of the configs of uses, and what a config costs that no request ever needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/load/text_cache.h"
#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"
#include "test/compile/processors/server_type.h"
#include "test/support/live_bytes.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using testing::HasSubstr;

/// Returns a World whose Backend has one use.
World worldWithUse(const std::string& type, const std::string& config, const std::string& limits = "") {
  const std::string limited =
      with(kClass, "spec: {",
           "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ") +
      "---\n" + test::configMap("settings", "settings.yaml", "limits: {" + limits + "}");
  const std::string backend =
      with(kBackend, "spec: {",
           "spec: {extensions: [{name: a, type: '" + type + "', phase: request-headers, config: {" + config + "}}], ");
  return World({limited, kGateway, kRoute, backend}, nullptr, test::typesWithServers());
}

std::string degraded(const World& world) { return world.condition("Backend", "origin", "Degraded"); }
std::string textOf(std::size_t bytes) { return "text: " + std::string(bytes, 'x'); }

TEST(ConfigBounds, RefuseTheUseOfALargerConfigWhateverItsType) {
  EXPECT_EQ(degraded(worldWithUse("sluice.dev/Test:v1", textOf(262000))), "");
  for (const char* type : {"sluice.dev/Test:v1", "acme.test/Absent:v1", "sluice.dev/ExtProc:v1"}) {
    const World world = worldWithUse(type, textOf(262144));
    EXPECT_EQ(degraded(world), "True/InvalidConfig") << type;
    EXPECT_THAT(world.message("Backend", "origin", "Degraded"),
                HasSubstr("spec.extensions[0].config: has 262154 bytes, and 262144 are allowed (limits.configBytes)"));
    EXPECT_EQ(world.outcome(), "500") << type;
  }
  EXPECT_EQ(degraded(worldWithUse("sluice.dev/Test:v1", textOf(262144), "configBytes: 1Mi")), "");
  EXPECT_EQ(degraded(worldWithUse("sluice.dev/Test:v1", textOf(1100), "configBytes: 1Ki")), "True/InvalidConfig");
}

TEST(ConfigBounds, RefuseTheUseOfTooManyReferences) {
  const auto servers = [](int count) {
    std::string list = "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}";
    for (int i = 1; i < count; ++i) list += ", {name: s}";
    return list + "]";
  };
  EXPECT_THAT(degraded(worldWithUse("sluice.dev/ExtProc:v1", servers(64))), testing::Not("True/InvalidConfig"));
  const World world = worldWithUse("sluice.dev/ExtProc:v1", servers(65));
  EXPECT_EQ(degraded(world), "True/InvalidConfig");
  EXPECT_THAT(
      world.message("Backend", "origin", "Degraded"),
      HasSubstr("spec.extensions[0].config.backendRefs: has 65 references, and 64 are allowed (limits.references)"));
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(degraded(worldWithUse("sluice.dev/Test:v1", servers(65))), "") << "they are no references of this type";
}

/// Everything that a process keeps of a configuration.
struct KeptConfiguration {
  void read(const std::vector<config::SourceText>& sources) {
    set = config::readTexts(sources, {}, base::Secret(), texts);
    loaded = config::load(set, nullptr);
    config::Problems problems;
    const processing::BuiltinTypes types = test::processorTypes();
    const auto catalog = config::CatalogCache().read(loaded.model, supportOf(types), problems);
    const SystemTrust trust = []() -> base::Result<std::shared_ptr<const pki::TrustStore>> {
      return base::Error::config("no bundle here");
    };
    result = compile::compile(loaded.model, {*catalog, types, trust}, cache);
  }

  config::TextCache texts;
  config::ObjectSet set;
  config::Configuration loaded;
  CompileCache cache;
  CompileResult result;
};

TEST(ConfigBounds, LetABackendThatNobodyNamesCostHardlyMoreThanItsText) {
  std::string list = "[1";
  for (int i = 1; i < 131000; ++i) list += ",1";
  const std::vector<config::SourceText> few = {{"class.yaml", std::string(kClass)},
                                               {"gateway.yaml", std::string(kGateway)}};
  std::vector<config::SourceText> many = few;
  std::size_t bytes = 0;
  for (int i = 0; i < 2; ++i) {
    many.push_back(
        {std::string(config::kApiServerPrefix) + std::to_string(i),
         R"({"apiVersion":"gateway.networking.k8s.io/v1alpha1","kind":"Backend","metadata":{"namespace":"a",)"
         R"("name":"b)" +
             std::to_string(i) +
             R"("},"spec":{"destination":{"type":"FQDN","fqdn":{"hostname":"a.test","port":80}},)"
             R"("extensions":[{"name":"a","type":"sluice.dev/Test:v1","phase":"request-headers","config":)"
             R"({"list":)" +
             list + "]}}]}}"});
    bytes += many.back().text.size();
  }
  KeptConfiguration kept;
  kept.read(few);
  const std::size_t before = sluice::test::liveBytes();
  kept.read(many);
  const std::size_t added = sluice::test::liveBytes() - before;
  ASSERT_EQ(kept.loaded.model.all<config::Backend>().size(), 2U);
  EXPECT_TRUE(kept.loaded.problems.empty());
  EXPECT_LT(added, 5 * bytes) << "for texts of " << bytes;
}

}  // namespace
}  // namespace sluice::compile
