#include "proxy/kubernetes/lease/replica_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

using content::Value;

constexpr std::size_t kMostLabelBytes = 63;
constexpr std::size_t kMostNameBytes = 253;
constexpr std::int64_t kReportSeconds = kReportDuration / std::chrono::seconds(1);

std::string failedObjectJson(const FailedObject& each) {
  base::JsonWriter json;
  json.beginObject().member("kind", each.kind).member("namespace", each.nameSpace).member("name", each.name);
  json.member("revision", each.revision).member("reason", each.reason);
  return json.member("message", boundedText(each.message, ReplicaReport::kMostMessageBytes)).endObject().take();
}

std::string reportAnnotation(const ReplicaReport& report) {
  base::JsonWriter json;
  json.beginObject().member("replica", report.replica).member("replicaOf", report.replicaOf);
  json.member("gateway", report.gateway).member("desired", report.desired).member("served", report.served);
  json.member("state", configStateName(report.state));
  if (!report.problem.empty()) {
    json.member("problem", boundedText(report.problem, ReplicaReport::kMostMessageBytes));
    json.member("problemNamespace", report.problemNamespace);
  }
  if (!report.desiredObjects.empty()) {
    json.key("objects").beginObject().member("desired", report.desiredObjects);
    json.member("served", report.servedObjects);
    if (!report.servedObjectsSince.empty()) json.member("since", report.servedObjectsSince);
    if (report.refusesObjects) json.key("refused").json("true");
    json.endObject();
  }
  json.member("failedInAll", static_cast<std::int64_t>(std::max(report.failedInAll, report.failed.size())));
  json.key("seen").beginObject();
  for (const auto& [kind, version] : report.seen) json.member(kind, static_cast<std::int64_t>(version));
  json.endObject();
  json.key("failed").beginList();
  std::size_t room =
      ReplicaReport::kMostBytes - std::min(ReplicaReport::kMostBytes, base::JsonWriter(json).take().size());
  const std::size_t most = std::min(report.failed.size(), ReplicaReport::kMostFailed);
  for (std::size_t i = 0; i < most; ++i) {
    const std::string each = failedObjectJson(report.failed[i]);
    // Two more bytes are for the closing brackets, and one for the comma before the entry.
    if (each.size() + 3 > room) break;
    room -= each.size() + 1;
    json.json(each);
  }
  return json.endList().endObject().take();
}

std::optional<control::ConfigState> configStateOf(std::string_view name) {
  for (const control::ConfigState each : control::kConfigStates) {
    if (configStateName(each) == name) return each;
  }
  return std::nullopt;
}

FailedObject readFailedObject(const Value& value) {
  const auto text = [&](std::string_view key) { return std::string(textIn(&value, key)); };
  return {text("kind"),     text("namespace"), text("name"),
          text("revision"), text("reason"),    boundedText(textIn(&value, "message"), ReplicaReport::kMostToldBytes)};
}

/// Returns the uid of the Pod that owns a Lease, if it is the Lease of that replica.
std::string_view uidOfOwner(const Value& lease, const std::string& replica) {
  const Value* metadata = valueIn(&lease, "metadata");
  const Value* owners = valueIn(metadata, "ownerReferences");
  if (owners == nullptr || textIn(metadata, "name") != replicaLeaseName(replica)) return {};
  for (const Value& each : owners->items) {
    const bool isPod = textIn(&each, "kind") == "Pod" && textIn(&each, "apiVersion") == "v1";
    if (isPod && textIn(&each, "name") == replica) return textIn(&each, "uid");
  }
  return {};
}

/// Reads the member `seen` of a report.
base::Status readSeen(const Value* seen, ReplicaReport& report) {
  if (seen == nullptr) return base::Done{};
  if (seen->members.size() > ReplicaReport::kMostSeen) return base::Error::config("seen has more than 16 kinds");
  for (const content::Member& each : seen->members) {
    if (each.key.size() > ReplicaReport::kMostKindBytes)
      return base::Error::config("a kind in seen is longer than 63 bytes");
    report.seen[each.key] = static_cast<std::uint64_t>(std::max<std::int64_t>(numberIn(seen, each.key).value_or(0), 0));
  }
  return base::Done{};
}

