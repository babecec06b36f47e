#include "proxy/routing/policy/egress/name_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {
namespace {

using NamedRules = RuleSet<kMostRuleWords>;
using Names = NameTable<NamedRules>;

NamedRules namedRules(std::initializer_list<std::size_t> rules) {
  NamedRules set;
  for (const std::size_t rule : rules) set.insert(rule);
  return set;
}

TEST(NameTable, FindsExactNamesAndWildcardsOfOneLabelOrMore) {
  const Names table(namedRules({9}), {{"a.test", 0}, {"*.a.test", 1}, {"*.test", 2}, {"b.a.test", 3}, {"a.test", 4}});
  const std::vector<std::pair<std::string_view, NamedRules>> expected{
      {"a.test", namedRules({0, 2, 4, 9})},
      {"b.a.test", namedRules({1, 2, 3, 9})},
      {"c.b.a.test", namedRules({1, 2, 9})},
      {"ba.test", namedRules({2, 9})},
      {"test", namedRules({9})},
      {".test", namedRules({9})},
      {"a.testing", namedRules({9})},
      {"", namedRules({9})},
      {"*.a.test", namedRules({1, 2, 9})},
      {"a", namedRules({9})},
  };
  for (const auto& [name, rules] : expected) EXPECT_EQ(table.find(name), rules) << name;
}

TEST(NameTable, FindsNamesOfAllLengths) {
  std::vector<RuleHostname> hostnames;
  std::string name;
  for (std::size_t i = 0; i < base::kMostEgressRules; ++i) hostnames.emplace_back(name += 'a', i);
  const Names table({}, hostnames);
  for (const auto& [hostname, rule] : hostnames) EXPECT_EQ(table.find(hostname), namedRules({rule})) << hostname;
  EXPECT_FALSE(table.find(name + "a").any());
}

TEST(NameTable, WithoutHostnamesFindsTheRulesThatGiveNone) {
  EXPECT_FALSE(Names().find("a.test").any());
  EXPECT_EQ(Names(namedRules({1}), {}).find("a.test"), namedRules({1}));
}

}  // namespace
}  // namespace sluice::routing
