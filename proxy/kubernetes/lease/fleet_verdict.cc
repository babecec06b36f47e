#include "proxy/kubernetes/lease/fleet_verdict.h"

#include <algorithm>
#include <utility>

#include "proxy/compile/ground/disclosure.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

bool hasSeen(const ReplicaReport& report, const FleetQuestion& question) {
  const auto seen = report.seen.find(question.object.kind);
  return seen != report.seen.end() && seen->second >= question.version;
}

bool isServing(const ReplicaReport& report, const FleetQuestion& question) {
  if (question.version != 0) return hasSeen(report, question);
  if (!question.objects.empty()) return report.servedObjects == question.objects;
  const std::string& revision = question.revision.empty() ? report.desired : question.revision;
  return !revision.empty() && report.served == revision;
}

bool isSameObject(const FailedObject& a, const FailedObject& b) {
  return a.kind == b.kind && a.nameSpace == b.nameSpace && a.name == b.name;
}

bool isAsked(const ReplicaReport& report, const FleetQuestion& question) {
  return (question.replicaOf.empty() || report.replicaOf == question.replicaOf) &&
         (question.gateway.empty() || report.serves(question.gateway));
}

bool hasFailed(const ReplicaReport& report, const FleetQuestion& question) {
  if (!question.revision.empty() && report.desired != question.revision) return false;
  if (!question.objects.empty()) return report.desiredObjects == question.objects && report.refusesObjects;
  const FailedObject& asked = question.object;
  if (asked.name.empty())
    return report.state != control::ConfigState::kInSync || (question.anyObject && report.failedInAll > 0);
  return std::any_of(report.failed.begin(), report.failed.end(),
                     [&](const FailedObject& each) { return !each.served && isSameObject(each, asked); });
}

/// Returns the text about an object of a replica's report for readers of that namespace; empty: for all readers.
std::string complaintAbout(const FailedObject& object, std::string_view reader) {
  if (object.nameSpace.empty()) {
    return boundedText(object.kind + " " + object.name + ": " + object.reason + ": " + object.message,
                       ReplicaReport::kMostToldBytes);
  }
  const bool isOwn = reader.empty() || reader == object.nameSpace;
  const std::string name =
      compile::nameFor(isOwn ? object.nameSpace : reader, object.kind, object.nameSpace, object.name);
  return boundedText(name + ": " + object.reason + (isOwn ? ": " + object.message : std::string()),
                     ReplicaReport::kMostToldBytes);
}

/// Returns why the replica refused the set, in parentheses. A reader of one namespace sees objects of that namespace
/// only.
std::string refusalFor(const std::string& reader, const ReplicaReport& report) {
  if (report.problem.empty()) return {};
  const bool tells = reader.empty() || report.problemOfClass || report.problemNamespace == reader;
  if (!tells) return " (its log says why)";
  return " (" + boundedText(report.problem, ReplicaReport::kMostToldBytes) + ")";
}

/// Returns the namespace of the verdict's readers; empty: they may read all namespaces.
std::string readerOf(const FleetQuestion& question) {
  if (!question.object.name.empty()) return question.object.nameSpace;
  return question.gateway.substr(0, question.gateway.find('/'));
}

/// Returns the reason of a failing replica in one phrase.
std::string complaint(const ReplicaReport& report, const FleetQuestion& question) {
  const std::string reader = readerOf(question);
  const bool refusesAll =
      !question.objects.empty() || (question.object.name.empty() && report.state != control::ConfigState::kInSync);
  for (const FailedObject& each : report.failed) {
    if (refusesAll) break;
    if (each.served || (!question.object.name.empty() && !isSameObject(each, question.object))) continue;
    return complaintAbout(each, reader);
  }
  const std::string refuses = "it refuses revision " + (question.objects.empty() ? report.desired : question.objects) +
                              refusalFor(reader, report);
  return report.state == control::ConfigState::kRollback ? refuses + " and serves the last good one, " + report.served
                                                         : refuses + " and has no good one";
}

