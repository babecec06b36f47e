// The EgressPolicies that cover a request all take effect together: each of them can deny it, and none of them lifts
// what another one denies. Immutable; shared by all workers.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/routing/policy/egress/egress_judge.h"

namespace sluice::routing {

/// Policies that apply together, in the order in which one that denies is named.
struct EgressPolicies {
  std::vector<std::shared_ptr<const EgressJudge>> enforced;
  std::vector<std::shared_ptr<const EgressJudge>> audited;  // these refuse nothing

  void add(const std::shared_ptr<const EgressJudge>& policy) {
    (policy->audits() ? audited : enforced).push_back(policy);
  }
  bool empty() const { return enforced.empty() && audited.empty(); }
  friend bool operator==(const EgressPolicies&, const EgressPolicies&) = default;
};

/// The judgement of all policies that cover a request.
struct EgressVerdict {
  EgressRuling ruling = EgressRuling::kPassed;
  const EgressJudge* policy = nullptr;  // the first that has decided; null if none is enforced
  std::size_t rule = kEgressDefault;

  std::string_view policyName() const { return policy != nullptr ? policy->name() : std::string_view(); }
  std::string_view ruleName() const { return policy != nullptr ? policy->ruleName(rule) : std::string_view(); }
};

/// The policies for a listener, and those for a rule of its routes. Either may be null.
struct EgressCoverage {
  std::shared_ptr<const EgressPolicies> ofListener;
  std::shared_ptr<const EgressPolicies> ofRule;

  bool any() const { return ofListener != nullptr || ofRule != nullptr; }
  friend bool operator==(const EgressCoverage&, const EgressCoverage&) = default;
};

/// Judges by the policies that are enforced. Those for the listener come first. Either may be null.
EgressVerdict judgeEgress(const EgressPolicies* ofListener, const EgressPolicies* ofRule, const EgressFacts& facts);

/// Returns true if a policy is enforced. Either may be null.
inline bool anyEnforced(const EgressPolicies* ofListener, const EgressPolicies* ofRule) {
  return (ofListener != nullptr && !ofListener->enforced.empty()) || (ofRule != nullptr && !ofRule->enforced.empty());
}

/// Returns true if a policy that is enforced denies what none of its rules allows. Either may be null.
bool denyByDefault(const EgressPolicies* ofListener, const EgressPolicies* ofRule);

/// Calls visit(policy, judgement) for each policy that is only audited.
template <typename Visit>
void auditEgress(const EgressPolicies* policies, const EgressFacts& facts, Visit&& visit) {
  if (policies == nullptr) return;
  for (const auto& each : policies->audited) visit(*each, each->judge(facts));
}

}  // namespace sluice::routing
