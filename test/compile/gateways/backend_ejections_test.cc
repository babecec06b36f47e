// Tests which ejections of rules a snapshot lists, by Backend.
#include "proxy/compile/gateways/backend_ejections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kEjectedShop =
    "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {ports: [{name: web, port: 80}]}";
constexpr std::string_view kEjectedSlice =
    "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: shop-1, labels: "
    "{kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: 8080}]\n"
    "endpoints: [{addresses: [10.0.0.1]}]";
constexpr std::string_view kRefToOrigin = "{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}";

std::string outlierPolicy(const std::string& target, const std::string& fields) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
         "gateway.networking.k8s.io, " +
         target + "}], " + fields + "}\n";
}
World outlierWorld(const std::string& rules, const std::string& policy, std::string_view gateway = kGateway) {
  return World(
      {kClass, gateway, kBackend, kEjectedShop, kEjectedSlice, routeWithRules("rules: [" + rules + "]"), policy});
}
/// Returns a line for each of the ejections: "Service/default/shop by RULE: endpoints whole".
std::vector<std::string> ejectionsOf(const World& world) {
  std::vector<std::string> lines;
  for (const routing::BackendEjections& each : world.snapshot().ejections) {
    lines.push_back(each.backend->object + " by " + each.rule + ":" + (each.endpoints != nullptr ? " endpoints" : "") +
                    (each.whole != nullptr ? " whole" : ""));
  }
  return lines;
}

TEST(BackendEjections, AreThoseOfEachRuleWithOutlierDetection) {
  const std::string shop = "{backendRefs: [{name: shop, port: 80}]}";
  const std::string passive =
      outlierPolicy("kind: HTTPRoute, name: route", "healthCheck: {passive: {consecutive5XxErrors: 7}}");
  EXPECT_THAT(
      ejectionsOf(outlierWorld(shop + ", {name: second, matches: [{path: {value: /b}}], backendRefs: [{name: shop, "
                                      "port: 80}]}",
                               passive)),
      ElementsAre("Service/default/shop by HTTPRoute default/route, rule 0: endpoints",
                  "Service/default/shop by HTTPRoute default/route, rule named second: endpoints"));
  EXPECT_THAT(ejectionsOf(outlierWorld(shop, "{}")), IsEmpty());
  EXPECT_THAT(ejectionsOf(outlierWorld("{backendRefs: [" + std::string(kRefToOrigin) + "]}", passive)), IsEmpty())
      << "one Backend with one name is never ejected";
}

TEST(BackendEjections, AreThoseOfTheMembersOfAFailOverToo) {
  const World world =
      outlierWorld("{backendRefs: [" + std::string(kRefToOrigin) + ", {name: shop, port: 80}]}",
                   outlierPolicy("kind: HTTPRoute, name: route", "healthCheck: {passive: {consecutive5XxErrors: 7}}"));
  EXPECT_THAT(ejectionsOf(world),
              ElementsAre("Backend.gateway.networking.k8s.io/default/origin by HTTPRoute default/route, rule 0: whole",
                          "Service/default/shop by HTTPRoute default/route, rule 0: endpoints whole"));
  ASSERT_EQ(world.snapshot().ejections.size(), 2U);
  const routing::Rule& rule = *world.rule(test::RequestMaker("GET", "a.test", "/"));
  EXPECT_EQ(world.snapshot().ejections[1].endpoints, rule.backends[1].outliers->ejections);
  EXPECT_EQ(world.snapshot().ejections[1].whole, rule.failover->members[1].health);
  EXPECT_EQ(rule.failover->rule, "HTTPRoute default/route, rule 0");
}

TEST(BackendEjections, AreNamedByTheGatewayWhosePolicyARuleInherits) {
  const std::string two =
      test::gatewayWith("{name: web, protocol: HTTP, port: 80}, {name: more, protocol: HTTP, port: 81}");
  const World world = outlierWorld(
      "{backendRefs: [{name: shop, port: 80}]}",
      outlierPolicy("kind: Gateway, name: egress", "healthCheck: {passive: {consecutive5XxErrors: 7}}"), two);
  EXPECT_THAT(
      ejectionsOf(world),
      ElementsAre("Service/default/shop by HTTPRoute default/route, rule 0, by Gateway default/egress: endpoints"))
      << "both listeners have the same ones";
}

TEST(BackendEjections, HaveTheEndpointsOfTheSnapshot) {
  const World world =
      outlierWorld("{backendRefs: [{name: shop, port: 80}]}",
                   outlierPolicy("kind: HTTPRoute, name: route", "healthCheck: {passive: {consecutive5XxErrors: 7}}"));
  ASSERT_EQ(world.snapshot().ejections.size(), 1U);
  EXPECT_EQ(world.snapshot().ejections[0].backend->endpoints,
            routing::Endpoints{(routing::Endpoint{"10.0.0.1", 8080})});
}

}  // namespace
}  // namespace sluice::compile
