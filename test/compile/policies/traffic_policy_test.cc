// Tests the effect of TrafficPolicies on the rules that they target, namely retries and fail-over, and their statuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
using ::testing::HasSubstr;

std::string refOf(const std::string& name, int weight = 1) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name +
         ", port: 8080, weight: " + std::to_string(weight) + "}";
}
std::string priorityOf(const std::string& name, int priority) {
  return "{backendRef: {group: gateway.networking.k8s.io, kind: Backend, name: " + name +
         "}, priority: " + std::to_string(priority) + "}";
}
std::string trafficPolicy(const std::string& fields, const std::string& section = {}, const std::string& name = "p") {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name +
         "}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route" +
         (section.empty() ? "" : ", sectionName: " + section) + "}], " + fields + "}\n";
}
/// Makes two rules: "chat" at /chat with two Backends, of which the second has no weight, and one at /.
World trafficWorld(const std::string& policies, const std::string& rule = {}) {
  const std::string rules = "rules: [{name: chat, " + rule + "matches: [{path: {value: /chat}}], backendRefs: [" +
                            refOf("origin") + ", " + refOf("other", 0) + "]}, {backendRefs: [" + refOf("origin") +
                            ", " + refOf("other") + "]}]";
  return World(
      {kClass, kGateway, kBackend, with(kBackend, "name: origin,", "name: other,"), routeWithRules(rules), policies});
}
const routing::Rule& ruleServing(const World& world, const std::string& path) {
  return *world.rule(test::RequestMaker("GET", "a.test", path));
}

