// A ClusterStatus is what `sluice status --kubernetes` prints: the Gateways of a cluster, the replicas that serve them,
// and their routes, as their statuses and the reports of the replicas have them. What has faults comes first.
//
// Values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/lease/replica_report.h"
#include "proxy/server/kubernetes/cluster_lists.h"

namespace sluice::server {

/// A Gateway or a route.
struct ObjectInCluster {
  std::string kind;
  std::string nameSpace;
  std::string name;
  std::vector<std::string> faults;  // sentences for people
  content::Value status;            // of a route: the list of the parents that this program has written

  bool operator<(const ObjectInCluster& other) const;
};

struct GatewayInCluster : ObjectInCluster {
  std::string gatewayClass;
  std::vector<std::string> addresses;
  std::int64_t routes = 0;  // that name it
  bool keptPods = false;    // the controller keeps its Pods
  kubernetes::FleetVerdict fleet;
};

struct ReplicaInCluster {
  kubernetes::ReplicaReport report;
  std::string renewed;  // when its Lease was, as it says itself
  /// The Lease is older than it may be, by the clock of this machine: the replica has ended and counts nowhere.
  bool gone = false;

  bool hasFaults() const;
};

struct ClusterStatus {
  std::string server;
  std::vector<GatewayInCluster> gateways;
  std::vector<ReplicaInCluster> replicas;  // whose reports count
  std::size_t ignored = 0;                 // Leases of replicas that count for no Gateway (lease/reporters.h)
  std::vector<ObjectInCluster> routes;
  std::vector<std::string> problems;  // Leases that would count, and are not understood

  /// Returns true if a Gateway, a route or a replica that is there has faults, or if there is no Gateway of ours.
  bool hasFaults() const;
};

/// Returns what readClusterStatus() needs to know.
std::vector<ClusterCollection> statusCollections();
/// Makes sense of what statusCollections() has brought. `now` is the time of this machine.
ClusterStatus readClusterStatus(ClusterLists&& lists, base::WallTime now);

/// Returns it for people.
std::string clusterStatusText(const ClusterStatus& status);
/// Returns it for programs.
std::string clusterStatusJson(const ClusterStatus& status);

}  // namespace sluice::server
