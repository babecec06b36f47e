// The engine against the plainest reading of what a policy means, on policies and facts that are drawn at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "proxy/routing/policy/egress/egress_policies.h"
#include "test/routing/policy/egress/egress_maker.h"
#include "test/routing/policy/egress/naive_egress.h"
#include "test/support/seeds.h"

namespace sluice::routing {
namespace {

constexpr std::uint32_t kFixedSeeds = 60;
constexpr std::uint32_t kDailySeeds = 60;
constexpr int kCasesOfWay = 3;

using PolicyPointer = std::shared_ptr<const EgressJudge>;

PolicyPointer compiledEgress(const base::EgressTerms& terms, const std::string& name = "a/p") {
  auto compiled = EgressJudge::compile(name, terms);
  EXPECT_TRUE(compiled.ok());
  return *compiled;
}

/// Calls check(terms, facts) for policies of each seed and facts of each way.
template <typename Check>
void forRandomEgress(Check&& check) {
  for (const std::uint32_t seed : sluice::test::seeds(kFixedSeeds, kDailySeeds)) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
    test::EgressMaker maker(seed);
    for (int policy = 0; policy < 4; ++policy) {
      check(maker);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Calls check(facts) for facts of each way.
template <typename Check>
void forEachWay(test::EgressMaker& maker, Check&& check) {
  for (std::size_t way = 0; way < kEgressWays.size(); ++way) {
    SCOPED_TRACE(kEgressWays[way].name);
    for (int i = 0; i < kCasesOfWay; ++i) check(maker.facts(static_cast<EgressWay>(way)));
  }
}

/// Whether the rule is one that the ruling can follow from.
bool hasDecided(const base::EgressTerms& terms, const EgressFacts& facts, const EgressJudgement& judgement) {
  const bool isDefault = judgement.rule == kEgressDefault;
  const base::EgressRule* const rule = isDefault ? nullptr : &terms.rules[judgement.rule];
  const auto truth = [&](const base::EgressRule& each) { return test::naiveTruth(each, facts); };
  if (rule != nullptr && truth(*rule) != test::Truth::kTrue) return false;
  const bool isAllowed = std::any_of(terms.rules.begin(), terms.rules.end(), [&](const base::EgressRule& each) {
    return each.allows && truth(each) == test::Truth::kTrue;
  });
  switch (judgement.ruling) {
    case EgressRuling::kDenied: {
      const bool isDenied = std::any_of(terms.rules.begin(), terms.rules.end(), [&](const base::EgressRule& each) {
        return !each.allows && truth(each) == test::Truth::kTrue;
      });
      return isDefault ? !isDenied && !terms.allowsByDefault : !rule->allows;
    }
    case EgressRuling::kPassed:
      return isDefault ? !isAllowed && terms.allowsByDefault : rule->allows;
    case EgressRuling::kUndecided:
      return isDefault;
  }
  return false;
}

TEST(EgressPolicyProperty, JudgesAsTheNaiveReadingDoes) {
  std::size_t rulings[3] = {};
  forRandomEgress([&](test::EgressMaker& maker) {
    const base::EgressTerms terms = maker.terms();
    const PolicyPointer policy = compiledEgress(terms);
    forEachWay(maker, [&](const test::EgressCase& made) {
      const EgressJudgement judgement = policy->judge(made.view());
      EXPECT_EQ(judgement.ruling, test::naiveRuling(terms, made.view()));
      EXPECT_TRUE(hasDecided(terms, made.view(), judgement)) << policy->ruleName(judgement.rule);
      ++rulings[static_cast<std::size_t>(judgement.ruling)];
    });
  });
  for (const std::size_t count : rulings) EXPECT_GT(count, 0U) << "a ruling was never drawn";
}

TEST(EgressPolicyProperty, NeverJudgesAnotherWayWhenMoreIsKnown) {
  std::size_t learnt = 0;
  forRandomEgress([&](test::EgressMaker& maker) {
    const PolicyPointer policy = compiledEgress(maker.terms());
    forEachWay(maker, [&](const test::EgressCase& before) {
      const EgressRuling ruling = policy->judge(before.view()).ruling;
      const EgressRuling after = policy->judge(maker.learnt(before).view()).ruling;
      if (ruling == EgressRuling::kUndecided) {
        learnt += after == EgressRuling::kUndecided ? 0 : 1;
      } else {
        EXPECT_EQ(after, ruling);
      }
    });
  });
  EXPECT_GT(learnt, 0U) << "no fact has ever decided";
}

TEST(EgressPolicyProperty, DoesNotDependOnTheOrderOfRules) {
  forRandomEgress([](test::EgressMaker& maker) {
    base::EgressTerms terms = maker.terms();
    const PolicyPointer policy = compiledEgress(terms);
    std::shuffle(terms.rules.begin(), terms.rules.end(), maker.engine());
    const PolicyPointer shuffled = compiledEgress(terms);
    forEachWay(maker, [&](const test::EgressCase& made) {
      EXPECT_EQ(shuffled->judge(made.view()).ruling, policy->judge(made.view()).ruling);
    });
  });
}

TEST(EgressPolicyProperty, JudgesAlikeWithMoreRulesThanAWordHas) {
  base::EgressRule matchesNothing;
  matchesNothing.ports = {{{1, 1}}};  // which is never drawn
  forRandomEgress([&](test::EgressMaker& maker) {
    base::EgressTerms terms = maker.terms();
    const PolicyPointer policy = compiledEgress(terms);
    if (policy->rules() > RuleSet<1>::kRules) return;
    terms.rules.insert(terms.rules.end(), RuleSet<1>::kRules, matchesNothing);
    const PolicyPointer longer = compiledEgress(terms);
    forEachWay(maker, [&](const test::EgressCase& made) {
      const EgressJudgement judgement = policy->judge(made.view());
      const EgressJudgement ofLonger = longer->judge(made.view());
      EXPECT_EQ(ofLonger.ruling, judgement.ruling);
      EXPECT_EQ(ofLonger.rule, judgement.rule);
    });
  });
}

/// Some policies that apply together, and the terms of each.
struct DrawnPolicies {
  std::vector<base::EgressTerms> terms;
  std::vector<PolicyPointer> compiled;

  explicit DrawnPolicies(test::EgressMaker& maker) {
    for (std::size_t left = 1 + maker.engine()() % 3; left > 0; --left) {
      terms.push_back(maker.terms());
      compiled.push_back(compiledEgress(terms.back(), std::to_string(left)));
    }
  }
  EgressPolicies together() const {
    EgressPolicies policies;
    for (const PolicyPointer& each : compiled) policies.add(each);
    return policies;
  }
  /// Returns the index of the policy, or that of none.
  std::size_t indexOf(const EgressJudge* policy) const {
    const auto is = [policy](const PolicyPointer& each) { return each.get() == policy; };
    return static_cast<std::size_t>(std::find_if(compiled.begin(), compiled.end(), is) - compiled.begin());
  }
};

TEST(EgressPoliciesProperty, JudgeTogetherAsTheNaiveReadingDoes) {
  forRandomEgress([](test::EgressMaker& maker) {
    const DrawnPolicies drawn(maker);
    const EgressPolicies together = drawn.together();
    forEachWay(maker, [&](const test::EgressCase& made) {
      const EgressVerdict verdict = judgeEgress(&together, nullptr, made.view());
      EXPECT_EQ(verdict.ruling, test::naiveRuling(drawn.terms, made.view()));
      EXPECT_EQ(verdict.policy == nullptr, together.enforced.empty());
      if (verdict.policy == nullptr || verdict.ruling == EgressRuling::kUndecided) return;
      const base::EgressTerms& terms = drawn.terms[drawn.indexOf(verdict.policy)];
      EXPECT_FALSE(terms.audits);
      EXPECT_EQ(test::naiveRuling(terms, made.view()), verdict.ruling);
      EXPECT_TRUE(hasDecided(terms, made.view(), {verdict.ruling, verdict.rule})) << verdict.ruleName();
    });
  });
}

TEST(EgressPoliciesProperty, DoNotDependOnTheirOrderOrOnWhatTheyCover) {
  forRandomEgress([](test::EgressMaker& maker) {
    DrawnPolicies drawn(maker);
    const EgressPolicies together = drawn.together();
    std::shuffle(drawn.compiled.begin(), drawn.compiled.end(), maker.engine());
    const EgressPolicies shuffled = drawn.together();
    EgressPolicies ofListener;
    EgressPolicies ofRule;
    for (const PolicyPointer& each : drawn.compiled) (maker.engine()() % 2 == 0 ? ofListener : ofRule).add(each);
    forEachWay(maker, [&](const test::EgressCase& made) {
      const EgressRuling ruling = judgeEgress(&together, nullptr, made.view()).ruling;
      EXPECT_EQ(judgeEgress(nullptr, &shuffled, made.view()).ruling, ruling);
      EXPECT_EQ(judgeEgress(&ofListener, &ofRule, made.view()).ruling, ruling);
    });
  });
}

TEST(EgressPoliciesProperty, OfARuleNeverLiftWhatThoseOfTheListenerDeny) {
  std::size_t denied = 0;
  forRandomEgress([&](test::EgressMaker& maker) {
    const DrawnPolicies listener(maker);
    const DrawnPolicies rule(maker);
    const EgressPolicies ofListener = listener.together();
    const EgressPolicies ofRule = rule.together();
    forEachWay(maker, [&](const test::EgressCase& made) {
      const EgressVerdict alone = judgeEgress(&ofListener, nullptr, made.view());
      if (alone.ruling != EgressRuling::kDenied) return;
      ++denied;
      const EgressVerdict both = judgeEgress(&ofListener, &ofRule, made.view());
      EXPECT_EQ(both.ruling, EgressRuling::kDenied);
      EXPECT_EQ(both.policy, alone.policy);
      EXPECT_EQ(both.rule, alone.rule);
    });
  });
  EXPECT_GT(denied, 0U) << "no listener has ever denied";
}

}  // namespace
}  // namespace sluice::routing
