// Tests which requests a route or rule answers with 500 when its schema refuses it, or when it cannot be evaluated.
// These are all requests that match its readable parts, and no requests of another route.
#include <gtest/gtest.h>

#include <string>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::with;
using test::World;

constexpr const char* kToOrigin =
    "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]";

/// Returns a route with these further members of its spec, as lines.
std::string routeNamed(const std::string& name, const std::string& spec) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
         "}\nspec:\n  parentRefs: [{name: egress}]\n" + spec;
}
std::string ruleMatching(const std::string& match, const std::string& more = {}) {
  return "  rules: [{matches: [" + match + "], " + more + kToOrigin + "}]\n";
}

/// Returns a route that serves everything that no other route matches, for every hostname and for one.
const std::string& everything() {
  static const std::string text = routeNamed("everything", ruleMatching("{path: {value: /}}")) + "---\n" +
                                  routeNamed("host", "  hostnames: [host.test]\n" + ruleMatching("{path: {value: /}}"));
  return text;
}

/// Compiles the refused route together with the others, once as the youngest and once as the oldest.
class Beside {
 public:
  explicit Beside(const std::string& refused)
      : young_({kClass, kGateway, kBackend, everything(),
                with(refused, "name: ",
                     "creationTimestamp: "
                     "'2030-01-01T00:00:00Z', name: ")}),
        old_({kClass, kGateway, kBackend, refused, everything()}) {}

  /// Returns the outcome, which must not depend on the age of the route.
  std::string outcome(const std::string& host, const std::string& path) const {
    EXPECT_EQ(young_.outcome(host, path), old_.outcome(host, path)) << host << path;
    return old_.outcome(host, path);
  }
  const World& world() const { return old_; }

 private:
  World young_;
  World old_;
};

TEST(RefusedRoutes, AnswerForTheirLegibleMatches) {
  const Beside beside(routeNamed(
      "a", "  hostnames: [host.test]\n" + ruleMatching("{path: {value: /a}}", "filters: [{type: Nothing}], ")));
  EXPECT_EQ(beside.outcome("host.test", "/a"), "500");
  EXPECT_EQ(beside.outcome("host.test", "/b"), "default/origin");
  EXPECT_EQ(beside.outcome("other.test", "/a"), "default/origin");
  EXPECT_EQ(beside.world().condition("HTTPRoute", "a", "Accepted"), "False/Invalid");
}

TEST(RefusedRoutes, AnswerForThePathOfAMatchWhoseOtherConditionsAreNotLegible) {
  const Beside beside(
      routeNamed("a", "  hostnames: [host.test]\n" + ruleMatching("{path: {value: /a}, method: FETCH}")));
  EXPECT_EQ(beside.outcome("host.test", "/a"), "500") << "the route for all paths must not serve it";
  EXPECT_EQ(beside.outcome("host.test", "/b"), "default/origin");
}

TEST(RefusedRoutes, GiveWayToARouteThatHasWrittenTheSameMatch) {
  const std::string refused =
      routeNamed("a", "  hostnames: [host.test]\n" + ruleMatching("{path: {value: /a}, method: FETCH}"));
  const std::string same = routeNamed("same", "  hostnames: [host.test]\n" + ruleMatching("{path: {value: /a}}"));
  EXPECT_EQ(World({kClass, kGateway, kBackend, refused, same}).outcome("host.test", "/a"), "default/origin");
}

TEST(RefusedRoutes, AnswerForTheirHostnamesIfNoMatchIsLegible) {
  for (const char* spec : {"  rules: [{matches: [{path: {value: a}}]}]\n",
                           "  rules: [{macthes: [{path: {value: /a}}]}]\n", "  rules: []\n", "  ruls: []\n"}) {
    const Beside beside(routeNamed("a", "  hostnames: [host.test, mine.test]\n" + std::string(spec)));
    EXPECT_EQ(beside.outcome("mine.test", "/a"), "500") << spec << "the route for all hostnames must not serve it";
    EXPECT_EQ(beside.outcome("host.test", "/a"), "default/origin") << spec << "its own route serves it";
    EXPECT_EQ(beside.outcome("other.test", "/a"), "default/origin") << spec;
  }
}

