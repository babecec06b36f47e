// A ReplicaReport is the report of a replica of the data plane about itself; aggregate() judges the reports of all
// replicas.
//
// A replica reports in a Lease of its own namespace, which it renews every kReportRenewPeriod and whenever its report
// changes. Reports are listed by the label `sluice.dev/replica-of`. The annotation `sluice.dev/report` contains the
// report as JSON. The replica's Pod owns the Lease, so that the Lease is deleted with it. Only that replica writes it:
// it is posted once, and after that the same body is a merge patch.
//
// Whether a replica is still there is judged by the observer's own clock, never by the times in the Lease: a report is
// valid for its leaseDurationSeconds, which are three renewals, from the moment when the observer saw the Lease change.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/control/state/revisions.h"
#include "proxy/kubernetes/lease/lease_record.h"

namespace sluice::kubernetes {

inline constexpr base::Duration kReportRenewPeriod = std::chrono::seconds(10);
inline constexpr base::Duration kReportDuration = 3 * kReportRenewPeriod;
inline constexpr std::string_view kReplicaOfLabel = "sluice.dev/replica-of";
inline constexpr std::string_view kReportAnnotation = "sluice.dev/report";

/// An object that the replica could not put into service as it is written.
struct FailedObject {
  std::string kind = {};
  std::string nameSpace = {};
  std::string name = {};
  std::string revision = {};  // of the object as it is written; empty if that is not known
  std::string reason = {};
  std::string message = {};

  bool operator==(const FailedObject&) const = default;
};

struct ReplicaReport {
  static constexpr std::size_t kMostFailed = 50;
  static constexpr std::size_t kMostMessageBytes = 1024;  // of a message that are written
  static constexpr std::size_t kMostToldBytes = 256;      // of a message that are read, and shown in conditions
  static constexpr std::size_t kMostBytes = std::size_t{32} * 1024;  // of the JSON
  static constexpr std::size_t kMostNameBytes = 253;                 // of the replica, and of a revision
  static constexpr std::size_t kMostGatewayBytes = std::size_t{8} * 1024;
  static constexpr std::size_t kMostSeen = 16;
  static constexpr std::size_t kMostKindBytes = 63;  // of a kind in `seen`

  std::string replica;    // the name of its Pod, or any other that is unique in the namespace
  std::string nameSpace;  // of its Lease and its Pod
  std::string podUid;     // of the Pod that owns the Lease and has the name of the replica; empty: there is none
  std::string replicaOf;  // the group of replicas to which it belongs
  std::string gateway;    // "namespace/name" of the Gateways that it serves, joined by ","; empty: all of the class
  std::string desired;    // revisions
  std::string served;
  control::ConfigState state = control::ConfigState::kInSync;
  std::string problem = {};           // why the desired revision was refused; empty if it was not
  std::string problemNamespace = {};  // of the object that the problem is about; empty if it is about no such object
  /// The revisions of the objects that it got last, and of those that it serves. EgressRevisions are named by them.
  /// They are empty if it keeps no EgressRevisions.
  std::string desiredObjects = {};
  std::string servedObjects = {};
  std::string servedObjectsSince = {};  // when this process began to serve them: a metav1.MicroTime
  bool refusesObjects = false;          // desiredObjects were refused, and not only not read
  /// The resourceVersion up to which it serves the objects of a kind. API servers compare them as numbers (KEP-5504).
  std::map<std::string, std::uint64_t> seen = {};
  std::vector<FailedObject> failed;
  std::size_t failedInAll = 0;  // at least failed.size()

  bool operator==(const ReplicaReport&) const = default;

  /// Returns true if it states that the replica serves that Gateway ("namespace/name").
  bool serves(std::string_view gateway) const;
  /// Returns about how many bytes it takes in memory.
  std::size_t bytes() const;
};

/// Returns `name` as the value of a label: one that is longer than 63 bytes is cut and ends with digits of its digest.
std::string labelValue(std::string_view name);
/// Returns the name of the replica's Lease: "sluice-replica-POD", cut likewise at 253 bytes.
std::string replicaLeaseName(std::string_view replica);

/// Returns the Lease: the body to post, and the merge patch that renews it. The report in it has at most kMostBytes: of
/// `failed`, the first kMostFailed are written, messages are cut at kMostMessageBytes, and then the last ones are left
/// out until it fits. failedInAll counts them all.
std::string replicaLease(const ReplicaReport& report, base::WallTime now);
/// Reads a report, with messages cut at kMostToldBytes. The error names the part that is missing or has the wrong form,
/// or that is too large: an author of Leases must not be able to fill the memory of their readers.
base::Result<ReplicaReport> readReplicaReport(const content::Value& lease);

enum class FleetState : std::uint8_t {
  kActive,    // no replica fails, or there is none
  kDegraded,  // some fail
  kError      // all fail
};
/// Returns "Active", "Degraded" or "Error".
std::string_view fleetStateName(FleetState state);

/// A FleetVerdict is the judgement on all replicas together.
struct FleetVerdict {
  static constexpr std::size_t kMostNamed = 10;

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
