#include "proxy/kubernetes/lease/replica_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/base/json_writer.h"
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
  if (!each.type.empty()) json.member("type", each.type);
  if (!each.part.empty()) json.member("part", each.part);
  if (each.generation != 0) json.member("generation", each.generation);
  if (each.served) json.key("served").json("true");
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
    if (report.problemOfClass) json.key("problemOfClass").json("true");
  }
  if (!report.desiredObjects.empty()) {
    json.key("objects").beginObject().member("desired", report.desiredObjects);
    json.member("served", report.servedObjects);
    if (!report.servedObjectsSince.empty()) json.member("since", report.servedObjectsSince);
    if (report.refusesObjects) json.key("refused").json("true");
    if (report.refusals > 0) json.member("refusals", static_cast<std::int64_t>(report.refusals));
    json.endObject();
  }
  json.member("failedInAll", static_cast<std::int64_t>(std::max(report.failedInAll, report.unserved())));
  json.member("listedInAll", static_cast<std::int64_t>(std::max(report.listedInAll, report.failed.size())));
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

bool isTrue(const Value* map, std::string_view key) {
  const Value* found = valueIn(map, key);
  return found != nullptr && found->text == "true";
}

FailedObject readFailedObject(const Value& value) {
  const auto text = [&](std::string_view key) { return std::string(textIn(&value, key)); };
  FailedObject read{text("kind"), text("namespace"), text("name"), text("revision"), text("reason")};
  read.message = boundedText(textIn(&value, "message"), ReplicaReport::kMostToldBytes);
  read.type = text("type");
  read.part = text("part");
  read.generation = numberIn(&value, "generation").value_or(0);
  read.served = isTrue(&value, "served");
  return read;
}

/// Returns the count of that name, and at least `least`.
std::size_t countIn(const Value& map, std::string_view key, std::size_t least) {
  return std::max(least, static_cast<std::size_t>(std::max<std::int64_t>(numberIn(&map, key).value_or(0), 0)));
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
             each.reason.size() + each.message.size() + each.type.size() + each.part.size();
  }
  return bytes;
}

std::size_t ReplicaReport::unserved() const {
  return static_cast<std::size_t>(
      std::count_if(failed.begin(), failed.end(), [](const FailedObject& each) { return !each.served; }));
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
  report.problemOfClass = isTrue(&*parsed, "problemOfClass");
  const Value* objects = valueIn(&*parsed, "objects");
  report.desiredObjects = textIn(objects, "desired");
  report.servedObjects = textIn(objects, "served");
  report.servedObjectsSince = textIn(objects, "since");
  report.podUid = uidOfOwner(lease, report.replica);
  if (base::Status lengths = checkLengths(report, lease); !lengths.ok()) return std::move(lengths).error();
  report.refusesObjects = isTrue(objects, "refused");
  report.refusals = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(numberIn(objects, "refusals").value_or(0), 0, ReplicaReport::kMostRefusals));
  if (base::Status seen = readSeen(valueIn(&*parsed, "seen"), report); !seen.ok()) return std::move(seen).error();
  if (const Value* failed = valueIn(&*parsed, "failed"); failed != nullptr) {
    for (const Value& each : failed->items) {
      if (report.failed.size() < ReplicaReport::kMostFailed) report.failed.push_back(readFailedObject(each));
    }
  }
  report.failedInAll = countIn(*parsed, "failedInAll", report.unserved());
  report.listedInAll = countIn(*parsed, "listedInAll", report.failed.size());
  return report;
}

}  // namespace sluice::kubernetes
