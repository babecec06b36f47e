// A ClusterStatus is the output of `sluice status --kubernetes`: the Gateways of a cluster, the replicas that serve
// them, their routes, and other objects that have faults, by their statuses and the reports of the replicas.
// Differences between replicas come first, and objects with faults before others.
//
// Values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/content/output/output.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/lease/fleet_verdict.h"
#include "proxy/kubernetes/lease/replica_report.h"
#include "proxy/server/kubernetes/cluster_lists.h"
#include "proxy/server/kubernetes/replica_differences.h"

namespace sluice::server {

struct ObjectInCluster {
  std::string kind;
  std::string nameSpace;
  std::string name;
  std::vector<std::string> faults;  // sentences for people
  content::Value status;            // the part that this program has written (our_status.h)

  bool operator<(const ObjectInCluster& other) const;
};

struct GatewayInCluster : ObjectInCluster {
  std::string gatewayClass;
  std::vector<std::string> addresses;
  std::int64_t routes = 0;  // routes that name it
  bool keptPods = false;    // the controller keeps its Pods
  kubernetes::FleetVerdict fleet;
};

struct ReplicaInCluster {
  kubernetes::ReplicaReport report;
  std::string renewed;  // the renewTime of its Lease
  /// The Lease has expired by the clock of this machine, so the replica has ended and is ignored.
  bool gone = false;

  bool hasFaults() const;
};

struct ClusterStatus {
  std::string server;
  std::vector<GatewayInCluster> gateways;
  std::vector<ReplicaInCluster> replicas;  // replicas whose reports are trusted
  std::size_t ignored = 0;                 // Leases of replicas that no Gateway trusts (lease/reporters.h)
  std::vector<ObjectInCluster> routes;
  std::vector<ObjectInCluster> others;   // objects of other kinds that have faults
  std::vector<std::string> unread = {};  // the paths of collections that this user may not list
  std::vector<std::string> problems;     // Leases of trusted replicas that cannot be read

  /// Returns the replicas that differ from the others of their group.
  std::vector<DifferingGroup> differences() const;

  /// Returns true if an object or a live replica has faults, or if this program has no Gateway.
  bool hasFaults() const;
};

/// Returns the collections that readClusterStatus() needs.
std::vector<ClusterCollection> statusCollections();
/// Reads the lists of statusCollections(). `now` is the time of this machine.
ClusterStatus readClusterStatus(ClusterLists&& lists, base::WallTime now);

/// Returns it for people and programs.
content::Output clusterStatusOutput(const ClusterStatus& status);

}  // namespace sluice::server
