// Tests the effect of BackendTrafficPolicies on rules, also together with TrafficPolicies, and their statuses.
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
using ::testing::HasSubstr;

constexpr const char* kToRoute = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}]";
constexpr const char* kToGateway = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: egress}]";
constexpr const char* kToMain =
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route, sectionName: main}]";
/// There are two rules, "main" at /main and one at /, each with two Backends.
constexpr const char* kBalancedRules =
    "rules: [{name: main, matches: [{path: {value: /main}}], backendRefs: [{group: gateway.networking.k8s.io, kind: "
    "Backend, name: origin, port: 8080}, {group: gateway.networking.k8s.io, kind: Backend, name: other, port: 8080}]}, "
    "{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}, {group: "
    "gateway.networking.k8s.io, kind: Backend, name: other, port: 8080}]}]";

std::string envoyTraffic(const std::string& name, const std::string& target, const std::string& fields) {
  return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: " + name +
         ", generation: 2}\nspec: {" + target + ", " + fields + "}\n";
}
World envoyWorld(const std::vector<std::string>& policies, const std::string& gateway = std::string(kGateway)) {
  const std::string other = with(kBackend, "name: origin,", "name: other,");
  const std::string route = routeWithRules(kBalancedRules);
  std::vector<std::string_view> documents = {kClass, gateway, kBackend, other, route};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}
const routing::Rule& balancedRule(const World& world, const std::string& path = "/") {
  return *world.rule(test::RequestMaker("GET", "a.test", path));
}
std::string envoyAcceptance(const World& world, const std::string& name = "p") {
  return world.condition("BackendTrafficPolicy", name, "Accepted");
}

TEST(BackendTrafficPolicy, GivesRulesRetriesAndHealthInBothForms) {
  for (const char* fields : {"retry: {numRetries: 3, retryOn: {triggers: [gateway-error]}}, healthCheck: {passive: "
                             "{consecutive5XxErrors: 4}}",
                             "retryStrategy: {type: http, numRetries: 3, http: {retryOn: gateway-error}}, "
                             "healthChecking: {outlierDetection: {consecutive5XX: {threshold: 4}}}"}) {
    for (const char* target : {kToRoute, kToGateway}) {
      const World world = envoyWorld({envoyTraffic("p", target, fields)});
      const routing::Rule& rule = balancedRule(world);
      ASSERT_TRUE(rule.retry && rule.failover) << fields;
      EXPECT_EQ(rule.retry->attempts, 3u) << fields;
      EXPECT_TRUE(rule.retry->covers(504)) << fields;
      EXPECT_FALSE(rule.retry->covers(500)) << fields;
      EXPECT_EQ(rule.failover->members[0].passive.errors, 4u) << fields;
      EXPECT_EQ(envoyAcceptance(world), "True/Accepted") << fields;
      EXPECT_EQ(world.condition("BackendTrafficPolicy", "p", "ResolvedRefs"), "True/ResolvedRefs") << fields;
    }
  }
}

TEST(BackendTrafficPolicy, GivesWayFieldByField) {
  const World world =
      envoyWorld({envoyTraffic("gateway", kToGateway, "retry: {numRetries: 3}, healthCheck: {passive: {}}"),
                  envoyTraffic("route", kToRoute, "retry: {numRetries: 4}"),
                  envoyTraffic("rule", kToMain, "retry: {numRetries: 0}")});
  EXPECT_EQ(balancedRule(world).retry->attempts, 4u);
  EXPECT_TRUE(balancedRule(world).failover);
  EXPECT_FALSE(balancedRule(world, "/main").retry) << "retries are turned off";
  EXPECT_TRUE(balancedRule(world, "/main").failover);
}

TEST(BackendTrafficPolicy, BoundsTheOnlyAttemptIfItTurnsRetriesOff) {
  for (const char* target : {kToRoute, kToGateway}) {
    const World world = envoyWorld({envoyTraffic("p", target, "retry: {numRetries: 0, perRetry: {timeout: 3s}}")});
    EXPECT_FALSE(balancedRule(world).retry) << target;
    EXPECT_EQ(balancedRule(world).backendRequestTimeout, std::chrono::seconds(3)) << target;
  }
}

