// What EgressPolicies have decided about the attempts of one exchange. It lives in the arena of the request; exchanges
// that no policy covers have none.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/exchange/transaction/observer.h"
#include "proxy/routing/policy/egress/egress_dial.h"

namespace sluice::exchange {

struct EgressState {
  routing::EgressDial dial;      // of the current attempt
  bool byAddress = false;        // the addresses of the attempt decide
  bool auditsByAddress = false;  // the same of a policy that is only audited
  bool reported = false;         // the judgement of the attempt
  std::uint64_t denied = 0;      // the weighted backends of the rule that are denied, a bit each by position

  /// The decision for the access log; null until there is one.
  const routing::EgressJudge* policy = nullptr;
  std::size_t rule = 0;
  EgressDecision decision = EgressDecision::kAllowed;

  /// Keeps the decision that says most: a denial, then an audited one. What an audited policy lets pass says nothing
  /// beside an earlier decision.
  void note(const DialReport& report) {
    const bool saysMore = report.decision > decision || (report.decision == decision && !report.policy.audits());
    if (policy != nullptr && !saysMore) return;
    policy = &report.policy;
    rule = report.rule;
    decision = report.decision;
  }
};

}  // namespace sluice::exchange
