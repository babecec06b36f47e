// Tries to reach targets outside, all at once, and beside each an address where nobody is.
//
// The latter are controls: what a control gets comes from something on the way, as a policy that refuses connections
// instead of dropping them, or a proxy that accepts all of them. A target that gets the same shows nothing of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/net/dial_probe.h"
#include "proxy/server/check/check_target.h"

namespace sluice::server {

/// One address of a target and what came of it.
struct ProbedAddress {
  CheckTarget target;
  std::optional<net::Address> address;       // nothing if the name is not resolved
  std::optional<net::ProbeOutcome> outcome;  // nothing if the name is not resolved
  std::string unresolved;                    // why it is not
  base::Duration took{};
  /// What the control of the same protocol, family and port got; nothing for an address of this machine.
  std::optional<net::ProbeResult> control = std::nullopt;
};

struct EgressFindings {
  std::vector<ProbedAddress> targets;
  std::vector<ProbedAddress> gateway;
};

/// Returns the address that stands for nobody: of the ranges for documentation (RFC 5737, RFC 3849), which are routed
/// nowhere.
net::Address controlAddress(const net::Address& of);

/// Blocks for at most twice `timeout`: that much for a name, and that much for a connection.
EgressFindings probeEgress(const std::vector<CheckTarget>& targets, const std::optional<CheckTarget>& gateway,
                           base::Duration timeout);

}  // namespace sluice::server