TEST(TrafficPolicyCompilation, GivesRulesRetriesAndPriorities) {
  const World world = trafficWorld(trafficPolicy(
      "retry: {codes: [503], attempts: 2}, failover: {priorities: [" + priorityOf("origin", 2) + ", " +
      priorityOf("other", 5) + "], maxRetryAfter: 5s}, healthCheck: {passive: {consecutive5XxErrors: 7}}"));
  const routing::Rule& chat = ruleServing(world, "/chat");
  ASSERT_TRUE(chat.retry && chat.failover);
  EXPECT_TRUE(chat.retry->covers(503));
  EXPECT_EQ(chat.retry->attempts, 2u);
  ASSERT_EQ(chat.failover->members.size(), 2u);
  EXPECT_EQ(chat.failover->members[0].priority, 0u);
  EXPECT_EQ(chat.failover->members[1].priority, 1u);
  EXPECT_EQ(chat.failover->members[1].weight, 1u) << "it stands by";
  EXPECT_EQ(chat.failover->longestRest, std::chrono::seconds(5));
  EXPECT_EQ(chat.failover->members[0].passive.errors, 7u);
  EXPECT_EQ(world.condition("TrafficPolicy", "p", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("TrafficPolicy", "p", "ResolvedRefs"), "True/ResolvedRefs");
}

TEST(TrafficPolicyCompilation, CountsFieldByFieldForARuleBeforeItsRoute) {
  const World world = trafficWorld(trafficPolicy("retry: {attempts: 1}, healthCheck: {passive: {}}") + "---\n" +
                                   trafficPolicy("retry: {attempts: 3}", "chat", "of-chat"));
  EXPECT_EQ(ruleServing(world, "/chat").retry->attempts, 3u);
  EXPECT_TRUE(ruleServing(world, "/chat").failover);
  EXPECT_EQ(ruleServing(world, "/").retry->attempts, 1u);
}

TEST(TrafficPolicyCompilation, LeavesARulesOwnRetry) {
  const World world = trafficWorld(trafficPolicy("retry: {attempts: 5}"), "retry: {attempts: 2}, ");
  EXPECT_EQ(ruleServing(world, "/chat").retry->attempts, 2u);
  EXPECT_EQ(ruleServing(world, "/").retry->attempts, 5u);
}

TEST(TrafficPolicyCompilation, BoundsTheRetriesOfRules) {
  const World world = trafficWorld(trafficPolicy("retry: {budget: {percent: 0}}") + "---\n" +
                                   trafficPolicy("retry: {budget: {minPerSecond: 3}}", "chat", "of-chat"));
  const base::RetryBudgetSettings settings{.percent = 7, .minPerSecond = 8};
  EXPECT_EQ(ruleServing(world, "/").retry->bounds.over(settings), (routing::RetryBounds{0, 8}));
  EXPECT_EQ(ruleServing(world, "/chat").retry->bounds.over(settings), (routing::RetryBounds{7, 3}));
}

TEST(TrafficPolicyCompilation, BoundsTheRetriesOfRulesThatAreOnTheirWay) {
  const World world =
      trafficWorld(trafficPolicy("retry: {budget: {minConcurrent: 2, maxConcurrent: 9}}, "
                                 "circuitBreaker: {maxParallelRetries: 5}") +
                       "---\n" + trafficPolicy("retry: {budget: {maxConcurrent: 3}}", "chat", "of-chat"),
                   "retry: {attempts: 2}, ");
  const routing::RetryBounds bounds = ruleServing(world, "/").retry->bounds.over({});
  EXPECT_EQ(bounds.minConcurrent, 2U);
  EXPECT_EQ(bounds.maxConcurrent, 5U) << "the lower of the two";
  const routing::RetryBounds ofChat = ruleServing(world, "/chat").retry->bounds.over({});
  EXPECT_EQ(ofChat.maxConcurrent, 5U) << "its own retry comes before that of the policy, but has no circuit breaker";
}

TEST(TrafficPolicyCompilation, BoundsAttemptsOfRulesThatDoNotSayWhatBoundsThem) {
  const std::string bounding = trafficPolicy("retry: {attempts: 2, attemptTimeout: 5s, attemptIdleTimeout: 3s}");
  const std::string own = "timeouts: {backendRequest: 7s}, ";
  const World world = trafficWorld(bounding, own);
  EXPECT_EQ(ruleServing(world, "/chat").backendRequestTimeout, std::chrono::seconds(7));
  EXPECT_EQ(ruleServing(world, "/").backendRequestTimeout, std::chrono::seconds(5));
  const World unbounded = trafficWorld(bounding, "timeouts: {backendRequest: 0s}, ");
  EXPECT_EQ(ruleServing(unbounded, "/chat").backendRequestTimeout, base::Duration::zero());
  EXPECT_EQ(ruleServing(unbounded, "/chat").retry->attempts, 2u);
}

TEST(TrafficPolicyCompilation, KeepsABackendOutThatHasNoWeightAndNoPriority) {
  const World world = trafficWorld(trafficPolicy("failover: {}"));
  EXPECT_EQ(ruleServing(world, "/chat").failover->members[1].weight, 0u);
}

TEST(TrafficPolicyCompilation, KeepsABackendOutThatHasNoWeightBesideOneThatHas) {
  const World world = trafficWorld(
      trafficPolicy("failover: {priorities: [" + priorityOf("origin", 1) + ", " + priorityOf("other", 1) + "]}"));
  EXPECT_EQ(ruleServing(world, "/chat").failover->members[1].weight, 0u);
}

TEST(TrafficPolicyCompilation, SaysWhichPriorityIsForNoBackendRef) {
  const auto priorities = [](const std::string& second) {
    return trafficPolicy("failover: {priorities: [" + priorityOf("origin", 0) + ", " + second + "]}");
  };
  const World world = trafficWorld(priorities(priorityOf("othr", 1)));
  EXPECT_EQ(world.condition("TrafficPolicy", "p", "ResolvedRefs"), "False/BackendNotFound");
  EXPECT_EQ(world.message("TrafficPolicy", "p", "ResolvedRefs"),
            "spec.failover.priorities[1].backendRef: HTTPRoute default/route has no backendRef Backend default/othr; "
            "did you mean other?");
  EXPECT_TRUE(ruleServing(world, "/chat").failover);
  const World port = trafficWorld(priorities(with(priorityOf("other", 1), "name: other", "name: other, port: 81")));
  EXPECT_EQ(port.message("TrafficPolicy", "p", "ResolvedRefs"),
            "spec.failover.priorities[1].backendRef: HTTPRoute default/route has no backendRef Backend default/other "
            "with port 81; there is origin");
}

TEST(TrafficPolicyCompilation, LetsTheOldestOfTwoCount) {
  const World world = trafficWorld(trafficPolicy("retry: {attempts: 1}") + "---\n" +
                                   trafficPolicy("retry: {attempts: 3}, failover: {}", {}, "second"));
  EXPECT_EQ(ruleServing(world, "/").retry->attempts, 1u);
  EXPECT_FALSE(ruleServing(world, "/").failover);
  EXPECT_EQ(world.condition("TrafficPolicy", "second", "Accepted"), "False/Conflicted");
}

TEST(TrafficPolicyCompilation, ClosesTheRulesOfAPolicyThatIsWrong) {
  const World world = trafficWorld(trafficPolicy("retry: {attempts: -1}", "chat"));
  EXPECT_EQ(world.outcome("a.test", "/chat"), "500");
  EXPECT_EQ(world.outcome("a.test", "/"), "default/origin");
  EXPECT_EQ(world.condition("TrafficPolicy", "p", "Accepted"), "False/Invalid");
}

std::string backendPolicy(const std::string& target, const std::string& fields,
                          const std::string& name = "of-backend") {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name +
         "}\nspec: {targetRefs: [{" + target + "}], " + fields + "}\n";
}
constexpr const char* kOtherBackend = "group: gateway.networking.k8s.io, kind: Backend, name: other";
constexpr const char* kRestsAfterTwo = "healthCheck: {passive: {consecutive5XxErrors: 2}}";

std::vector<std::uint32_t> errorsOfMembers(const routing::Rule& rule) {
  std::vector<std::uint32_t> errors;
  if (rule.failover == nullptr) return errors;
  for (const routing::FailoverMember& each : rule.failover->members) errors.push_back(each.passive.errors);
  return errors;
}
constexpr std::uint32_t kNever = 0;

TEST(TrafficPolicyCompilation, CountsForOneBackendOfARule) {
  const World world = trafficWorld(backendPolicy(kOtherBackend, kRestsAfterTwo));
  EXPECT_THAT(errorsOfMembers(ruleServing(world, "/chat")), ElementsAre(kNever, 2u));
  EXPECT_EQ(world.condition("TrafficPolicy", "of-backend", "Accepted"), "True/Accepted");
}

TEST(TrafficPolicyCompilation, PutsARouteBeforeABackendAndThatBeforeAGateway) {
  const std::string ofBackend = backendPolicy(kOtherBackend, kRestsAfterTwo);
  const std::string ofGateway = backendPolicy("group: gateway.networking.k8s.io, kind: Gateway, name: egress",
                                              "healthCheck: {passive: {consecutive5XxErrors: 9}}", "of-gateway");
  const World two = trafficWorld(ofBackend + ofGateway);
  EXPECT_THAT(errorsOfMembers(ruleServing(two, "/chat")), ElementsAre(9u, 2u));
  const World three =
      trafficWorld(trafficPolicy("healthCheck: {passive: {consecutive5XxErrors: 7}}", "chat") + ofBackend + ofGateway);
  EXPECT_THAT(errorsOfMembers(ruleServing(three, "/chat")), ElementsAre(7u, 7u));
  EXPECT_THAT(errorsOfMembers(ruleServing(three, "/")), ElementsAre(9u, 2u));
}

TEST(TrafficPolicyCompilation, ChecksOneBackendOfARule) {
  const World world = trafficWorld(backendPolicy(kOtherBackend, "healthCheck: {active: {type: TCP}}"));
  const routing::Rule& rule = ruleServing(world, "/chat");
  ASSERT_EQ(rule.healthChecks.size(), 2u);
  EXPECT_EQ(rule.healthChecks[0], nullptr);
  EXPECT_NE(rule.healthChecks[1], nullptr);
  EXPECT_EQ(world.snapshot().checked.size(), 1u);
}

TEST(TrafficPolicyCompilation, ClosesTheBackendOfAPolicyThatIsWrong) {
  const World world = trafficWorld(backendPolicy("group: gateway.networking.k8s.io, kind: Backend, name: origin",
                                                 "healthCheck: {passive: {consecutive5XxErrors: -1}}"));
  EXPECT_EQ(world.outcome("a.test", "/chat"), "500");
  EXPECT_EQ(world.condition("TrafficPolicy", "of-backend", "Accepted"), "False/Invalid");
  EXPECT_THAT(world.message("HTTPRoute", "route", "ResolvedRefs"), HasSubstr("TrafficPolicy default/of-backend: "));
}

TEST(TrafficPolicyCompilation, RefusesRetriesForABackend) {
  const World world = trafficWorld(backendPolicy(kOtherBackend, "retry: {attempts: 2}"));
  EXPECT_THAT(world.message("TrafficPolicy", "of-backend", "Accepted"),
              HasSubstr("spec.retry: is for Gateways and routes alone, not for a Backend or a Service"));
}

TEST(TrafficPolicyCompilation, TakesTheFieldsOfABackendBeforeThoseOfItsPolicy) {
  const std::string own =
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: own}\nspec: {destination: "
      "{type: FQDN, fqdn: {hostname: own.example, port: 8080}}, healthCheck: {passive: "
      "{consecutive5XxErrors: 3}}}\n";
  const std::string rules =
      "rules: [{backendRefs: [" + refOf("origin") + ", {group: sluice.dev, kind: Backend, name: own, port: 8080}]}]";
  const std::string policy = backendPolicy("group: sluice.dev, kind: Backend, name: own", kRestsAfterTwo);
  const World world({kClass, kGateway, kBackend, own, routeWithRules(rules), policy.substr(4)});
  EXPECT_THAT(errorsOfMembers(ruleServing(world, "/")), ElementsAre(kNever, 3u));
}

}  // namespace
}  // namespace sluice::compile