/// Returns an error if a text of the report, or the holder of its Lease, is too long to be kept.
base::Status checkLengths(const ReplicaReport& report, const Value& lease) {
  for (const std::string* name :
       {&report.replica, &report.podUid, &report.replicaOf, &report.desired, &report.served, &report.desiredObjects,
        &report.servedObjects, &report.servedObjectsSince, &report.problemNamespace}) {
    if (name->size() > ReplicaReport::kMostNameBytes)
      return base::Error::config("a name in it is longer than 253 bytes");
  }
  if (report.gateway.size() > ReplicaReport::kMostGatewayBytes)
    return base::Error::config("gateway is longer than 8 KiB");
  if (textIn(valueIn(&lease, "spec"), "holderIdentity").size() > ReplicaReport::kMostNameBytes)
    return base::Error::config("holderIdentity is longer than 253 bytes");
  return base::Done{};
}

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
  return std::any_of(report.failed.begin(), report.failed.end(), [&](const FailedObject& each) {
    return each.kind == asked.kind && each.nameSpace == asked.nameSpace && each.name == asked.name;
  });
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
  if (!reader.empty() && report.problemNamespace != reader) return " (its log says why)";
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
  for (const FailedObject& each : report.failed) {
    if (!question.objects.empty()) break;  // the set as a whole is refused
    const FailedObject& asked = question.object;
    if (!asked.name.empty() &&
        (each.kind != asked.kind || each.nameSpace != asked.nameSpace || each.name != asked.name)) {
      continue;
    }
    return complaintAbout(each, reader);
  }
  const std::string refuses = "it refuses revision " + (question.objects.empty() ? report.desired : question.objects) +
                              refusalFor(reader, report);
  return report.state == control::ConfigState::kRollback ? refuses + " and serves the last good one, " + report.served
                                                         : refuses + " and has no good one";
}

/// A failing replica and its reason.
struct Complaint {
  std::string nameSpace;
  std::string replica;  // "namespace/name"
  std::string text;
};

/// Fills in state, reason and message. `complaints` has one for each failing replica, in their order.
void conclude(FleetVerdict& verdict, const std::vector<Complaint>& complaints, const std::string& reader) {
  const std::size_t failing = complaints.size();
  if (failing == 0) {
    verdict.reason = verdict.replicas == 0 ? "NoReplicas" : "ReplicasInSync";
    verdict.message = verdict.replicas == 0 ? "No replica reports." : "";
    return;
  }
  const bool all = failing == verdict.replicas;
  verdict.state = all ? FleetState::kError : FleetState::kDegraded;
  verdict.reason = all ? "AllReplicasFailing" : "SomeReplicasFailing";
  std::vector<const Complaint*> named;
  for (const Complaint& each : complaints) {
    if (reader.empty() || each.nameSpace == reader) named.push_back(&each);
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(named.size(), FleetVerdict::kMostNamed); ++i) {
    names += (i == 0 ? "" : ", ") + named[i]->replica;
  }
  const auto andMore = [&](std::size_t count, const char* which) {
    if (count > 0) names += (names.empty() ? "" : " and ") + std::to_string(count) + which;
  };
  andMore(named.size() - std::min(named.size(), FleetVerdict::kMostNamed), " more");
  andMore(failing - named.size(), " of another namespace");
  const Complaint& told = named.empty() ? complaints.front() : *named.front();
  verdict.message = std::to_string(failing) + " of " + std::to_string(verdict.replicas) +
                    (verdict.replicas == 1 ? " replica fails: " : " replicas fail: ") + names + ". " +
                    (named.empty() ? "One" : told.replica) + " says: " + told.text;
}

}  // namespace

bool ReplicaReport::serves(std::string_view which) const {
  return gateway.empty() || ("," + gateway + ",").find("," + std::string(which) + ",") != std::string::npos;
}

std::size_t ReplicaReport::bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const std::string* each : {&replica, &nameSpace, &podUid, &replicaOf, &gateway, &desired, &served, &problem,
                                  &problemNamespace, &desiredObjects, &servedObjects, &servedObjectsSince}) {
    bytes += each->size();
  }
  for (const auto& [kind, version] : seen) bytes += kind.size() + sizeof(version);
  for (const FailedObject& each : failed) {
    bytes += sizeof(each) + each.kind.size() + each.nameSpace.size() + each.name.size() + each.revision.size() +
             each.reason.size() + each.message.size();
  }
  return bytes;
}

std::string labelValue(std::string_view name) { return boundedName(name, kMostLabelBytes); }

std::string replicaLeaseName(std::string_view replica) {
  return boundedName("sluice-replica-" + std::string(replica), kMostNameBytes);
}

