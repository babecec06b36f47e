// Says what the EgressPolicies that cover a rule decide about its weighted backends: by name, and by each address that
// is known. The judgements are those of the data plane's own engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/control/explain/explanation.h"
#include "proxy/net/address.h"
#include "proxy/routing/policy/egress/egress_policies.h"

namespace sluice::control {

/// The outcome of a request to a weighted backend that is denied.
struct ExplainedRefusal {
  ExplainedAnswer answer;
  std::vector<ExplainedFilter> filters;
  std::vector<ExplainedStep> steps;       // if it is denied by name
  std::vector<ExplainedStep> laterSteps;  // if it is denied by all its addresses
};

/// A dial in question. It keeps all that its facts refer to, because addresses may be resolved later. Immutable.
class QuestionedDial {
 public:
  /// The client of `facts` is empty if it is not known. `refusal` follows if policies deny the dial.
  QuestionedDial(routing::EgressCoverage coverage, const routing::EgressFacts& facts, ExplainedRefusal refusal);

  /// Returns the decision without an address.
  ExplainedEgress byName() const;
  /// Returns the decision about that address. Policies that are only audited are left out if no address matters to
  /// them.
  ExplainedEgress byAddress(const net::Address& address) const;
  const ExplainedRefusal& refusal() const { return refusal_; }

 private:
  routing::EgressFacts facts() const;

  const routing::EgressCoverage coverage_;
  const routing::EgressFacts terms_;  // without views
  const std::vector<std::uint8_t> client_;
  const std::optional<base::Caller> caller_;
  const std::string name_;
  const std::string sentMethod_;
  const std::string sentPath_;
  const std::string leavingMethod_;
  const std::string leavingPath_;
  const std::optional<std::string> serverName_;
  const ExplainedRefusal refusal_;
};

/// Settles the decisions about all Backends by the addresses that are known, of which one that may be dialled is
/// enough, and the answers that follow. A Backend that is denied is passed over if its rule fails over and has another
/// one.
void settleEgress(Explanation& explanation);

}  // namespace sluice::control