TEST(BackendTrafficPolicy, OfTwoKindsForOneTargetTheOldestCounts) {
  const auto aged = [](std::string policy, const std::string& year) {
    return with(policy, "generation: 2}", "generation: 2, creationTimestamp: \"" + year + "-01-01T00:00:00Z\"}");
  };
  const std::string own =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p, generation: 2}\nspec: {" +
      std::string(kToRoute) + ", retry: {attempts: 1}}\n";
  const std::string envoy = envoyTraffic("p", kToRoute, "retry: {numRetries: 4}");
  const World first = envoyWorld({aged(own, "2026"), aged(envoy, "2025")});
  EXPECT_EQ(balancedRule(first).retry->attempts, 4u);
  EXPECT_EQ(envoyAcceptance(first), "True/Accepted");
  EXPECT_EQ(first.condition("TrafficPolicy", "p", "Accepted"), "False/Conflicted");
  EXPECT_THAT(first.message("TrafficPolicy", "p", "Accepted"), HasSubstr("BackendTrafficPolicy default/p"));
  const World second = envoyWorld({aged(own, "2025"), aged(envoy, "2026")});
  EXPECT_EQ(balancedRule(second).retry->attempts, 1u);
  EXPECT_EQ(envoyAcceptance(second), "False/Conflicted");
  const World same = envoyWorld({own, envoy});
  EXPECT_EQ(balancedRule(same).retry->attempts, 4u) << "the group decides in the end";
}

TEST(BackendTrafficPolicy, SelectsObjectsByTheirLabels) {
  const std::string policy =
      envoyTraffic("p", "targetSelectors: [{kind: Gateway, matchLabels: {a: b}}]", "retry: {numRetries: 3}");
  EXPECT_FALSE(balancedRule(envoyWorld({policy})).retry);
  const World world = envoyWorld({policy}, with(kGateway, "name: egress,", "name: egress, labels: {a: b},"));
  EXPECT_EQ(balancedRule(world).retry->attempts, 3u);
  EXPECT_EQ(envoyAcceptance(world), "True/Accepted");
}

TEST(BackendTrafficPolicy, ClosesRulesForWhatIsNotSupported) {
  for (const char* target : {kToRoute, kToGateway}) {
    const World world =
        envoyWorld({envoyTraffic("p", target, "loadBalancer: {type: Random, endpointOverride: {}}, rateLimit: {}")});
    EXPECT_EQ(world.outcome(), "500") << target;
    EXPECT_EQ(world.outcome("a.test", "/main"), "500") << target;
    EXPECT_EQ(envoyAcceptance(world), "False/UnsupportedValue") << target;
    const std::string message = world.message("BackendTrafficPolicy", "p", "Accepted");
    EXPECT_THAT(message, HasSubstr("spec.loadBalancer.endpointOverride: endpointOverride is not supported")) << target;
    EXPECT_THAT(message, HasSubstr("spec.rateLimit: rateLimit is not supported")) << target;
  }
  const World rule = envoyWorld({envoyTraffic("p", kToMain, "matching: {stripAuthorityPort: true}")});
  EXPECT_EQ(rule.outcome(), "default/origin");
  EXPECT_EQ(rule.outcome("a.test", "/main"), "500");
  EXPECT_THAT(rule.message("HTTPRoute", "route", "PartiallyInvalid"),
              HasSubstr("BackendTrafficPolicy default/p: spec.matching: is for Gateways and listeners alone"));
}

TEST(BackendTrafficPolicy, OfAGatewayTellsThatGatewayWhatItCloses) {
  const World world = envoyWorld({envoyTraffic("p", kToGateway, "rateLimit: {}")});
  EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "True/UnsupportedValue");
  EXPECT_THAT(world.message("Gateway", "egress", "Degraded"), HasSubstr("spec.rateLimit"));
}

TEST(BackendTrafficPolicy, NamesWhatItLeavesOut) {
  const World world = envoyWorld({envoyTraffic("p", kToRoute, "telemetry: {}, retry: {numRetries: 11}")});
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(envoyAcceptance(world), "True/Accepted");
  const std::string message = world.message("BackendTrafficPolicy", "p", "Accepted");
  EXPECT_THAT(message, HasSubstr("spec.telemetry: telemetry is not supported (UnsupportedValue, ignored)"));
  EXPECT_THAT(message, HasSubstr("spec.retry.numRetries: at most 10 are made"));
}

TEST(BackendTrafficPolicy, OfBothFormsClosesWhatItNames) {
  const World world = envoyWorld({envoyTraffic("p", kToRoute, "retry: {}, retryStrategy: {}")});
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(envoyAcceptance(world), "False/Invalid");
  EXPECT_THAT(world.message("BackendTrafficPolicy", "p", "Accepted"), HasSubstr("must not mix the two forms"));
}

TEST(BackendTrafficPolicy, IsNotReportedWhereNoGatewayLeads) {
  const World world = envoyWorld({envoyTraffic(
      "p", "targetRefs: [{group: gateway.networking.k8s.io, kind: TCPRoute, name: route}]", "rateLimit: {}")});
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(envoyAcceptance(world), "");
}

