// Tests which EgressPolicies cover a rule, what they close, and their conditions.
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
using test::World;

constexpr const char* kGuardedRules =
    "rules: [{name: main, matches: [{path: {value: /main}}], backendRefs: [{group: gateway.networking.k8s.io, kind: "
    "Backend, name: origin, port: 8080}]}, {backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
    "origin, port: 8080}]}]";
constexpr const char* kOfGateway = "kind: Gateway, name: egress";
constexpr const char* kOfRoute = "kind: HTTPRoute, name: route";
constexpr const char* kOfRule = "kind: HTTPRoute, name: route, sectionName: main";

std::string guarding(const std::string& name, const std::string& target, const std::string& spec = "rules: []") {
  return "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: " + name +
         "}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, " + target + "}], " + spec + "}\n";
}

World guardedWorld(const std::vector<std::string>& policies, const World* previous = nullptr) {
  static const std::string kGuarded = routeWithRules(kGuardedRules);
  std::vector<std::string_view> documents = {kClass, kGateway, kBackend, kGuarded};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents, previous);
}

/// Returns the names of the policies that are enforced and of those that are audited, of a rule and of its listener.
std::string coverAt(const World& world, const std::string& path) {
  const test::RequestMaker request("GET", "b.test", path);
  const routing::RouteMatch match = routing::routesOf(world.bind(80)->service).match(request.head());
  if (match.rule->failure) return "500";
  std::string text;
  const auto add = [&text](const std::shared_ptr<const routing::EgressPolicies>& policies) {
    if (policies == nullptr) return;
    for (const auto& each : policies->enforced) text += std::string(each->name()) + " ";
    for (const auto& each : policies->audited) text += "(" + std::string(each->name()) + ") ";
  };
  add(match.listener->egress);
  text += "| ";
  add(match.rule->egress);
  return text;
}

TEST(EgressPolicies, AllCoverARuleTogether) {
  const World world =
      guardedWorld({guarding("a", kOfGateway), guarding("b", kOfRoute), guarding("c", kOfRoute, "mode: Audit"),
                    guarding("d", kOfRule), guarding("e", "kind: Gateway, name: egress, sectionName: web")});
  EXPECT_EQ(coverAt(world, "/"), "default/a default/e | default/b (default/c) ");
  EXPECT_EQ(coverAt(world, "/main"), "default/a default/e | default/b default/d (default/c) ");
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    EXPECT_EQ(world.condition("EgressPolicy", name, "Accepted"), "True/Accepted") << name;
  }
}

TEST(EgressPolicies, AreNotThereWithoutAPolicy) { EXPECT_EQ(coverAt(guardedWorld({}), "/"), "| "); }

TEST(EgressPolicies, CloseWhatARefusedOneCovers) {
  EXPECT_EQ(coverAt(guardedWorld({guarding("r", kOfRoute, "surprise: 1")}), "/"), "500");
  EXPECT_EQ(coverAt(guardedWorld({guarding("r", kOfGateway, "surprise: 1")}), "/"), "500");
  const World ofRule = guardedWorld({guarding("r", kOfRule, "surprise: 1")});
  EXPECT_EQ(coverAt(ofRule, "/main"), "500");
  EXPECT_EQ(coverAt(ofRule, "/"), "| ");
  EXPECT_EQ(ofRule.condition("EgressPolicy", "r", "Accepted"), "False/Invalid");
}

TEST(EgressPolicies, CloseWhatAnExpressionThatIsNoneCovers) {
  const World world = guardedWorld(
      {guarding("r", kOfRoute, "rules: [{name: x, http: {paths: [{type: RegularExpression, value: \"(\"}]}}]")});
  EXPECT_EQ(coverAt(world, "/"), "500");
  EXPECT_EQ(world.condition("EgressPolicy", "r", "Accepted"), "False/Invalid");
}

TEST(EgressPolicies, HaveNoEffectOnATargetThatDoesNotExist) {
  const World world = guardedWorld({guarding("a", "kind: HTTPRoute, name: other"),
                                    guarding("b", "kind: HTTPRoute, name: route, sectionName: none")});
  EXPECT_EQ(coverAt(world, "/"), "| ");
  EXPECT_EQ(world.condition("EgressPolicy", "a", "Accepted"), "False/TargetNotFound");
  EXPECT_EQ(world.condition("EgressPolicy", "b", "Accepted"), "False/TargetNotFound");
}

}  // namespace
}  // namespace sluice::compile
