#include "proxy/routing/policy/egress/name_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::routing {
namespace {

RuleSet namedRules(std::initializer_list<std::size_t> rules) {
  RuleSet set;
  for (const std::size_t rule : rules) set.insert(rule);
  return set;
}

TEST(NameTable, FindsExactNamesAndWildcardsOfOneLabelOrMore) {
  const NameTable table(namedRules({9}),
                        {{"a.test", 0}, {"*.a.test", 1}, {"*.test", 2}, {"b.a.test", 3}, {"a.test", 4}});
  const std::vector<std::pair<std::string_view, RuleSet>> expected{
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
  std::vector<NameTable::RuleHostname> hostnames;
  std::string name;
  for (std::size_t i = 0; i < base::kMostEgressRules; ++i) hostnames.emplace_back(name += 'a', i);
  const NameTable table({}, hostnames);
  for (const auto& [hostname, rule] : hostnames) EXPECT_EQ(table.find(hostname), namedRules({rule})) << hostname;
  EXPECT_FALSE(table.find(name + "a").any());
}

TEST(NameTable, WithoutHostnamesFindsTheRulesThatGiveNone) {
  EXPECT_FALSE(NameTable().find("a.test").any());
  EXPECT_EQ(NameTable(namedRules({1}), {}).find("a.test"), namedRules({1}));
}

}  // namespace
}  // namespace sluice::routing
