// Tests the effect of XBackendTrafficPolicies on rules, also together with TrafficPolicies, and their statuses.
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

constexpr const char* kOrigin = "group: gateway.networking.k8s.io, kind: Backend, name: origin";
constexpr const char* kConstrainedRef = "{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}";
constexpr const char* kFreeRef = "{group: gateway.networking.k8s.io, kind: Backend, name: other, port: 8080}";

std::string experimental(const std::string& fields, const std::string& target = kOrigin,
                         const std::string& name = "p") {
  return "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\nmetadata: {name: " + name +
         ", generation: 2}\nspec: {targetRefs: [{" + target + "}]" + fields + "}\n";
}
/// Makes two rules: "main" at /main with both Backends, and one at / with only "origin". `rule` has more members of
/// "main".
World constrainedWorld(const std::string& policies, const std::string& rule = {}) {
  const std::string rules = "rules: [{name: main, " + rule + "matches: [{path: {value: /main}}], backendRefs: [" +
                            kConstrainedRef + ", " + kFreeRef + "]}, {backendRefs: [" + kConstrainedRef + "]}]";
  return World(
      {kClass, kGateway, kBackend, with(kBackend, "name: origin,", "name: other,"), routeWithRules(rules), policies});
}
const routing::Rule& constrainedRule(const World& world, const std::string& path) {
  return *world.rule(test::RequestMaker("GET", "a.test", path));
}
std::string experimentalAcceptance(const World& world, const std::string& name = "p") {
  return world.condition("XBackendTrafficPolicy", name, "Accepted");
}

TEST(XBackendTrafficPolicy, ConstrainsTheRetriesAtItsBackendInAllRulesTogether) {
  World world = constrainedWorld(
      experimental(", retryConstraint: {budget: {percent: 5, interval: 1m}, minRetryRate: {count: 7}}"));
  const routing::Rule& both = constrainedRule(world, "/main");
  const auto& constraint = both.backends[0].retryConstraint;
  ASSERT_TRUE(constraint);
  EXPECT_EQ(constraint->percent, 5u);
  EXPECT_EQ(constraint->minCount, 7u);
  EXPECT_FALSE(both.backends[1].retryConstraint);
  EXPECT_EQ(constrainedRule(world, "/").backends[0].retryConstraint->budget, constraint->budget);
  EXPECT_EQ(experimentalAcceptance(world), "True/Accepted");
  EXPECT_FALSE(both.failover) << "it says nothing of health";
  const auto kept = constraint->budget;
  world.recompile();
  EXPECT_EQ(constrainedRule(world, "/").backends[0].retryConstraint->budget, kept);
}

TEST(XBackendTrafficPolicy, GivesSessionsToRulesThatHaveNone) {
  const std::string policy = experimental(", sessionPersistence: {sessionName: sid, absoluteTimeout: 1h}");
  const World world = constrainedWorld(policy, "sessionPersistence: {sessionName: own}, ");
  EXPECT_EQ(constrainedRule(world, "/main").session->name, "own");
  const auto& session = constrainedRule(world, "/").session;
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->name, "sid");
  EXPECT_EQ(session->absoluteTimeout, std::chrono::hours(1));
  EXPECT_EQ(session->cookiePath("/main/a"), "/");
  const World shared = constrainedWorld(policy);
  EXPECT_EQ(constrainedRule(shared, "/main").session->shares.size(), 2u) << "all Backends of the rule have it";
  EXPECT_EQ(constrainedRule(shared, "/main").session->shares[0], session->shares[0]);
  EXPECT_EQ(constrainedRule(shared, "/main").session->scope, session->scope) << "rules share the sessions of a Backend";
}

TEST(XBackendTrafficPolicy, ClosesWhatASessionItCannotHaveIsFor) {
  const World world = constrainedWorld(experimental(", sessionPersistence: {sessionName: Via, type: Header}"));
  EXPECT_EQ(world.outcome("a.test", "/"), "500");
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"), HasSubstr("spec.sessionPersistence.sessionName: via"));
}

TEST(XBackendTrafficPolicy, OfTwoPoliciesForOneBackendTheOldestCounts) {
  const std::string own =
      "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: a}\nspec: {targetRefs: [{" +
      std::string(kOrigin) + "}], healthCheck: {passive: {}}}\n";
  const World world = constrainedWorld(experimental(", retryConstraint: {}", kOrigin, "b") + own);
  EXPECT_FALSE(constrainedRule(world, "/").backends[0].retryConstraint);
  EXPECT_TRUE(constrainedRule(world, "/main").failover);
  EXPECT_EQ(experimentalAcceptance(world, "b"), "False/Conflicted");
  EXPECT_EQ(world.condition("TrafficPolicy", "a", "Accepted"), "True/Accepted");
}

TEST(XBackendTrafficPolicy, ClosesItsBackendIfItIsWrong) {
  const World world = constrainedWorld(experimental(", retryConstraint: {budget: {percent: 101}}"));
  EXPECT_EQ(world.outcome("a.test", "/"), "500");
  EXPECT_EQ(experimentalAcceptance(world), "False/Invalid");
  EXPECT_THAT(world.message("HTTPRoute", "route", "ResolvedRefs"), HasSubstr("XBackendTrafficPolicy default/p: "));
}

TEST(XBackendTrafficPolicy, HasItsTargetAsItsAncestor) {
  const World world = constrainedWorld(experimental(", retryConstraint: {}"));
  const config::ObjectStatus* status = world.status("XBackendTrafficPolicy", "p");
  ASSERT_NE(status, nullptr);
  ASSERT_EQ(status->parents.size(), 1u);
  EXPECT_EQ(status->parents.front().parentRef.object.name, "origin");
  const World absent = constrainedWorld(
      experimental(", retryConstraint: {}", "group: gateway.networking.k8s.io, kind: Backend, name: absent"));
  EXPECT_EQ(experimentalAcceptance(absent), "False/TargetNotFound");
}

}  // namespace
}  // namespace sluice::compile
