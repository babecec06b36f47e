// Says whose reports count for which Gateway (replica_report.h).
//
// Whoever may write Leases in any namespace may claim there to be a replica of any Gateway. So a report counts only if
// its Lease stands in the controller's own namespace, or in that of the Gateway. There, if the controller keeps Pods
// for the Gateway, the Lease must be that of one of them: by its name, by its owner, and by the names that a Deployment
// gives to its Pods. That the Pod exists is not looked up, which would take the right to read all Pods: who writes
// Leases beside a Gateway is taken for its owner.
//
// Reports in the controller's own namespace are those of the platform, and count for all Gateways. But the controller
// may keep Pods of Gateways there too, which may write Leases and see what tenants send. So a report there under the
// name of such a Pod counts for the Gateway of that Pod alone. A Pod can write Leases under other names as well: where
// the controller keeps any Pods beside itself, no report there counts for a Gateway of another namespace whose Pods it
// keeps, because those speak for themselves.
//
// Values and pure functions; any thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {

struct Reporters {
  std::string home = {};  // the namespace of the controller
  /// All Gateways, by "namespace/name", with the names of the Deployments that the controller keeps for each; none if
  /// people keep its Pods themselves.
  std::map<std::string, std::set<std::string>, std::less<>> gateways = {};

  bool operator==(const Reporters&) const = default;

  /// Returns true if a report in that namespace may count for any Gateway.
  bool mayTrust(std::string_view nameSpace) const;
  /// Returns true if the report counts for that Gateway, provided that it says that its replica serves it.
  bool trusts(const ReplicaReport& report, std::string_view gateway) const;
  /// Returns true if it counts for any Gateway.
  bool trusts(const ReplicaReport& report) const;

 private:
  bool trustsAtHome(const ReplicaReport& report, std::string_view gateway) const;
  bool isNamedAsPodAtHome(const ReplicaReport& report) const;
  /// Calls the function with each Gateway of the namespace and its Deployments, until it returns true. Returns whether
  /// it has.
  template <typename Predicate>
  bool anyOf(std::string_view nameSpace, Predicate&& predicate) const;
};

/// Returns true if a Deployment of that name gives its Pods such names: "egress-5d9c7b8f6-x2x4z".
bool isNameOfPod(std::string_view pod, std::string_view deployment);

}  // namespace sluice::kubernetes
