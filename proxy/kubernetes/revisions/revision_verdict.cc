#include "proxy/kubernetes/revisions/revision_verdict.h"

#include <algorithm>
#include <utility>
#include <vector>

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

bool isGivenTo(const ReplicaReport& report, const EgressRevision& revision) {
  return report.desiredObjects == revision.revision;
}

/// Counts the replicas that serve only this Gateway by their relation to a revision.
struct RevisionTally {
  std::size_t given = 0;
  std::size_t publishing = 0;  // of those, how many serve it
  std::size_t helpless = 0;    // of all, how many have no good configuration to serve
};

RevisionTally tallyOf(const EgressRevision& revision, const ReportsOfGateway& reports) {
  RevisionTally tally;
  for (const auto& [name, report] : reports.replicas()) {
    if (report->state == control::ConfigState::kRollbackFailed) ++tally.helpless;
    if (!isGivenTo(*report, revision)) continue;
    ++tally.given;
    if (report->servedObjects == revision.revision) ++tally.publishing;
  }
  return tally;
}

std::string_view syncOf(const EgressRevision& revision, const RevisionTally& tally, std::size_t replicas) {
  if (tally.given == 0) return revision_sync::kNotDesired;
  const bool refused = revision.state == RevisionState::kTainted || revision.state == RevisionState::kRefused;
  if (refused) return revision_sync::kRefused;
  const bool all = tally.publishing == replicas;
  return all ? revision_sync::kPublished : revision_sync::kPending;
}

/// Without reports, it is not known whether a rollback that has failed before would succeed now.
std::string rollbackOf(const EgressRevision& revision, const RevisionTally& tally, std::size_t replicas) {
  if (replicas == 0) return revision.rollback;
  const bool tainted = revision.state == RevisionState::kTainted;
  if (tainted && tally.helpless == replicas) return std::string(revision_rollback::kAllTainted);
  const bool neverFailed = revision.rollback == revision_rollback::kNotFailed;
  return std::string(neverFailed ? revision_rollback::kNotFailed : revision_rollback::kRecovered);
}

RevisedReplica replicaOf(const ReplicaReport& report, const EgressRevision& revision) {
  if (report.servedObjects == revision.revision) return {report.replica, RevisionState::kServed, "ReplicaServes", ""};
  if (report.refusesObjects) return {report.replica, RevisionState::kRefused, "ReplicaRefuses", ""};
  const bool waits = revision.awaitsCanary() && report.replica != revision.canary;
  const char* reason = report.refusals > 0 ? "ReplicaTriesAgain" : waits ? "AwaitsCanary" : "Pending";
  return {report.replica, RevisionState::kPending, reason, ""};
}

/// A state that was known before keeps its time.
void nameReplicas(EgressRevision& revision, const ReportsOfGateway& reports, base::WallTime wallNow) {
  const std::vector<RevisedReplica> before = std::exchange(revision.replicas, {});
  for (const auto& [name, report] : reports.replicas()) {
    if (report->nameSpace != revision.nameSpace) continue;
    if (!isGivenTo(*report, revision) && report->servedObjects != revision.revision) continue;
    RevisedReplica replica = replicaOf(*report, revision);
    const auto known = std::find_if(before.begin(), before.end(), [&](const RevisedReplica& each) {
      return each.name == replica.name && each.state == replica.state;
    });
    replica.since = known != before.end() ? known->since : apiTime(wallNow);
    revision.replicas.push_back(std::move(replica));
  }
  // They are in the order of their names.
  std::stable_partition(revision.replicas.begin(), revision.replicas.end(),
                        [](const RevisedReplica& each) { return each.state == RevisionState::kRefused; });
  revision.replicas.resize(std::min(revision.replicas.size(), EgressRevision::kMostReplicas));
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
  const RevisionTally tally = tallyOf(revision, reports);
  revision.sync = syncOf(revision, tally, verdict.replicas);
  revision.rollback = rollbackOf(revision, tally, reports.replicas().size());
  nameReplicas(revision, reports, wallNow);
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

bool isReadyOnAll(const EgressRevision& revision, const ReportsOfGateway& reports) {
  const auto& all = reports.replicas();
  return std::all_of(all.begin(), all.end(),
                     [&](const auto& each) { return isGivenTo(*each.second, revision) && each.second->refusals == 0; });
}

}  // namespace sluice::kubernetes
