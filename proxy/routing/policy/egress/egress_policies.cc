#include "proxy/routing/policy/egress/egress_policies.h"

namespace sluice::routing {
namespace {

/// Adds the judgement of more policies. Returns true if one of them denies.
bool addJudgements(const EgressPolicies* policies, const EgressFacts& facts, EgressVerdict& verdict) {
  if (policies == nullptr) return false;
  for (const auto& each : policies->enforced) {
    const EgressJudgement judgement = each->judge(facts);
    if (judgement.ruling == EgressRuling::kDenied) {
      verdict = {EgressRuling::kDenied, each.get(), judgement.rule};
      return true;
    }
    if (judgement.ruling == EgressRuling::kUndecided) verdict.ruling = EgressRuling::kUndecided;
    // The rule of a policy that allows says more than the default of one that has none.
    const bool saysMore = verdict.rule == EgressJudge::kByDefault && judgement.rule != EgressJudge::kByDefault;
    if (verdict.policy == nullptr || saysMore) {
      verdict.policy = each.get();
      verdict.rule = judgement.rule;
    }
  }
  return false;
}

}  // namespace

EgressVerdict judgeEgress(const EgressPolicies* ofListener, const EgressPolicies* ofRule, const EgressFacts& facts) {
  EgressVerdict verdict;
  if (!addJudgements(ofListener, facts, verdict)) addJudgements(ofRule, facts, verdict);
  return verdict;
}

}  // namespace sluice::routing
