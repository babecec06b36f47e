// Tests routes that no listener may take (allowedRoutes): they have a status, and cost hardly more than that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/load/load.h"
#include "test/compile/compile_world.h"
#include "test/compile/compiled_folder.h"
#include "test/support/live_bytes.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

std::string gatewayAdmitting(const std::string& from) {
  return with(kGateway, "port: 80}", "port: 80, allowedRoutes: {namespaces: {from: " + from + "}}}");
}
std::string teamRoute(const std::string& name = "route", const std::string& parents = "") {
  return with(with(kRoute, "name: route", "name: " + name + ", namespace: team"), "{name: egress}",
              "{name: egress, namespace: default}" + parents);
}
std::string teamBackend() { return with(kBackend, "name: origin", "name: origin, namespace: team"); }

TEST(TurnedAwayRoutes, AreNotAcceptedAndNothingIsSaidAboutTheirReferences) {
  // A parent that does not exist makes no difference.
  for (const char* more : {"", ", {name: absent, namespace: default}"}) {
    const World world({kClass, gatewayAdmitting("Same"), teamRoute("route", more)});
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NotAllowedByListeners") << more;
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "") << more;
    EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 0);
    EXPECT_EQ(world.outcome(), "404");
  }
  const World refused({kClass, gatewayAdmitting("Same"), with(teamRoute(), "rules: [{", "rules: [{surprise: 1, ")});
  EXPECT_EQ(refused.condition("HTTPRoute", "route", "Accepted"), "False/Invalid") << "its schema refuses it, too";
  EXPECT_EQ(refused.outcome(), "404");
  const World admitted({kClass, gatewayAdmitting("All"), teamRoute()});
  EXPECT_EQ(admitted.condition("HTTPRoute", "route", "ResolvedRefs"), "False/BackendNotFound");
}

TEST(TurnedAwayRoutes, AreServedOnceAListenerAdmitsThem) {
  test::CompiledFolder folder;
  folder.write("class.yaml", std::string(kClass));
  folder.write("backend.yaml", teamBackend());
  folder.write("route.yaml", teamRoute());
  for (int round = 0; round < 2; ++round) {
    folder.write("gateway.yaml", gatewayAdmitting("Same"));
    folder.compile();
    EXPECT_EQ(folder.rule("/"), nullptr);
    folder.write("gateway.yaml", gatewayAdmitting("All"));
    folder.compile();
    ASSERT_NE(folder.rule("/"), nullptr);
    EXPECT_EQ(folder.rule("/")->backends.at(0).backend->name, "team/origin");
  }
}

TEST(TurnedAwayRoutes, CostHardlyMoreThanTheirStatus) {
  constexpr int kRoutes = 30;
  std::string matches;
  for (int i = 0; i < 64; ++i) {
    matches += std::string(i == 0 ? "" : ", ") + "{path: {value: /" + std::string(20, 'p') + std::to_string(i) +
               "}, headers: [{name: x-a, value: " + std::string(60, 'v') + "}]}";
  }
  std::vector<config::SourceText> texts = {{"class.yaml", std::string(kClass)},
                                           {"gateway.yaml", gatewayAdmitting("Same")}};
  for (int i = 0; i < kRoutes; ++i) {
    const std::string name = "r" + std::to_string(i);
    texts.push_back({name + ".yaml", with(teamRoute(name), "rules: [{", "rules: [{matches: [" + matches + "], ")});
  }
  ASSERT_GT(texts.back().text.size(), 8000U);
  const config::Configuration loaded = config::loadTexts(texts, base::Secret());
  config::Problems problems;
  const auto catalog = config::CatalogCache().read(loaded.model, {}, problems);
  ASSERT_EQ(loaded.model.all<config::HttpRoute>().size(), static_cast<std::size_t>(kRoutes));
  const SystemTrust trust = []() -> base::Result<std::shared_ptr<const pki::TrustStore>> {
    return base::Error::config("no bundle here");
  };
  const processing::BuiltinTypes none;
  CompileCache cache;
  const std::size_t before = sluice::test::liveBytes();
  const CompileResult result = compile::compile(loaded.model, {*catalog, none, trust}, cache);
  EXPECT_LT(sluice::test::liveBytes() - before, std::size_t{kRoutes} * 8 * 1024);
  EXPECT_GE(result.statuses.size(), std::size_t{kRoutes});
}

}  // namespace
}  // namespace sluice::compile