TEST(BackendTrafficPolicy, HasAnAncestorForEachOfItsTargets) {
  const World world =
      envoyWorld({envoyTraffic("p",
                               "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: "
                               "route}, {group: gateway.networking.k8s.io, kind: Gateway, name: egress, "
                               "sectionName: web}]",
                               "retry: {}")});
  const config::ObjectStatus* status = world.status("BackendTrafficPolicy", "p");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->group, "gateway.envoyproxy.io");
  ASSERT_EQ(status->parents.size(), 2u);
  EXPECT_EQ(status->parents[0].parentRef.object.name, "route");
  EXPECT_EQ(status->parents[1].parentRef.sectionName, "web");
  EXPECT_EQ(status->parents[1].controllerName, "sluice.dev/egress-gateway");
  EXPECT_EQ(config::findCondition(status->parents[1].conditions, "Accepted")->observedGeneration, 2);
}

constexpr const char* kMerging = "mergeType: StrategicMerge, retry: {numRetries: 4}";

TEST(BackendTrafficPolicy, IsMergedWithTheOneForTheGatewayIfItsMergeTypeSaysSo) {
  const std::string gateway = envoyTraffic(
      "gateway", kToGateway,
      "retry: {numRetries: 1, retryOn: {triggers: [gateway-error]}}, timeout: {http: {requestTimeout: 9s}}");
  const World merged = envoyWorld(
      {gateway, envoyTraffic("p", kToMain, std::string(kMerging) + ", timeout: {tcp: {connectTimeout: 2s}}")});
  const routing::Rule& main = balancedRule(merged, "/main");
  ASSERT_TRUE(main.retry);
  EXPECT_EQ(main.retry->attempts, 4U);
  EXPECT_TRUE(main.retry->covers(502)) << "as the Gateway's says";
  EXPECT_TRUE(main.retry->budget);
  EXPECT_EQ(main.requestTimeout, std::chrono::seconds(9));
  EXPECT_EQ(main.backends.at(0).backend->connection.connectTimeout, std::chrono::seconds(2));
  EXPECT_EQ(balancedRule(merged).retry->attempts, 1U) << "it is for another rule";

  const World unmerged = envoyWorld({gateway, envoyTraffic("p", kToMain, "retry: {numRetries: 4}")});
  EXPECT_FALSE(balancedRule(unmerged, "/main").retry->covers(502)) << "a field counts as a whole";
  const World alone = envoyWorld({envoyTraffic("p", kToMain, kMerging)});
  EXPECT_EQ(balancedRule(alone, "/main").retry->attempts, 4U) << "it has no parent";
  EXPECT_FALSE(balancedRule(alone, "/main").retry->covers(502));
}

TEST(BackendTrafficPolicy, IsNotMergedWithOneOfAnotherForm) {
  const std::string proposed =
      envoyTraffic("gateway", kToGateway, "retryStrategy: {type: http, numRetries: 1, http: {retryOn: gateway-error}}");
  const World world = envoyWorld({proposed, envoyTraffic("p", kToMain, kMerging)});
  EXPECT_EQ(balancedRule(world, "/main").retry->attempts, 4U);
  EXPECT_FALSE(balancedRule(world, "/main").retry->covers(502));
}

TEST(BackendTrafficPolicy, KeepsTheRetryAndTheTimeoutOfTheRuleItselfWhenItIsMerged) {
  const std::string other = with(kBackend, "name: origin,", "name: other,");
  const std::string route = routeWithRules(with(kBalancedRules, "rules: [{name: main,",
                                                "rules: [{name: main, retry: {attempts: 2}, timeouts: {request: 3s},"));
  const std::string gateway = envoyTraffic("gateway", kToGateway, "timeout: {http: {requestTimeout: 9s}}");
  const std::string policy =
      envoyTraffic("p", kToMain, std::string(kMerging) + ", timeout: {http: {streamIdleTimeout: 5s}}");
  const World world({kClass, kGateway, kBackend, other, route, gateway, policy});
  EXPECT_EQ(balancedRule(world, "/main").retry->attempts, 2U);
  EXPECT_TRUE(balancedRule(world, "/main").retry->budget);
  EXPECT_EQ(balancedRule(world, "/main").requestTimeout, std::chrono::seconds(3));
  EXPECT_EQ(balancedRule(world, "/main").streamIdleTimeout, std::chrono::seconds(5));
}

TEST(BackendTrafficPolicy, ClosesTheRuleIfItIsNotValidTogetherWithItsParent) {
  const World world =
      envoyWorld({envoyTraffic("gateway", kToGateway, "healthCheck: {active: {type: HTTP, http: {path: /}}}"),
                  envoyTraffic("p", kToMain, "mergeType: JSONMerge, healthCheck: {active: {type: TCP, tcp: {}}}")});
  EXPECT_TRUE(balancedRule(world, "/main").failure);
  EXPECT_FALSE(balancedRule(world).failure);
  const std::string message = world.message("HTTPRoute", "route", "PartiallyInvalid");
  EXPECT_THAT(message, HasSubstr("spec.rules[0]: BackendTrafficPolicy default/p: merged with BackendTrafficPolicy "
                                 "default/gateway: spec.healthCheck.active"));
}

}  // namespace
}  // namespace sluice::compile
