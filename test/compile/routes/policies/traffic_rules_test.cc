// Tests which settings rules inherit from TrafficPolicies for their Gateway and its listeners, and which policy takes
// precedence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;
using ::testing::HasSubstr;

constexpr const char* kGovernedGateway = "kind: Gateway, name: egress";
constexpr const char* kGovernedListener = "kind: Gateway, name: egress, sectionName: web";
constexpr const char* kGovernedRoute = "kind: HTTPRoute, name: route";
constexpr const char* kGovernedRule = "kind: HTTPRoute, name: route, sectionName: main";
constexpr const char* kGovernedListeners =
    "{name: web, protocol: HTTP, port: 80}, {name: other, protocol: HTTP, port: 81, hostname: b.test}";
/// There are two rules: "main" at /main and one at /, with two Backends each.
constexpr const char* kGovernedRules =
    "rules: [{name: main, matches: [{path: {value: /main}}], backendRefs: [{group: gateway.networking.k8s.io, kind: "
    "Backend, name: origin, port: 8080}, {group: gateway.networking.k8s.io, kind: Backend, name: other, port: 8080}]}, "
    "{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}, {group: "
    "gateway.networking.k8s.io, kind: Backend, name: other, port: 8080}]}]";

std::string governing(const std::string& name, const std::string& target, const std::string& fields) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name +
         ", generation: 2}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, " + target + "}], " + fields + "}\n";
}
/// Returns a policy with this number of attempts.
std::string retrying(const std::string& name, const std::string& target, int attempts) {
  return governing(name, target, "retry: {codes: [503], attempts: " + std::to_string(attempts) + "}");
}

World governedWorld(const std::vector<std::string>& policies, const std::string& route = routeWithRules(kGovernedRules),
                    const std::string& gateway = gatewayWith(kGovernedListeners)) {
  const std::string other = with(kBackend, "name: origin,", "name: other,");
  std::vector<std::string_view> documents = {kClass, gateway, kBackend, other, route};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}

const routing::Rule& governedAt(const World& world, const std::string& path = "/", std::uint16_t port = 80,
                                const std::string& host = "b.test") {
  return *world.rule(test::RequestMaker("GET", host, path), port);
}
/// Returns the attempts of three rules: that at / of the listener "web", the rule "main", and that at / of the listener
/// "other".
std::string attemptsIn(const World& world) {
  const auto attempts = [](const routing::Rule& rule) { return std::to_string(rule.retry ? rule.retry->attempts : 0); };
  return attempts(governedAt(world)) + " " + attempts(governedAt(world, "/main")) + " " +
         attempts(governedAt(world, "/", 81));
}

TEST(InheritedTraffic, IsThatOfTheMostSpecificPolicy) {
  const std::string gateway = retrying("gateway", kGovernedGateway, 1);
  const std::string listener = retrying("listener", kGovernedListener, 2);
  const std::string route = retrying("route", kGovernedRoute, 3);
  const std::string rule = retrying("rule", kGovernedRule, 4);
  EXPECT_EQ(attemptsIn(governedWorld({gateway})), "1 1 1");
  EXPECT_EQ(attemptsIn(governedWorld({gateway, retrying("never", kGovernedRule, 0)})), "1 0 1");
  EXPECT_EQ(attemptsIn(governedWorld({listener})), "2 2 0");
  EXPECT_EQ(attemptsIn(governedWorld({gateway, listener})), "2 2 1");
  EXPECT_EQ(attemptsIn(governedWorld({gateway, listener, route})), "3 3 3");
  EXPECT_EQ(attemptsIn(governedWorld({gateway, listener, rule})), "2 4 1");
  const World all = governedWorld({gateway, listener, route, rule});
  EXPECT_EQ(attemptsIn(all), "3 4 3");
  for (const char* name : {"gateway", "listener", "route", "rule"}) {
    EXPECT_EQ(all.condition("TrafficPolicy", name, "Accepted"), "True/Accepted") << name;
  }
}

TEST(InheritedTraffic, ReplacesWholeFields) {
  const World world = governedWorld(
      {governing("gateway", kGovernedGateway,
                 "retry: {codes: [500], attempts: 3, backoff: 1s}, healthCheck: {passive: {consecutive5XxErrors: 9}}"),
       governing("route", kGovernedRoute, "retry: {codes: [503]}")});
  const routing::Rule& rule = governedAt(world);
  EXPECT_FALSE(rule.retry->covers(500)) << "nothing of the field is merged";
  EXPECT_TRUE(rule.retry->covers(503));
  EXPECT_EQ(rule.retry->attempts, 1u);
  EXPECT_EQ(rule.retry->backoff, std::chrono::milliseconds(25));
  ASSERT_TRUE(rule.failover) << "the other field is inherited";
  EXPECT_EQ(rule.failover->members[0].passive.errors, 9u);
}

