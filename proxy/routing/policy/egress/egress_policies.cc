#include "proxy/routing/policy/egress/egress_policies.h"

#include <algorithm>
#include <utility>

namespace sluice::routing {

bool denyByDefault(const EgressPolicies* ofListener, const EgressPolicies* ofRule) {
  const auto one = [](const EgressPolicies* policies) {
    return policies != nullptr && std::any_of(policies->enforced.begin(), policies->enforced.end(),
                                              [](const auto& each) { return each->deniesByDefault(); });
  };
  return one(ofListener) || one(ofRule);
}

EgressVerdict judgeEgress(const EgressPolicies* ofListener, const EgressPolicies* ofRule, const EgressFacts& facts) {
  EgressVerdict verdict;
  const EgressPolicies* next = ofListener != nullptr ? ofRule : nullptr;
  const EgressPolicies* policies = ofListener != nullptr ? ofListener : ofRule;
  for (; policies != nullptr; policies = std::exchange(next, nullptr)) {
    for (const auto& each : policies->enforced) {
      const EgressJudgement judgement = each->judge(facts);
      if (judgement.ruling == EgressRuling::kDenied) return {EgressRuling::kDenied, each.get(), judgement.rule};
      if (judgement.ruling == EgressRuling::kUndecided) verdict.ruling = EgressRuling::kUndecided;
      // The rule of a policy that allows says more than the default of one that has none.
      const bool saysMore = verdict.rule == kEgressDefault && judgement.rule != kEgressDefault;
      if (verdict.policy != nullptr && !saysMore) continue;
      verdict.policy = each.get();
      verdict.rule = judgement.rule;
    }
  }
  return verdict;
}

}  // namespace sluice::routing
