#include "proxy/kubernetes/revisions/revision_verdict.h"

#include <utility>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

RevisionState stateOf(const EgressRevision& before, const FleetVerdict& verdict) {
  if (before.state == RevisionState::kTainted || verdict.state == FleetState::kError) return RevisionState::kTainted;
  if (!verdict.failing.empty()) return RevisionState::kRefused;
  if (verdict.serving > 0) {
    return verdict.serving == verdict.replicas ? RevisionState::kServed : RevisionState::kPartlyServed;
  }
  return before.lastServed.empty() ? RevisionState::kPending : RevisionState::kSuperseded;
}

}  // namespace

ReportsOfGateway::ReportsOfGateway(std::string gateway, const ReplicaReports& reports, base::MonotonicTime now)
    : gateway_(std::move(gateway)), now_(now), counted_(reports.of(gateway_)) {
  for (const SeenReport* each : counted_) {
    const ReplicaReport& report = each->report;
    if (each->isGone(now) || report.gateway != gateway_) continue;
    replicas_.try_emplace(report.replica, &report);
    given_.insert(report.desiredObjects);
    served_.insert(report.servedObjects);
  }
}

FleetVerdict ReportsOfGateway::verdict(const std::string& revision) const {
  FleetQuestion question;
  question.gateway = gateway_;
  question.objects = revision;
  return aggregate(counted_, question, now_);
}

const ReplicaReport* ReportsOfGateway::find(std::string_view replica) const {
  const auto found = replicas_.find(replica);
  return found == replicas_.end() ? nullptr : found->second;
}

EgressRevision judgeRevision(EgressRevision revision, const ReportsOfGateway& reports, base::WallTime wallNow) {
  const FleetVerdict verdict = reports.verdict(revision.revision);
  const RevisionState before = revision.state;
  if (revision.awaitsCanary()) {
    const ReplicaReport* canary = reports.find(revision.canary);
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

CanaryReport canaryOf(const EgressRevision& revision, const ReportsOfGateway& reports) {
  if (!revision.awaitsCanary()) return {};
  const ReplicaReport* report = reports.find(revision.canary);
  // If no reports are trusted, those of the next canary would not be trusted, either.
  if (report == nullptr) return {reports.any() ? CanaryState::kGone : CanaryState::kWaited};
  if (report->servedObjects != revision.revision) return {CanaryState::kWaited};
  return {CanaryState::kServing, report->servedObjectsSince};
}

}  // namespace sluice::kubernetes