TEST(InheritedTraffic, ComesAfterTheRetryOfTheRuleItself) {
  const std::string route =
      routeWithRules(with(kGovernedRules, "{name: main, ", "{name: main, retry: {attempts: 5}, "));
  EXPECT_EQ(attemptsIn(governedWorld({retrying("gateway", kGovernedGateway, 1)}, route)), "1 5 1");
}

TEST(InheritedTraffic, ComesAfterTheTimeoutOfTheRuleItself) {
  const std::string route =
      routeWithRules(with(kGovernedRules, "{name: main, ", "{name: main, timeouts: {backendRequest: 0s}, "));
  const World world = governedWorld({governing("gateway", kGovernedGateway, "retry: {attemptTimeout: 5s}")}, route);
  EXPECT_EQ(governedAt(world).backendRequestTimeout, std::chrono::seconds(5));
  EXPECT_EQ(governedAt(world, "/main").backendRequestTimeout, base::Duration::zero()) << "the rule wants none";
}

TEST(InheritedTraffic, OfTwoPoliciesForOneGatewayIsThatOfTheOldest) {
  const World world = governedWorld({retrying("b", kGovernedGateway, 2), retrying("a", kGovernedGateway, 1)});
  EXPECT_EQ(attemptsIn(world), "1 1 1");
  EXPECT_EQ(world.condition("TrafficPolicy", "a", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("TrafficPolicy", "b", "Accepted"), "False/Conflicted");
  EXPECT_THAT(world.message("TrafficPolicy", "b", "Accepted"), HasSubstr("TrafficPolicy default/a"));
}

TEST(InheritedTraffic, IsThatOfEachGatewayForARouteOfSeveral) {
  const std::string route = with(routeWithRules(kGovernedRules), "parentRefs: [{name: egress}]",
                                 "parentRefs: [{name: egress}, {name: second}]");
  const std::string gateways =
      std::string(kGateway) + "---\n" + with(with(kGateway, "name: egress,", "name: second,"), "port: 80", "port: 82");
  const std::string fields = "retry: {codes: [503], attempts: ";
  const World world = governedWorld(
      {governing("first", kGovernedGateway, fields + "1}, healthCheck: {passive: {consecutive5XxErrors: 1}}"),
       governing("second", "kind: Gateway, name: second",
                 fields + "2}, healthCheck: {passive: {consecutive5XxErrors: 2}}")},
      route, gateways);
  const routing::Rule& first = governedAt(world);
  const routing::Rule& second = governedAt(world, "/", 82);
  EXPECT_EQ(first.retry->attempts, 1u);
  EXPECT_EQ(second.retry->attempts, 2u);
  ASSERT_TRUE(first.failover && second.failover);
  EXPECT_EQ(first.failover->members[0].passive.errors, 1u);
  EXPECT_EQ(second.failover->members[0].passive.errors, 2u);
  EXPECT_NE(first.failover->members[0].health, second.failover->members[0].health)
      << "one Gateway does not learn by the settings of another";
  EXPECT_NE(first.retry->budget, second.retry->budget);
}

TEST(InheritedTraffic, IsTakenByNoRuleOfAnotherGateway) {
  const std::string route =
      with(routeWithRules(kGovernedRules), "parentRefs: [{name: egress}]", "parentRefs: [{name: second}]");
  const std::string gateways =
      std::string(kGateway) + "---\n" + with(with(kGateway, "name: egress,", "name: second,"), "port: 80", "port: 82");
  const World world = governedWorld({retrying("gateway", kGovernedGateway, 1)}, route, gateways);
  EXPECT_FALSE(governedAt(world, "/", 82).retry);
}

TEST(InheritedTraffic, IsThatOfAnEgressGatewayToo) {
  const std::string gateway =
      with(with(kGateway, "gateway.networking.k8s.io/v1", "ainetworking.prototype.x-k8s.io/v0alpha0"), "kind: Gateway",
           "kind: EgressGateway");
  const std::string route =
      with(routeWithRules(kGovernedRules), "parentRefs: [{name: egress}]",
           "parentRefs: [{group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: egress}]");
  const std::string policy = with(retrying("p", "kind: EgressGateway, name: egress", 2),
                                  "group: gateway.networking.k8s.io", "group: ainetworking.prototype.x-k8s.io");
  const World world = governedWorld({policy}, route, gateway);
  EXPECT_EQ(governedAt(world).retry->attempts, 2u);
  EXPECT_EQ(world.condition("TrafficPolicy", "p", "Accepted"), "True/Accepted");
}

TEST(InheritedTraffic, KeepsWhatIsKnownOfBackendsOverACompilation) {
  World world = governedWorld({governing("gateway", kGovernedGateway, "retry: {}, healthCheck: {passive: {}}")});
  const auto health = governedAt(world).failover->members[0].health;
  const auto budget = governedAt(world).retry->budget;
  EXPECT_NE(health, governedAt(world, "/main").failover->members[0].health) << "each rule knows for itself";
  EXPECT_EQ(health, governedAt(world, "/", 81).failover->members[0].health) << "the listeners share a policy";
  world.recompile();
  EXPECT_EQ(governedAt(world).failover->members[0].health, health);
  EXPECT_EQ(governedAt(world).retry->budget, budget);
}

TEST(InheritedTraffic, KnowsForItselfAtAListenerWithAPolicyOfItsOwn) {
  const World world =
      governedWorld({governing("gateway", kGovernedGateway, "healthCheck: {passive: {}}"),
                     governing("listener", kGovernedListener, "healthCheck: {passive: {consecutive5XxErrors: 1}}")});
  EXPECT_NE(governedAt(world).failover->members[0].health, governedAt(world, "/", 81).failover->members[0].health);
}

TEST(InheritedTraffic, CompletesTheFailoverOfARoute) {
  const World world = governedWorld(
      {governing("gateway", kGovernedGateway, "healthCheck: {passive: {consecutive5XxErrors: 9}}"),
       governing("route", kGovernedRoute,
                 "failover: {priorities: [{backendRef: {group: gateway.networking.k8s.io, kind: Backend, name: "
                 "other}, priority: 1}]}")});
  const routing::Rule& rule = governedAt(world);
  ASSERT_TRUE(rule.failover);
  EXPECT_EQ(rule.failover->members[1].priority, 1u);
  EXPECT_EQ(rule.failover->members[0].passive.errors, 9u);
}

TEST(InheritedTraffic, HasChecksUnlessARouteHasAHealthCheckOfItsOwn) {
  const std::string gateway = governing("gateway", kGovernedGateway, "healthCheck: {active: {type: TCP}}");
  const World inheriting = governedWorld({gateway});
  const routing::Rule& rule = governedAt(inheriting);
  EXPECT_EQ(rule.healthChecks.size(), 2u);
  ASSERT_TRUE(rule.failover);
  EXPECT_EQ(rule.failover->members[0].check, rule.healthChecks[0]);
  EXPECT_EQ(rule.healthChecks, governedAt(inheriting, "/main").healthChecks) << "a Backend is asked once";
  EXPECT_EQ(inheriting.snapshot().checked.size(), 2u);
  const World own = governedWorld({gateway, governing("route", kGovernedRoute, "healthCheck: {passive: {}}")});
  EXPECT_TRUE(governedAt(own).healthChecks.empty()) << "the field counts as a whole";
  EXPECT_TRUE(own.snapshot().checked.empty());
}

TEST(InheritedTraffic, OfAPolicyThatIsWrongClosesTheRules) {
  const World world = governedWorld({governing("listener", kGovernedListener, "retry: {attempts: -1}")});
  EXPECT_EQ(world.outcome("b.test"), "500");
  EXPECT_EQ(world.outcome("b.test", "/main"), "500");
  EXPECT_EQ(world.outcome("b.test", "/", 81), "default/origin") << "the other listener";
  EXPECT_EQ(world.condition("TrafficPolicy", "listener", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "True/Invalid");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Degraded"), "True/Invalid");
  EXPECT_EQ(world.listenerCondition("egress", "other", "Degraded"), "");
}

TEST(InheritedTraffic, ReportsATargetThatIsNotThere) {
  const World world = governedWorld({retrying("a", "kind: Gateway, name: egress, sectionName: absent", 1),
                                     retrying("b", "kind: Gateway, name: absent", 1)});
  EXPECT_EQ(attemptsIn(world), "0 0 0");
  EXPECT_EQ(world.condition("TrafficPolicy", "a", "Accepted"), "False/TargetNotFound");
  EXPECT_EQ(world.condition("TrafficPolicy", "b", "Accepted"), "False/TargetNotFound");
}

}  // namespace
}  // namespace sluice::compile
