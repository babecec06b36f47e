#include "proxy/control/kubernetes/revisions/revision_verdict.h"

#include <algorithm>

#include "proxy/control/kubernetes/client/api_forms.h"

namespace sluice::control {
namespace {

bool awaitsCanary(const EgressRevision& revision) {
  return !revision.canary.empty() && !revision.validated && revision.state != RevisionState::kTainted;
}

const ReplicaReport* reportOfCanary(const EgressRevision& revision, const ReplicaReports& reports,
                                    base::MonotonicTime now) {
  for (const SeenReport* each : reports.of(revision.gatewayKey())) {
    const ReplicaReport& report = each->report;
    if (!each->isGone(now) && report.gateway == revision.gatewayKey() && report.replica == revision.canary) {
      return &report;
    }
  }
  return nullptr;
}

template <typename Predicate>
bool anyReplica(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now,
                Predicate&& predicate) {
  const std::vector<const SeenReport*> believed = reports.of(revision.gatewayKey());
  return std::any_of(believed.begin(), believed.end(), [&](const SeenReport* each) {
    return !each->isGone(now) && each->report.gateway == revision.gatewayKey() && predicate(each->report);
  });
}

RevisionState stateOf(const EgressRevision& before, const FleetVerdict& verdict) {
  if (before.state == RevisionState::kTainted || verdict.state == FleetState::kError) return RevisionState::kTainted;
  if (!verdict.failing.empty()) return RevisionState::kRefused;
  if (verdict.serving > 0) {
    return verdict.serving == verdict.replicas ? RevisionState::kServed : RevisionState::kPartlyServed;
  }
  return before.lastServed.empty() ? RevisionState::kPending : RevisionState::kSuperseded;
}

}  // namespace

EgressRevision judgeRevision(EgressRevision revision, const ReplicaReports& reports, base::MonotonicTime now,
                             base::WallTime wallNow) {
  FleetQuestion question;
  question.gateway = revision.gatewayKey();
  question.objects = revision.revision;
  const FleetVerdict verdict = reports.verdict(question, now);
  const RevisionState before = revision.state;
  if (awaitsCanary(revision)) {
    const ReplicaReport* canary = reportOfCanary(revision, reports, now);
    const bool wasGivenIt = canary != nullptr && canary->desiredObjects == revision.revision;
    if (wasGivenIt && canary->refusesObjects) revision.state = RevisionState::kTainted;
  }
  revision.state = stateOf(revision, verdict);
  revision.served = std::to_string(verdict.serving) + "/" + std::to_string(verdict.replicas);
  const bool newlyServed = verdict.serving > 0 && (revision.lastServed.empty() || before != revision.state);
  if (newlyServed) revision.lastServed = apiTime(wallNow);
  if (!verdict.failing.empty()) {
    revision.message = boundedText(verdict.message, EgressRevision::kMostMessageBytes);
  } else if (revision.state != RevisionState::kTainted) {
    revision.message.clear();
  }
  return revision;
}

CanaryReport canaryOf(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now) {
  if (!awaitsCanary(revision)) return {};
  const ReplicaReport* report = reportOfCanary(revision, reports, now);
  if (report == nullptr) {
    // If nobody's reports count, those of the next canary would not either.
    const bool others = anyReplica(revision, reports, now, [](const ReplicaReport&) { return true; });
    return {others ? CanaryState::kGone : CanaryState::kWaited};
  }
  if (report->servedObjects != revision.revision) return {CanaryState::kWaited};
  return {CanaryState::kServing, report->servedObjectsSince};
}

bool isGiven(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now) {
  return anyReplica(revision, reports, now,
                    [&](const ReplicaReport& report) { return report.desiredObjects == revision.revision; });
}

bool isInUse(const EgressRevision& revision, const ReplicaReports& reports, base::MonotonicTime now) {
  return anyReplica(revision, reports, now, [&](const ReplicaReport& report) {
    return report.desiredObjects == revision.revision || report.servedObjects == revision.revision;
  });
}

}  // namespace sluice::control
