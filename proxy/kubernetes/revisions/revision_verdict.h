// Judges an EgressRevision by the reports of its Gateway's replicas.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/kubernetes/lease/replica_reports.h"
#include "proxy/kubernetes/revisions/egress_revision.h"

namespace sluice::kubernetes {

/// The reports of one Gateway's replicas at one time, gathered once for all of its revisions.
class ReportsOfGateway {
 public:
  /// `gateway` is "namespace/name". `reports` outlives it and does not change.
  ReportsOfGateway(std::string gateway, const ReplicaReports& reports, base::MonotonicTime now);

  /// Returns the judgement on a revision of the Gateway's objects.
  FleetVerdict verdict(const std::string& revision) const;
  /// Returns the report of a replica that serves only this Gateway; nullptr if there is none.
  const ReplicaReport* find(std::string_view replica) const;
  /// Returns true if any replica that serves only this Gateway reports.
  bool any() const { return !replicas_.empty(); }
  /// Returns the reports of these replicas, by their names.
  const std::map<std::string_view, const ReplicaReport*>& replicas() const { return replicas_; }
  /// Returns true if a replica got that revision last.
  bool isGiven(std::string_view revision) const { return given_.contains(revision); }
  /// Returns true if a replica serves that revision or got it last.
  bool isInUse(std::string_view revision) const { return isGiven(revision) || served_.contains(revision); }

 private:
  std::string gateway_;
  base::MonotonicTime now_;
  std::vector<const SeenReport*> counted_;
  std::map<std::string_view, const ReplicaReport*> replicas_;
  std::set<std::string_view> given_;
  std::set<std::string_view> served_;
};

/// Returns the revision with its current state, `served`, `lastServed`, `message`, `sync`, `rollback` and `replicas`. A
/// revision that its canary refuses is tainted, because no other replica gets it. Only replicas in the namespace of the
/// revision are named.
EgressRevision judgeRevision(EgressRevision revision, const ReportsOfGateway& reports, base::WallTime wallNow);

enum class CanaryState : std::uint8_t {
  kNone,    // the revision waits for no canary (any more)
  kGone,    // the canary does not report, and another replica of the Gateway does
  kWaited,  // it does not serve the revision yet, or no replica reports
  kServing
};
struct CanaryReport {
  CanaryState state = CanaryState::kNone;
  std::string since = {};  // kServing: changes when the canary starts again, as after a crash
};
CanaryReport canaryOf(const EgressRevision& revision, const ReportsOfGateway& reports);
/// Returns true if each replica that reports got the revision last and has not refused it, so that all can serve it at
/// the same time.
bool isReadyOnAll(const EgressRevision& revision, const ReportsOfGateway& reports);

}  // namespace sluice::kubernetes
