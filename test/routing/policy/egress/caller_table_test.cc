#include "proxy/routing/policy/egress/caller_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {
namespace {

using base::Assurance;
using base::Caller;
using base::EgressCallers;
using base::EgressRule;
using CallerNames = std::vector<std::string>;
using OneWord = RuleSet<1>;

OneWord rulesIn(const std::vector<std::size_t>& rules) {
  OneWord set;
  for (const std::size_t each : rules) set.insert(each);
  return set;
}

EgressRule ruleGiving(EgressCallers callers, bool allows = true) {
  return {.name = "rule", .allows = allows, .callers = std::move(callers)};
}

TEST(CallerTable, FindsAllRulesIfNoneGivesCallers) {
  const CallerTable<OneWord> table({{.name = "plain"}, ruleGiving({}), {.name = "deny", .allows = false}});
  const Caller caller{"a", "web", "ann", Assurance::kToken};
  EXPECT_FALSE(table.given().any());
  EXPECT_EQ(table.find(nullptr), rulesIn({0, 1, 2}));
  EXPECT_EQ(table.find(&caller), rulesIn({0, 1, 2}));
}

TEST(CallerTable, FindsTheRulesOfEachName) {
  const CallerTable<OneWord> table({{.name = "plain"},
                                    ruleGiving({.namespaces = CallerNames{"a", "b"}}),
                                    ruleGiving({.serviceAccounts = CallerNames{"a/web", "b/job"}}),
                                    ruleGiving({.principals = CallerNames{"ann", "*.test"}}),
                                    ruleGiving({.namespaces = CallerNames{"a"}, .principals = CallerNames{"ann"}})});
  EXPECT_EQ(table.given(), rulesIn({1, 2, 3, 4}));
  const auto found = [&](const Caller& caller) { return table.find(&caller); };
  EXPECT_EQ(found({"a", "web", "ann", Assurance::kToken}), rulesIn({0, 1, 2, 3, 4}));
  EXPECT_EQ(found({"a", "job", "", Assurance::kToken}), rulesIn({0, 1})) << "an account belongs to its namespace";
  EXPECT_EQ(found({"b", "job", "x.test", Assurance::kToken}), rulesIn({0, 1, 2})) << "principals have no wildcards";
  EXPECT_EQ(found({"", "web", "ann", Assurance::kToken}), rulesIn({0, 3})) << "no account without a namespace";
  EXPECT_EQ(found({"A", "web", "Ann", Assurance::kToken}), rulesIn({0})) << "letter case matters";
  EXPECT_EQ(found({"c", "web", "a/web", Assurance::kToken}), rulesIn({0}));
}

TEST(CallerTable, TakesAnAssuranceAsTheLeast) {
  const CallerTable<OneWord> table({ruleGiving({.assurance = Assurance::kAddress}),
                                    ruleGiving({.assurance = Assurance::kToken}),
                                    ruleGiving({.assurance = Assurance::kCertificate})});
  const auto found = [&](Assurance assurance) {
    const Caller caller{"a", "web", "ann", assurance};
    return table.find(&caller);
  };
  EXPECT_EQ(found(Assurance::kNone), rulesIn({}));
  EXPECT_EQ(found(Assurance::kAddress), rulesIn({0}));
  EXPECT_EQ(found(Assurance::kToken), rulesIn({0, 1}));
  EXPECT_EQ(found(Assurance::kCertificate), rulesIn({0, 1, 2}));
}

TEST(CallerTable, FindsAllDenyRulesForACallerWithoutIdentity) {
  const EgressCallers team{.namespaces = CallerNames{"a"}, .assurance = Assurance::kCertificate};
  const CallerTable<OneWord> table({ruleGiving(team), ruleGiving(team, false), {.name = "plain"}});
  const Caller none{"a", "web", "ann", Assurance::kNone};
  EXPECT_EQ(table.find(nullptr), rulesIn({1, 2}));
  EXPECT_EQ(table.find(&none), rulesIn({1, 2})) << "names without a proof count for nothing";
}

TEST(CallerTable, FindsTheLastOfManyRules) {
  std::vector<EgressRule> rules;
  for (std::size_t i = 0; i < base::kMostEgressRules; ++i) {
    const std::string name = "n" + std::to_string(i);
    rules.push_back(ruleGiving({.namespaces = CallerNames{name}, .serviceAccounts = CallerNames{name + "/web"}}));
  }
  const CallerTable<RuleSet<kMostRuleWords>> table(rules);
  const Caller caller{"n255", "web", "", Assurance::kAddress};
  RuleSet<kMostRuleWords> last;
  last.insert(base::kMostEgressRules - 1);
  EXPECT_EQ(table.find(&caller), last);
}

}  // namespace
}  // namespace sluice::routing
