// Judges the reports of all replicas together (replica_report.h).
//
// Values and a pure function; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/kubernetes/lease/lease_record.h"
#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {

enum class FleetState : std::uint8_t {
  kActive,    // no replica fails, or there is none
  kDegraded,  // some fail
  kError      // all fail
};
/// Returns "Active", "Degraded" or "Error".
std::string_view fleetStateName(FleetState state);

/// A replica that complains, and its words.
struct ReplicaComplaint {
  static constexpr std::size_t kMostNamed = 5;

  std::string nameSpace;
  std::string replica;  // "namespace/name"
  std::string text;
};

/// Returns the first complaint of each replica, sorted by their names. Two Leases may have the name of one replica.
std::vector<ReplicaComplaint> byReplica(std::vector<ReplicaComplaint> complaints);

/// Returns a text about the result of byReplica(), which is not empty, of a number of `replicas` in all. It
/// names up to kMostNamed replicas of the namespace `reader`; empty: of all namespaces. It repeats the words of the
/// first one of these.
std::string complaintText(const std::vector<ReplicaComplaint>& complaints, std::size_t replicas,
                          const std::string& reader);

/// A FleetVerdict is the judgement on all replicas together.
struct FleetVerdict {
  FleetState state = FleetState::kActive;
  std::string reason;  // "NoReplicas", "ReplicasInSync", "SomeReplicasFailing" or "AllReplicasFailing"
  /// Names only replicas of the reader's namespace, which is that of the object or else of the Gateway in the question.
  /// If the question has neither, it names replicas of all namespaces.
  std::string message;
  std::size_t replicas = 0;
  std::size_t serving = 0;           // replicas that serve the revision
  std::vector<std::string> failing;  // names of replicas, sorted

  /// Returns 0 if there are no replicas. It is 100 only if all fail, and 0 only if none does.
  int failingPercent() const;
};

/// A report with the time at which its Lease was last seen to change.
struct SeenReport {
  ReplicaReport report;
  LeaseRecord lease;
  base::MonotonicTime changedAt{};
  /// True if the replica was gone when forget() was called. The other members distinguish a Lease that is listed again
  /// from one that is renewed.
  bool forgotten = false;

  /// Returns when the replica is gone unless it reports again.
  base::MonotonicTime end() const;
  bool isGone(base::MonotonicTime now) const { return now >= end(); }
};

/// Selects the reports for aggregate(), and defines when a replica fails.
struct FleetQuestion {
  std::string replicaOf = {};  // empty: any
  std::string gateway = {};    // empty: any. Replicas that serve all Gateways of the class are included for each
  /// The revision that is judged. A replica with another desired revision neither fails nor serves. Empty: each replica
  /// is judged by its own desired revision.
  std::string revision = {};
  /// If this is not empty, it is judged in place of `revision`: the revision of an EgressRevision.
  std::string objects = {};
  /// A replica fails if its state is not InSync; only that decides about rollbacks. If this is true, it also fails if
  /// it reports any object.
  bool anyObject = false;
  /// If this is not 0, a replica serves the object if it has seen this resourceVersion of its kind, whatever its
  /// revision.
  std::uint64_t version = 0;
  /// The verdict may name replicas of all namespaces, because its readers may read these.
  bool namesAll = false;
  /// If this has a name, a replica fails only if it reports this object (kind, namespace, name), whatever its state.
  FailedObject object = {};
};

/// Judges the reports of replicas that are not gone.
FleetVerdict aggregate(const std::vector<const SeenReport*>& reports, const FleetQuestion& question,
                       base::MonotonicTime now);

}  // namespace sluice::kubernetes