TEST(RefusedRoutes, AnswerForTheirLegibleHostnames) {
  const Beside beside(routeNamed("a", "  hostnames: [mine.test, 'Not one']\n" + ruleMatching("{path: {value: /}}")));
  EXPECT_EQ(beside.outcome("mine.test", "/"), "500");
  EXPECT_EQ(beside.outcome("other.test", "/"), "default/origin");
}

TEST(RefusedRoutes, AnswerAtTheirLegibleParents) {
  const std::string refused = routeNamed("a", "  hostnames: [mine.test]\n" + ruleMatching("{path: {value: /}}"));
  for (const char* parents : {"{name: egress}, {nam: other}", "{name: egress, sectionName: 'Not one'}"}) {
    EXPECT_EQ(Beside(with(refused, "{name: egress}", parents)).outcome("mine.test", "/"), "500") << parents;
  }
}

TEST(RefusedRoutes, DoNotAnswerForHostnamesThatNobodyCanRead) {
  for (const char* hostnames : {"  hostnames: ['Not one']\n", "  hostnams: [mine.test]\n"}) {
    const Beside beside(routeNamed("a", hostnames + ruleMatching("{path: {value: /a}}")));
    EXPECT_EQ(beside.outcome("mine.test", "/a"), "default/origin") << hostnames;
    EXPECT_EQ(beside.world().condition("HTTPRoute", "a", "Accepted"), "False/Invalid") << hostnames;
  }
}

TEST(RefusedRoutes, WithoutHostnamesAnswerForWhatNoOtherRouteWants) {
  const World world({kClass, kGateway, kBackend, routeNamed("a", "  rules: [{matches: [{path: {value: a}}]}]\n"),
                     routeNamed("b", "  hostnames: [b.test]\n" + ruleMatching("{path: {value: /b}}"))});
  EXPECT_EQ(world.outcome("b.test", "/b"), "default/origin");
  EXPECT_EQ(world.outcome("b.test", "/c"), "500");
  EXPECT_EQ(world.outcome("c.test", "/c"), "500");
}

TEST(RulesWithABadExpression, AnswerForTheirPath) {
  const Beside beside(routeNamed(
      "a", "  hostnames: [host.test]\n" +
               ruleMatching("{path: {value: /a}, headers: [{type: RegularExpression, name: x, value: '('}]}")));
  EXPECT_EQ(beside.outcome("host.test", "/a"), "500");
  EXPECT_EQ(beside.outcome("host.test", "/b"), "default/origin");
  EXPECT_EQ(beside.world().condition("HTTPRoute", "a", "Accepted"), "False/UnsupportedValue");
}

TEST(RulesWithABadExpression, AnswerForTheirHostnamesIfItIsThePath) {
  const Beside beside(routeNamed(
      "a", "  hostnames: [host.test, mine.test]\n" + ruleMatching("{path: {type: RegularExpression, value: '/('}}")));
  EXPECT_EQ(beside.outcome("mine.test", "/a"), "500");
  EXPECT_EQ(beside.outcome("host.test", "/a"), "default/origin");
}

TEST(RulesWithABadExpression, LeaveTheOtherRulesOfTheRoute) {
  const std::string bad = "{matches: [{path: {type: RegularExpression, value: '/('}}], " + std::string(kToOrigin) + "}";
  const std::string good = "{matches: [{path: {value: /good}}], " + std::string(kToOrigin) + "}";
  const Beside beside(routeNamed("a", "  hostnames: [mine.test]\n  rules: [" + bad + ", " + good + "]\n"));
  EXPECT_EQ(beside.outcome("mine.test", "/good"), "default/origin");
  EXPECT_EQ(beside.outcome("mine.test", "/bad"), "500");
  EXPECT_EQ(beside.world().condition("HTTPRoute", "a", "Accepted"), "True/Accepted");
}

TEST(RefusedGrpcRoutes, AnswerForTheirHostnamesIfNoMatchIsLegible) {
  const std::string refused =
      with(routeNamed("a", "  hostnames: [mine.test]\n  rules: [{macthes: []}]\n"), "HTTPRoute", "GRPCRoute");
  const World world({kClass, kGateway, kBackend, refused});
  const test::RequestMaker call("POST", "mine.test", "/a.B/C", {{"content-type", "application/grpc"}});
  const routing::Rule* rule = world.rule(call);
  ASSERT_NE(rule, nullptr);
  EXPECT_TRUE(rule->failure);
}

}  // namespace
}  // namespace sluice::compile