std::string replicaLease(const ReplicaReport& report, base::WallTime now) {
  base::JsonWriter json;
  json.beginObject().member("apiVersion", "coordination.k8s.io/v1").member("kind", "Lease");
  json.key("metadata").beginObject().member("name", replicaLeaseName(report.replica));
  json.member("namespace", report.nameSpace);
  json.key("labels").beginObject().member(kReplicaOfLabel, labelValue(report.replicaOf)).endObject();
  json.key("annotations").beginObject().member(kReportAnnotation, reportAnnotation(report)).endObject();
  if (!report.podUid.empty()) {
    json.key("ownerReferences").beginList().beginObject().member("apiVersion", "v1").member("kind", "Pod");
    json.member("name", report.replica).member("uid", report.podUid).endObject().endList();
  }
  json.endObject();
  writeLeaseSpec(json, {report.replica, kReportSeconds, "", apiMicroTime(now), 0, ""});
  return json.endObject().take();
}

base::Result<ReplicaReport> readReplicaReport(const content::Value& lease) {
  const Value* metadata = valueIn(&lease, "metadata");
  const std::string_view annotation = textIn(valueIn(metadata, "annotations"), kReportAnnotation);
  if (annotation.empty()) return base::Error::config("annotation " + std::string(kReportAnnotation) + " is missing");
  if (annotation.size() > ReplicaReport::kMostBytes) return base::Error::config("the report is larger than 32 KiB");
  const base::Result<Value> parsed = content::parseJson(annotation);
  if (!parsed) return parsed.error();
  const std::optional<control::ConfigState> state = configStateOf(textIn(&*parsed, "state"));
  if (!state) return base::Error::config("state must be InSync, Rollback or RollbackFailed");
  ReplicaReport report;
  report.replica = textIn(&*parsed, "replica");
  if (report.replica.empty()) return base::Error::config("replica is missing");
  report.nameSpace = textIn(metadata, "namespace");
  report.replicaOf = textIn(&*parsed, "replicaOf");
  report.gateway = textIn(&*parsed, "gateway");
  report.desired = textIn(&*parsed, "desired");
  report.served = textIn(&*parsed, "served");
  report.state = *state;
  report.problem = boundedText(textIn(&*parsed, "problem"), ReplicaReport::kMostToldBytes);
  report.problemNamespace = textIn(&*parsed, "problemNamespace");
  const Value* objects = valueIn(&*parsed, "objects");
  report.desiredObjects = textIn(objects, "desired");
  report.servedObjects = textIn(objects, "served");
  report.servedObjectsSince = textIn(objects, "since");
  report.podUid = uidOfOwner(lease, report.replica);
  if (base::Status lengths = checkLengths(report, lease); !lengths.ok()) return std::move(lengths).error();
  const Value* refused = valueIn(objects, "refused");
  report.refusesObjects = refused != nullptr && refused->text == "true";
  if (base::Status seen = readSeen(valueIn(&*parsed, "seen"), report); !seen.ok()) return std::move(seen).error();
  if (const Value* failed = valueIn(&*parsed, "failed"); failed != nullptr) {
    for (const Value& each : failed->items) {
      if (report.failed.size() < ReplicaReport::kMostFailed) report.failed.push_back(readFailedObject(each));
    }
  }
  const std::int64_t inAll = numberIn(&*parsed, "failedInAll").value_or(0);
  report.failedInAll = std::max(report.failed.size(), static_cast<std::size_t>(std::max<std::int64_t>(inAll, 0)));
  return report;
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
  std::vector<Complaint> complaints;
  for (const SeenReport* each : reports) {
    if (each->isGone(now) || !isAsked(each->report, question)) continue;
    ++verdict.replicas;
    const ReplicaReport& report = each->report;
    if (isServing(report, question)) ++verdict.serving;
    if (hasFailed(report, question)) {
      complaints.push_back({report.nameSpace, report.nameSpace + "/" + report.replica, complaint(report, question)});
    }
  }
  std::stable_sort(complaints.begin(), complaints.end(),
                   [](const Complaint& a, const Complaint& b) { return a.replica < b.replica; });
  // Two Leases may have the name of one replica.
  complaints.erase(std::unique(complaints.begin(), complaints.end(),
                               [](const Complaint& a, const Complaint& b) { return a.replica == b.replica; }),
                   complaints.end());
  for (const Complaint& each : complaints) verdict.failing.push_back(each.replica);
  conclude(verdict, complaints, question.namesAll ? std::string() : readerOf(question));
  return verdict;
}

}  // namespace sluice::kubernetes
