// A ReplicaReport is the report of a replica of the data plane about itself. aggregate() judges the reports of all
// replicas (fleet_verdict.h).
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

/// A condition of an object that is not good on this replica.
struct FailedObject {
  std::string kind = {};
  std::string nameSpace = {};
  std::string name = {};
  std::string revision = {};  // of the object as it is written; empty if that is not known
  std::string reason = {};
  std::string message = {};
  std::string type = {};        // of the condition; empty if an older version of this program has written the report
  std::string part = {};        // that has the condition, as in config::conditionsOf()
  std::int64_t generation = 0;  // the observedGeneration of the condition; 0 if it has none
  /// The object is served as it is written, with errors: a Secret cannot be read, a Backend takes no connections, or
  /// the server of a processor was not asked yet. If this is false, the replica could not put the object into
  /// service as it is written.
  bool served = false;

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
  static constexpr std::int64_t kMostRefusals = 1'000'000;

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
  bool problemOfClass = false;        // the GatewayClass has the problem in its own conditions, so all may know it
  /// The revisions of the objects that it got last, and of those that it serves. EgressRevisions are named by them.
  /// They are empty if it keeps no EgressRevisions.
  std::string desiredObjects = {};
  std::string servedObjects = {};
  std::string servedObjectsSince = {};  // when this process began to serve them: a metav1.MicroTime
  bool refusesObjects = false;          // desiredObjects were refused for good, and not only not read
  std::uint32_t refusals = 0;           // how often they were refused so far
  /// The resourceVersion up to which it serves the objects of a kind. API servers compare them as numbers (KEP-5504).
  std::map<std::string, std::uint64_t> seen = {};
  /// Conditions of objects that are not served as they are written come first.
  std::vector<FailedObject> failed;
  std::size_t failedInAll = 0;  // of those that are not served as they are written: at least the ones in `failed`
  std::size_t listedInAll = 0;  // of all: at least failed.size()

  bool operator==(const ReplicaReport&) const = default;

  /// Returns how many of `failed` are not served as they are written.
  std::size_t unserved() const;

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
/// out until it fits. failedInAll and listedInAll count them all.
std::string replicaLease(const ReplicaReport& report, base::WallTime now);
/// Reads a report, with messages cut at kMostToldBytes. The error names the part that is missing or has the wrong form,
/// or that is too large: an author of Leases must not be able to fill the memory of their readers.
base::Result<ReplicaReport> readReplicaReport(const content::Value& lease);

}  // namespace sluice::kubernetes
