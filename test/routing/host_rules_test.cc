// Tests that route tables of successive configurations share what has not changed.
#include "proxy/routing/table/host_rules.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::routing {
namespace {

std::shared_ptr<const RouteCandidates> routeOf(const std::string& path) {
  auto match = std::make_shared<Match>();
  match->path = path;
  return std::make_shared<const RouteCandidates>(1, Candidate{std::move(match), nullptr});
}

TEST(HostRulesStore, GivesTheSameRoutesTheSameRules) {
  HostRulesStore store;
  const auto a = routeOf("/a");
  const auto b = routeOf("/b");
  EXPECT_EQ(store.of({a, b}), store.of({a, b}));
  EXPECT_NE(store.of({a, b}), store.of({a}));
}

TEST(HostRulesStore, KeepsRulesForTheNextConfiguration) {
  HostRulesStore store;
  const auto route = routeOf("/a");
  const auto rules = store.of({route});
  store.sweep();
  EXPECT_EQ(store.of({route}), rules);
}

TEST(HostRulesStore, MakesRulesAnewForARouteThatChanged) {
  HostRulesStore store;
  const auto rules = store.of({routeOf("/a")});
  store.sweep();
  EXPECT_NE(store.of({routeOf("/a")}), rules) << "it is another route, though it looks alike";
}

TEST(HostRulesStore, DropsRulesThatAConfigurationDidNotHave) {
  HostRulesStore store;
  const auto route = routeOf("/a");
  const std::weak_ptr<const HostRules> rules = store.of({route});
  store.sweep();
  EXPECT_FALSE(rules.expired());
  store.sweep();
  EXPECT_TRUE(rules.expired());
}

}  // namespace
}  // namespace sluice::routing
