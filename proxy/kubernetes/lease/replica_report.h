// A ReplicaReport is what a replica of the data plane says about itself; aggregate() judges the reports of all
// replicas.
//
// A replica reports in a Lease of its own namespace, which it renews every kReportRenewPeriod and whenever its report
// changes. The label `sluice.dev/replica-of` is what reports are listed by, the annotation `sluice.dev/report` holds
// the report as JSON, and the replica's Pod owns the Lease, so that it goes with it. Only that replica writes it: it is
// posted once, and after that the same body is a merge patch.
//
// Whether a replica is still there is judged by the observer's own clock, never by the times in the Lease: a report
// counts for its leaseDurationSeconds, which are three renewals, from when the observer saw the Lease change.
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
  static constexpr std::size_t kMostMessageBytes = 1024;  // that are written
  static constexpr std::size_t kMostToldBytes = 256;      // of a message that are read, and told in conditions
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
  std::string problem = {};           // why what is desired was refused; empty if it was not
  std::string problemNamespace = {};  // of the object that the problem is about; empty if it is about no such object
  /// The revisions by which EgressRevisions are named: of the objects that it was given last, and of those that it
  /// serves. They are empty if it keeps no EgressRevisions.
  std::string desiredObjects = {};
  std::string servedObjects = {};
  std::string servedObjectsSince = {};  // when this process began to serve them: a metav1.MicroTime
  bool refusesObjects = false;          // desiredObjects were refused, and not only not read
  /// The resourceVersion up to which it serves the objects of a kind. API servers compare them as numbers (KEP-5504).
  std::map<std::string, std::uint64_t> seen = {};
  std::vector<FailedObject> failed;
  std::size_t failedInAll = 0;  // at least failed.size()

  bool operator==(const ReplicaReport&) const = default;

  /// Returns true if it says that the replica serves that Gateway ("namespace/name").
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
/// Reads a report, with messages cut at kMostToldBytes. The error says which part is missing or has the wrong form, or
/// what in it or in its Lease is too large: whoever may write Leases must not fill the memory of those that read them.
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
  /// Names replicas of the reader's namespace alone: that of the object, or else of the Gateway, that was asked for. If
  /// neither was, it names replicas of all.
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
  /// It was gone when forget() was called. What is kept of it tells a Lease that is listed again from one that is
  /// renewed.
  bool forgotten = false;

  /// Returns when the replica is gone unless it reports again.
  base::MonotonicTime end() const;
  bool isGone(base::MonotonicTime now) const { return now >= end(); }
};

/// Says which reports count in aggregate(), and what failing means.
struct FleetQuestion {
  std::string replicaOf = {};  // empty: whatever it is
  std::string gateway = {};    // empty: whatever it is. Replicas that serve all Gateways of the class count for each
  /// The revision that is judged. Only replicas that were given it can fail by it: with another desired revision they
  /// count as neither failing nor serving. Empty: each by the revision that it desires.
  std::string revision = {};
  /// If this is not empty, it is judged in place of `revision`: the revision of an EgressRevision.
  std::string objects = {};
  /// A replica fails if its state is not InSync. That alone decides about rollbacks. If this is true, it fails also if
  /// it reports any object.
  bool anyObject = false;
  /// If this is not 0, a replica serves what is asked for if it has seen so much of the object's kind, whatever its
  /// revision.
  std::uint64_t version = 0;
  /// The verdict names replicas of all namespaces: whoever asks may read these.
  bool namesAll = false;
  /// If this has a name, a replica fails only if it reports this object (kind, namespace, name), whatever its state.
  FailedObject object = {};
};

/// Judges the reports of replicas that are not gone.
FleetVerdict aggregate(const std::vector<const SeenReport*>& reports, const FleetQuestion& question,
                       base::MonotonicTime now);

}  // namespace sluice::kubernetes
