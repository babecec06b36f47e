// The destinations of a Backend of type Dynamic: requests name them, within the bounds of the Backend. Immutable; all
// workers share it.
//
// Each port has a plan without a host. A destination's own plan is made when a request names it
// (upstream/requested/requested_plans.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/routing/policy/egress/name_table.h"
#include "proxy/routing/policy/egress/rule_set.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

/// A destination that a request names.
struct RequestedTarget {
  std::string_view host;  // in lower case, without a trailing dot and without brackets
  std::uint16_t port = 0;
  std::shared_ptr<const BackendPlan> ofPort;  // the plan without a host
};

struct DynamicTargets {
  /// The hostnames are in lower case: exact names, or "*.suffix" for one label or more before the suffix. Without any,
  /// requests may name any host or address, but only where an EgressPolicy denies what none of its rules allows. There
  /// is at least one port.
  DynamicTargets(std::vector<std::string> names, std::vector<std::shared_ptr<const BackendPlan>> plans);

  /// Returns the destination of a request with this authority, which is in normal form. Without a port it is the
  /// first port of the Backend. An error (403) says why the Backend does not go there. Views are into `authority`.
  base::Result<RequestedTarget> targetOf(std::string_view authority) const;

  std::vector<std::string> hostnames;
  /// In the order of the Backend's ports; the port of the only one is 0 if requests may name any.
  std::vector<std::shared_ptr<const BackendPlan>> ports;

 private:
  NameTable<RuleSet<1>> table_;  // of `hostnames`
};

/// The policies for a request. Either may be null.
struct TargetPolicies {
  const EgressPolicies* ofListener = nullptr;
  const EgressPolicies* ofRule = nullptr;
};
/// Returns the destination of a request to that Backend of type Dynamic, as DynamicTargets::targetOf() does. A Backend
/// that may go anywhere goes nowhere unless a policy denies what none of its rules allows.
base::Result<RequestedTarget> requestedTarget(const BackendPlan& backend, std::string_view authority,
                                              const TargetPolicies& policies);

/// Returns the plan of that destination. It shares nothing with those of other destinations: neither connections nor
/// bounds nor health.
std::shared_ptr<const BackendPlan> requestedPlan(const RequestedTarget& target);

}  // namespace sluice::routing