/// Fills in state, reason and message. `complaints` has one for each failing replica, in their order.
void conclude(FleetVerdict& verdict, const std::vector<ReplicaComplaint>& complaints, const std::string& reader) {
  const std::size_t failing = complaints.size();
  if (failing == 0) {
    verdict.reason = verdict.replicas == 0 ? "NoReplicas" : "ReplicasInSync";
    verdict.message = verdict.replicas == 0 ? "No replica reports." : "";
    return;
  }
  const bool all = failing == verdict.replicas;
  verdict.state = all ? FleetState::kError : FleetState::kDegraded;
  verdict.reason = all ? "AllReplicasFailing" : "SomeReplicasFailing";
  verdict.message = complaintText(complaints, verdict.replicas, reader);
}

}  // namespace

std::vector<ReplicaComplaint> byReplica(std::vector<ReplicaComplaint> complaints) {
  std::stable_sort(complaints.begin(), complaints.end(),
                   [](const ReplicaComplaint& a, const ReplicaComplaint& b) { return a.replica < b.replica; });
  complaints.erase(
      std::unique(complaints.begin(), complaints.end(),
                  [](const ReplicaComplaint& a, const ReplicaComplaint& b) { return a.replica == b.replica; }),
      complaints.end());
  return complaints;
}

std::string complaintText(const std::vector<ReplicaComplaint>& complaints, std::size_t replicas,
                          const std::string& reader) {
  const std::size_t failing = complaints.size();
  std::vector<const ReplicaComplaint*> named;
  for (const ReplicaComplaint& each : complaints) {
    if (reader.empty() || each.nameSpace == reader) named.push_back(&each);
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(named.size(), ReplicaComplaint::kMostNamed); ++i) {
    names += (i == 0 ? "" : ", ") + named[i]->replica;
  }
  const auto andMore = [&](std::size_t count, const char* which) {
    if (count > 0) names += (names.empty() ? "" : " and ") + std::to_string(count) + which;
  };
  andMore(named.size() - std::min(named.size(), ReplicaComplaint::kMostNamed), " more");
  andMore(failing - named.size(), " of another namespace");
  const ReplicaComplaint& told = named.empty() ? complaints.front() : *named.front();
  return std::to_string(failing) + " of " + std::to_string(replicas) +
         (replicas == 1 ? " replica fails: " : " replicas fail: ") + names + ". " +
         (named.empty() ? "One" : told.replica) + " says: " + told.text;
}

std::string_view fleetStateName(FleetState state) {
  switch (state) {
    case FleetState::kActive:
      return "Active";
    case FleetState::kDegraded:
      return "Degraded";
    case FleetState::kError:
      return "Error";
  }
  return "";
}

int FleetVerdict::failingPercent() const {
  if (failing.empty() || replicas == 0) return 0;
  if (failing.size() >= replicas) return 100;
  return std::clamp(static_cast<int>(failing.size() * 100 / replicas), 1, 99);
}

base::MonotonicTime SeenReport::end() const {
  return changedAt + std::min<base::Duration>(leaseDuration(lease, kReportDuration), std::chrono::hours(24));
}

FleetVerdict aggregate(const std::vector<const SeenReport*>& reports, const FleetQuestion& question,
                       base::MonotonicTime now) {
  FleetVerdict verdict;
  std::vector<ReplicaComplaint> complaints;
  for (const SeenReport* each : reports) {
    if (each->isGone(now) || !isAsked(each->report, question)) continue;
    ++verdict.replicas;
    const ReplicaReport& report = each->report;
    if (isServing(report, question)) ++verdict.serving;
    if (hasFailed(report, question)) {
      complaints.push_back({report.nameSpace, report.nameSpace + "/" + report.replica, complaint(report, question)});
    }
  }
  complaints = byReplica(std::move(complaints));
  for (const ReplicaComplaint& each : complaints) verdict.failing.push_back(each.replica);
  conclude(verdict, complaints, question.namesAll ? std::string() : readerOf(question));
  return verdict;
}

}  // namespace sluice::kubernetes
