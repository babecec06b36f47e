// What becomes of an EgressRevision by what the replicas of its Gateway report.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/control/kubernetes/lease/replica_reports.h"
#include "proxy/control/kubernetes/revisions/egress_revision.h"

namespace sluice::control {

/// Returns the revision with its state, `served`, `lastServed` and `message` as they are now. One that its canary
/// refuses is tainted, because no other replica is given it.
EgressRevision judgeRevision(EgressRevision revision, const ReplicaReports& reports, base::MonotonicTime now,
                             base::WallTime wallNow);

enum class CanaryState : std::uint8_t {
  kNone,    // the revision waits for no canary (any more)
  kGone,    // the canary does not report, and another replica of the Gateway does
  kWaited,  // it does not serve the revision yet, or no replica reports
  kServing
};
struct CanaryReport {
  CanaryState state = CanaryState::kNone;
  std::string since = {};  // kServing: changes when the canary begins anew, as after a crash
};
CanaryReport canaryOf(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now);

/// Returns true if a replica was given it last.
bool isGiven(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now);
/// Returns true if a replica serves it or was given it last.
bool isInUse(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now);

}  // namespace sluice::control
