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

/// The words by which a request names its destination.
struct NamedDestination {
  std::string_view authority;                 // in normal form
  bool forwardProxy = false;                  // the client has chosen this gateway as its proxy
  bool isTunnel = false;                      // the request is a CONNECT
  http::Scheme scheme = http::Scheme::kHttp;  // of the target, at a forward proxy
};

/// Returns the name of the destination in a request to a listener of that kind.
inline NamedDestination namedDestination(const http::RequestHead& head, bool forwardProxy) {
  return {head.authority, forwardProxy, head.tunnel == http::Tunnel::kStream, head.scheme};
}

/// The policies without which requests that name their destination go nowhere.
enum class PolicyNeed : std::uint8_t {
  kNone,
  kEnforced,      // one that is enforced
  kDenyByDefault  // one that is enforced, and denies what none of its rules allows
};

/// A destination that a request names.
struct RequestedTarget {
  std::string_view host;  // in lower case, without a trailing dot and without brackets
  std::uint16_t port = 0;
  std::shared_ptr<const BackendPlan> ofPort;  // the plan without a host
};

struct DynamicTargets {
  /// The hostnames are in lower case: exact names, or "*.suffix" for one label or more before the suffix. Without any,
  /// requests may name any host or address. There is at least one port.
  DynamicTargets(PolicyNeed policies, std::vector<std::string> names,
                 std::vector<std::shared_ptr<const BackendPlan>> plans);

  /// Returns the destination of a request. Without a port it is the usual one of the scheme at a forward proxy, and
  /// elsewhere the first port of the Backend. An error (403) says why the Backend does not go there. Views are into the
  /// authority.
  base::Result<RequestedTarget> targetOf(const NamedDestination& named) const;

  PolicyNeed need;

  std::vector<std::string> hostnames;
  /// In the order of the Backend's ports. Their number is 0 if requests may name any; of two such ports, one has TLS,
  /// and the scheme of the target chooses.
  std::vector<std::shared_ptr<const BackendPlan>> ports;

 private:
  const std::shared_ptr<const BackendPlan>* portFor(const NamedDestination& named, std::uint16_t number) const;

  NameTable<RuleSet<1>> table_;  // of `hostnames`
};

/// The policies for a request. Either may be null.
struct TargetPolicies {
  const EgressPolicies* ofListener = nullptr;
  const EgressPolicies* ofRule = nullptr;
};
/// Returns the destination of a request to that Backend of type Dynamic, as DynamicTargets::targetOf() does, or an
/// error (403) if the policies that it needs do not cover the request.
base::Result<RequestedTarget> requestedTarget(const BackendPlan& backend, const NamedDestination& named,
                                              const TargetPolicies& policies);

/// Returns the plan of that destination. It shares nothing with those of other destinations: neither connections nor
/// bounds nor health.
std::shared_ptr<const BackendPlan> requestedPlan(const RequestedTarget& target);

}  // namespace sluice::routing
