// Reports of what EgressPolicies have decided about a dial: for an exchange, or for one of the gateway's own requests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/exchange/transaction/observer.h"
#include "proxy/routing/policy/egress/egress_dial.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// Calls tell(DialReport) with the judgement of the policies that are enforced, if there is one.
template <typename Tell>
void reportEgress(const routing::EgressDial& dial, const routing::BackendPlan& backend, Tell&& tell) {
  const routing::EgressVerdict& verdict = dial.verdict();
  if (verdict.policy == nullptr) return;
  const bool isDenied = verdict.ruling == routing::EgressRuling::kDenied;
  tell(DialReport{*verdict.policy, verdict.rule, isDenied ? EgressDecision::kDenied : EgressDecision::kAllowed,
                  backend});
}

/// Calls tell(DialReport) with the judgements of the policies that are only audited. If `address` is empty, those
/// that depend on the address are left out; else only those are told. Returns true if some were left out.
template <typename Tell>
bool reportAudits(const routing::EgressDial& dial, base::AddressBytes address, const routing::BackendPlan& backend,
                  Tell&& tell) {
  using routing::EgressRuling;
  bool leftOut = false;
  dial.audit(address, [&](const routing::EgressJudge& policy, const routing::EgressJudgement& judgement) {
    if (address.empty() && judgement.ruling == EgressRuling::kUndecided) {
      leftOut = true;
      return;
    }
    if (!address.empty() && policy.judge(dial.facts()).ruling != EgressRuling::kUndecided) return;
    const bool isPassed = judgement.ruling == EgressRuling::kPassed;
    tell(DialReport{policy, judgement.rule, isPassed ? EgressDecision::kAllowed : EgressDecision::kAudited, backend});
  });
  return leftOut;
}

}  // namespace sluice::exchange
