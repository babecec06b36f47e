// Decides whose reports are trusted for which Gateway (replica_report.h).
//
// An author of Leases in any namespace can claim to be a replica of any Gateway. So a report is trusted only if its
// Lease is in the controller's own namespace, or in that of the Gateway. There, if the controller runs Pods for the
// Gateway, the Lease must be that of one of them: by its name, by its owner, and by the names that a Deployment gives
// to its Pods. Whether the Pod exists is not checked, because that would need the right to read all Pods: an author of
// Leases in a Gateway's namespace is taken for its owner.
//
// Reports in the controller's own namespace are those of the platform, and are trusted for all Gateways. But the
// controller may run Pods of Gateways there, too, which may write Leases and handle traffic of tenants. So a report
// there under the name of such a Pod is trusted for the Gateway of that Pod only. A Pod can write Leases under other
// names as well. So if the controller runs any Pods in its own namespace, no report there is trusted for a Gateway of
// another namespace whose Pods it runs, because these have reports of their own.
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
  /// All Gateways, by "namespace/name", with the names of the Deployments that the controller has made for each; none
  /// if its Pods are not made by the controller.
  std::map<std::string, std::set<std::string>, std::less<>> gateways = {};

  bool operator==(const Reporters&) const = default;

  /// Returns true if a report in that namespace may be trusted for any Gateway.
  bool mayTrust(std::string_view nameSpace) const;
  /// Returns true if the report is trusted for that Gateway, provided that it states that its replica serves it.
  bool trusts(const ReplicaReport& report, std::string_view gateway) const;
  /// Returns true if the report is trusted for any Gateway.
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
