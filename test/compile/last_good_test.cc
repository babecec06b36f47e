// Tests objects whose previous valid version is served: their statuses, and the served configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::string_view kServesOn = "; its previous valid version serves on";

/// Returns the next generation of `document` with an unknown field.
std::string bad(std::string_view document, const std::string& generation) {
  return with(document, "generation: " + generation, "generation: 1" + generation) + "surprise: 1\n";
}

class LastGoodTest : public ::testing::Test {
 protected:
  /// Returns the observedGeneration of the condition, whatever the shape of the status is.
  static std::optional<std::int64_t> observed(const World& world, std::string_view kind, std::string_view name) {
    const config::ObjectStatus& status = *world.status(kind, name);
    if (!status.parents.empty()) return status.parents.front().conditions.front().observedGeneration;
    if (!status.controllers.empty()) return status.controllers.front().conditions.front().observedGeneration;
    return status.conditions.front().observedGeneration;
  }

  const World good_{{kClass, kGateway, kBackend, kRoute}};
};

TEST_F(LastGoodTest, AGatewayStaysInServiceAndReportsTheProblem) {
  const World world({kClass, bad(kGateway, "4"), kBackend, kRoute}, &good_);
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.message("Gateway", "egress", "Accepted"), "surprise: unknown field" + std::string(kServesOn));
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  EXPECT_EQ(observed(world, "Gateway", "egress"), 14);
  EXPECT_FALSE(config::isHealthy(*world.status("Gateway", "egress")));
  EXPECT_TRUE(config::isHealthy(*world.status("HTTPRoute", "route")));
}

TEST_F(LastGoodTest, ARouteStaysInServiceAndReportsTheProblem) {
  const World world({kClass, kGateway, kBackend, bad(kRoute, "6")}, &good_);
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/Invalid");
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"), EndsWith(kServesOn));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(observed(world, "HTTPRoute", "route"), 16);
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
}

TEST_F(LastGoodTest, ARouteWithoutItsParentReportsBothProblems) {
  const World world({kClass, kBackend, bad(kRoute, "6")}, &good_);
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"), HasSubstr("surprise: unknown field"));
}

TEST_F(LastGoodTest, ABackendStaysInServiceAndIsDegraded) {
  const World world({kClass, kGateway, bad(kBackend, "5"), kRoute}, &good_);
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.condition("Backend", "origin", "Degraded"), "True/Invalid");
  EXPECT_THAT(world.message("Backend", "origin", "Degraded"), EndsWith(kServesOn));
  EXPECT_EQ(world.condition("Backend", "origin", "Available"), "True/Available");
  EXPECT_EQ(world.condition("Backend", "origin", "Programmed"), "True/Programmed");
  EXPECT_EQ(observed(world, "Backend", "origin"), 15);
  EXPECT_TRUE(config::isHealthy(*world.status("HTTPRoute", "route")));
}

TEST_F(LastGoodTest, ABackendThatCannotBeServedReportsThatFirst) {
  const std::string unserved = with(kBackend, "spec: {", "spec: {extensions: [{name: a, type: 'a.test/B:v1'}], ");
  const World before({kClass, kGateway, unserved, kRoute});
  const World world({kClass, kGateway, bad(unserved, "5"), kRoute}, &before);
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("Backend", "origin", "Degraded"), before.condition("Backend", "origin", "Degraded"));
  EXPECT_THAT(world.message("Backend", "origin", "Accepted"), HasSubstr("surprise: unknown field"));
  int degraded = 0;
  for (const config::Condition& each : world.status("Backend", "origin")->controllers.front().conditions) {
    degraded += each.type == "Degraded";
  }
  EXPECT_EQ(degraded, 1);
}

TEST_F(LastGoodTest, AGatewayClassStaysInServiceAndReportsTheProblem) {
  const World world({bad(kClass, "3"), kGateway, kBackend, kRoute}, &good_);
  EXPECT_TRUE(world.result().usable);
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "False/Invalid");
  EXPECT_THAT(world.message("GatewayClass", "sluice", "Accepted"), EndsWith(kServesOn));
  EXPECT_EQ(observed(world, "GatewayClass", "sluice"), 13);
}

TEST_F(LastGoodTest, ASetWithRefusedSettingsCannotBeServedAndAnswers500) {
  const std::string reference = with(kClass, "gateway}",
                                     "gateway, parametersRef: {group: '', kind: ConfigMap, "
                                     "namespace: default, name: settings}}");
  const World before(
      {reference, test::configMap("settings", "settings.yaml", "workers: 3\n"), kGateway, kBackend, kRoute});
  const World world(
      {reference, test::configMap("settings", "settings.yaml", "workers: many\n"), kGateway, kBackend, kRoute},
      &before);
  EXPECT_FALSE(world.result().usable);
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "False/InvalidParameters");
}

TEST_F(LastGoodTest, NothingIsReportedOnceTheObjectIsValidAgain) {
  const World broken({kClass, bad(kGateway, "4"), bad(kBackend, "5"), bad(kRoute, "6")}, &good_);
  const World again({kClass, bad(kGateway, "4"), bad(kBackend, "5"), bad(kRoute, "6")}, &broken);
  EXPECT_EQ(again.outcome(), "default/origin");
  const World mended({kClass, kGateway, kBackend, kRoute}, &again);
  EXPECT_EQ(mended.outcome(), "default/origin");
  for (const config::ObjectStatus& each : mended.result().statuses) EXPECT_TRUE(config::isHealthy(each)) << each.kind;
}

TEST_F(LastGoodTest, AnObjectThatWasNeverValidStillAnswers500) {
  const World nothing({kClass});
  EXPECT_EQ(World({kClass, kGateway, kBackend, bad(kRoute, "6")}, &nothing).outcome(), "500");
  EXPECT_EQ(World({kClass, bad(kGateway, "4"), kBackend, kRoute}, &nothing).outcome(), "500");
  EXPECT_EQ(World({kClass, kGateway, bad(kBackend, "5"), kRoute}, &nothing).outcome(), "500");
}

}  // namespace
}  // namespace sluice::compile
