// Tries to reach targets outside of the cluster, all at once, and for each of them a control: an address that no
// machine has.
//
// Any outcome of a control comes from something on the path, such as a policy that refuses connections instead of
// dropping them, or a proxy that accepts all of them. So a target with the same outcome proves nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/net/dial_probe.h"
#include "proxy/server/check/check_target.h"

namespace sluice::server {

/// One address of a target, and the outcome of its probe.
struct ProbedAddress {
  CheckTarget target;
  std::optional<net::Address> address;       // nothing if the name is not resolved
  std::optional<net::ProbeOutcome> outcome;  // nothing if the name is not resolved
  std::string unresolved;                    // the reason why the name is not resolved
  base::Duration took{};
  /// The outcome of the control of the same protocol, family and port; nothing for an address of this machine.
  std::optional<net::ProbeResult> control = std::nullopt;
};

struct EgressFindings {
  std::vector<ProbedAddress> targets;
  std::vector<ProbedAddress> gateway;
};

/// Returns the control's address. It is in the ranges for documentation (RFC 5737, RFC 3849), which are routed nowhere.
net::Address controlAddress(const net::Address& of);

/// Blocks for at most twice `timeout`: that much for a name, and that much for a connection.
EgressFindings probeEgress(const std::vector<CheckTarget>& targets, const std::optional<CheckTarget>& gateway,
                           base::Duration timeout);

}  // namespace sluice::server
