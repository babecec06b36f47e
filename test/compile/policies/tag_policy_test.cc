// Tests which TagPolicy counts for a rule, and which it closes.
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

constexpr const char* kTaggedRules =
    "rules: [{name: main, matches: [{path: {value: /main}}], backendRefs: [{group: gateway.networking.k8s.io, kind: "
    "Backend, name: origin, port: 8080}]}, {backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
    "origin, port: 8080}]}]";

std::string tagging(const std::string& name, const std::string& target, const std::string& fields) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TagPolicy\nmetadata: {name: " + name +
         "}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, " + target + "}], " + fields + "}\n";
}

World taggedWorld(const std::vector<std::string>& policies) {
  static const std::string kTagged = routeWithRules(kTaggedRules);
  std::vector<std::string_view> documents = {kClass, kGateway, kBackend, kTagged};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}

/// Returns what a rule sets in responses, or its failure.
std::string tagsAt(const World& world, const std::string& path) {
  const routing::Rule& rule = *world.rule(test::RequestMaker("GET", "b.test", path), 80);
  if (rule.failure) return "500";
  std::string text;
  if (!rule.responseHeaders) return text;
  for (const auto& [name, value] : rule.responseHeaders->set) text += name + "=" + value + " ";
  return text;
}

TEST(TagPolicies, HaveEachFieldFromTheMostSpecificOne) {
  const std::string gateway = tagging("gateway", "kind: Gateway, name: egress", "team: g, cost: g");
  const std::string route = tagging("route", "kind: HTTPRoute, name: route", "team: r");
  const std::string rule = tagging("rule", "kind: HTTPRoute, name: route, sectionName: main", "team: m");
  EXPECT_EQ(tagsAt(taggedWorld({gateway}), "/"), "x-team=g x-cost=g ");
  EXPECT_EQ(tagsAt(taggedWorld({gateway, route}), "/"), "x-team=r x-cost=g ");
  const World all = taggedWorld({gateway, route, rule});
  EXPECT_EQ(tagsAt(all, "/"), "x-team=r x-cost=g ");
  EXPECT_EQ(tagsAt(all, "/main"), "x-team=m x-cost=g ");
  for (const char* name : {"gateway", "route", "rule"}) {
    EXPECT_EQ(all.condition("TagPolicy", name, "Accepted"), "True/Accepted") << name;
  }
}

TEST(TagPolicies, CloseABackendThatTheyTarget) {
  const World world = taggedWorld({tagging("b", "kind: Backend, name: origin", "team: b")});
  EXPECT_EQ(world.condition("Backend", "origin", "Degraded"), "True/UnsupportedValue");
}

TEST(TagPolicies, CloseTheRulesOfARefusedOne) {
  EXPECT_EQ(tagsAt(taggedWorld({tagging("r", "kind: HTTPRoute, name: route", "team: r, surprise: 1")}), "/"), "500");
}

TEST(TagPolicies, AreConflictedBehindAnOlderOneForTheSame) {
  const World world = taggedWorld({tagging("a", "kind: HTTPRoute, name: route", "team: a"),
                                   tagging("b", "kind: HTTPRoute, name: route", "team: b")});
  EXPECT_EQ(world.condition("TagPolicy", "b", "Accepted"), "False/Conflicted");
}

}  // namespace
}  // namespace sluice::compile
