// The EgressPolicies that judge a health check. No client has asked for the check, so they judge it by name, address
// and port. It may go where the policies of one of the rules that use the Backend let it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "proxy/net/address.h"
#include "proxy/routing/policy/egress/egress_dial.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

class CheckDials {
 public:
  /// Judges the plan of a check by name. `plan` outlives it.
  CheckDials(std::vector<routing::EgressCoverage> covers, const routing::BackendPlan& plan);
  CheckDials(const CheckDials&) = delete;
  CheckDials& operator=(const CheckDials&) = delete;

  /// Returns the denial of a check that may go nowhere; nullptr if it may go somewhere.
  const routing::EgressVerdict* denial() const { return denial_ ? &*denial_ : nullptr; }
  /// Returns true if addresses decide.
  bool judgesAddresses() const { return !dials_.empty(); }
  /// Drops the addresses that must not be dialled. Returns false if none is left.
  bool narrow(net::Addresses& addresses);

 private:
  const std::vector<routing::EgressCoverage> covers_;
  std::optional<routing::EgressVerdict> denial_;
  std::vector<routing::EgressDial> dials_;  // those that addresses decide; empty if every address may be dialled
};

}  // namespace sluice::control
