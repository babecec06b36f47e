#include "proxy/routing/policy/egress/egress_policies.h"

namespace sluice::routing {
EgressVerdict judgeEgress(const EgressPolicies* ofListener, const EgressPolicies* ofRule, const EgressFacts& facts) {
  EgressVerdict verdict;
  for (const EgressPolicies* const policies : {ofListener, ofRule}) {
    if (policies == nullptr) continue;
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
