#include "proxy/kubernetes/revisions/egress_revision.h"

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "config/read/object_kinds.h"
#include "proxy/base/json_writer.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/provision/gateway_to_run.h"

namespace sluice::kubernetes {
namespace {

constexpr std::string_view kRevisionVersion = "v1alpha1";
constexpr std::string_view kValidated = "Validated";
constexpr std::string_view kResourcesInSync = "ResourcesInSync";
constexpr std::string_view kRollbackFailed = "RollbackFailed";
constexpr std::array kRevisionStates{RevisionState::kPending, RevisionState::kPartlyServed, RevisionState::kServed,
                                     RevisionState::kRefused, RevisionState::kTainted,      RevisionState::kSuperseded};

struct RevisionCondition {
  std::string_view type;
  bool holds;
  std::string_view reason;
  std::string_view message;
};

void writeRevisionCondition(base::JsonWriter& json, const RevisionCondition& condition, const EgressRevision& before,
                            base::WallTime now) {
  const std::string_view status = condition.holds ? "True" : "False";
  const auto known = before.conditions.find(condition.type);
  const bool same = known != before.conditions.end() && known->second.first == status;
  json.beginObject().member("type", condition.type).member("status", status).member("reason", condition.reason);
  json.member("message", condition.message);
  json.member("lastTransitionTime", same ? known->second.second : apiTime(now)).endObject();
}

void writeReplicas(base::JsonWriter& json, const std::vector<RevisedReplica>& replicas) {
  json.key("replicas").beginList();
  for (const RevisedReplica& each : replicas) {
    json.beginObject().member("name", each.name).member("state", revisionStateName(each.state));
    json.member("reason", each.reason).member("since", each.since).endObject();
  }
  json.endList();
}

/// Reads a list; nullptr is an empty one.
const std::vector<content::Value>& itemsIn(const content::Value* map, std::string_view key) {
  static const std::vector<content::Value> kNone;
  const content::Value* list = valueIn(map, key);
  return list == nullptr ? kNone : list->items;
}

std::optional<RevisionState> revisionStateOf(std::string_view name) {
  for (const RevisionState each : kRevisionStates) {
    if (revisionStateName(each) == name) return each;
  }
  return std::nullopt;
}

void readRevisionConditions(const content::Value* status, EgressRevision& read) {
  for (const content::Value& each : itemsIn(status, "conditions")) {
    const std::string_view type = textIn(&each, "type");
    if (type == "Served") read.message = textIn(&each, "message");
    if (type == kResourcesInSync) read.sync = textIn(&each, "reason");
    if (type == kRollbackFailed) read.rollback = textIn(&each, "reason");
    read.conditions.emplace(type, std::pair(textIn(&each, "status"), textIn(&each, "lastTransitionTime")));
  }
  const auto validated = read.conditions.find(kValidated);
  read.validated = validated != read.conditions.end() && validated->second.first == "True";
}

void readRevisionStatus(const content::Value* status, EgressRevision& read) {
  const std::optional<RevisionState> state = revisionStateOf(textIn(status, "state"));
  read.judged = state.has_value();
  read.state = state.value_or(RevisionState::kPending);
  read.served = textIn(status, "served");
  read.lastServed = textIn(status, "lastServed");
  readRevisionConditions(status, read);
  for (const content::Value& each : itemsIn(status, "replicas")) {
    read.replicas.push_back({std::string(textIn(&each, "name")),
                             revisionStateOf(textIn(&each, "state")).value_or(RevisionState::kPending),
                             std::string(textIn(&each, "reason")), std::string(textIn(&each, "since"))});
  }
  for (const content::Value& each : itemsIn(status, "secrets")) {
    read.secrets.emplace(textIn(&each, "namespace"), textIn(&each, "name"));
  }
}

}  // namespace

std::string egressRevisionsPath(std::string_view nameSpace) {
  std::string path = apiPath(config::kOwnGroup, kRevisionVersion);
  if (!nameSpace.empty()) path.append("/namespaces/").append(nameSpace);
  return path + "/egressrevisions";
}

std::string_view revisionStateName(RevisionState state) {
  switch (state) {
    case RevisionState::kPending:
      return "Pending";
    case RevisionState::kPartlyServed:
      return "PartlyServed";
    case RevisionState::kServed:
      return "Served";
    case RevisionState::kRefused:
      return "Refused";
    case RevisionState::kTainted:
      return "Tainted";
    case RevisionState::kSuperseded:
      return "Superseded";
  }
  return "";
}

bool EgressRevision::wasServed() const {
  const bool now = state == RevisionState::kServed || state == RevisionState::kPartlyServed;
  return judged && (now || state == RevisionState::kSuperseded || !lastServed.empty());
}

bool EgressRevision::wasServedAfter(const EgressRevision& other) const {
  return std::tie(lastServed, created, name) > std::tie(other.lastServed, other.created, other.name);
}

std::string nameOfRevision(const std::string& gateway, std::string_view revision) {
  // A Gateway's name may be as long as that of any object.
  return gatewayNameLabel(gateway) + "-" + std::string(revision);
}

std::string egressRevisionJson(const RevisedGateway& gateway, const NewRevision& made) {
  base::JsonWriter json;
  json.beginObject().member("apiVersion", std::string(config::kOwnGroup) + "/" + std::string(kRevisionVersion));
  json.member("kind", kEgressRevisionKind).key("metadata").beginObject();
  json.member("name", nameOfRevision(gateway.name, made.revision)).member("namespace", gateway.nameSpace);
  json.key("labels").beginObject().member(kGatewayNameLabel, gatewayNameLabel(gateway.name)).endObject();
  json.key("ownerReferences").beginList().beginObject().member("apiVersion", gateway.apiVersion);
  json.member("kind", gateway.kind).member("name", gateway.name).member("uid", gateway.uid).endObject().endList();
  json.endObject().key("spec").beginObject().key("gatewayRef").beginObject();
  const std::string_view group = std::string_view(gateway.apiVersion).substr(0, gateway.apiVersion.find('/'));
  json.member("group", group).member("kind", gateway.kind).member("name", gateway.name).endObject();
  json.member("revision", made.revision);
  if (!made.canary.empty()) json.member("canary", made.canary);
  if (!made.data.empty()) json.member("data", made.data);
  return json.endObject().endObject().take();
}

std::string revisionStatusPatch(const EgressRevision& revision, base::WallTime now) {
  base::JsonWriter json;
  const std::string_view state = revisionStateName(revision.state);
  json.beginObject().key("status").beginObject().member("state", state).member("served", revision.served);
  if (!revision.lastServed.empty()) json.member("lastServed", revision.lastServed);
  json.key("conditions").beginList();
  const bool tainted = revision.state == RevisionState::kTainted;
  const bool served = revision.state == RevisionState::kServed;
  writeRevisionCondition(json, {"Served", served, state, revision.message}, revision, now);
  writeRevisionCondition(
      json,
      {"Tainted", tainted, tainted ? "AllReplicasFailing" : "NotTainted", tainted ? revision.message : std::string()},
      revision, now);
  if (!revision.canary.empty()) {
    const std::string_view reason = revision.validated ? "CanaryServes" : tainted ? "CanaryRefuses" : "CanaryPending";
    writeRevisionCondition(json, {kValidated, revision.validated, reason, revision.validated ? "" : revision.message},
                           revision, now);
  }
  const bool inSync = revision.sync == revision_sync::kPublished;
  const bool cannot = revision.sync == revision_sync::kRefused;
  writeRevisionCondition(
      json, {kResourcesInSync, inSync, revision.sync, cannot ? std::string_view(revision.message) : ""}, revision, now);
  const bool failed = revision.rollback == revision_rollback::kAllTainted;
  writeRevisionCondition(
      json, {kRollbackFailed, failed, revision.rollback, failed ? "its replicas have no good revision to serve" : ""},
      revision, now);
  json.endList();
  writeReplicas(json, revision.replicas);
  json.key("secrets").beginList();
  for (const auto& [nameSpace, name] : revision.secrets) {
    json.beginObject().member("namespace", nameSpace).member("name", name).endObject();
  }
  return json.endList().endObject().endObject().take();
}

base::Result<EgressRevision> readEgressRevision(const content::Value& object, bool withData) {
  const content::Value* metadata = valueIn(&object, "metadata");
  const content::Value* spec = valueIn(&object, "spec");
  const content::Value* gateway = valueIn(spec, "gatewayRef");
  EgressRevision read;
  const auto require = [](const content::Value* map, std::string_view key, std::string& to) {
    to = textIn(map, key);
    return !to.empty();
  };
  if (!require(metadata, "namespace", read.nameSpace) || !require(metadata, "name", read.name) ||
      !require(metadata, "uid", read.uid)) {
    return base::Error::config("its metadata is not whole");
  }
  if (!require(gateway, "name", read.gateway) || !require(gateway, "kind", read.gatewayKind)) {
    return base::Error::config("spec.gatewayRef is missing");
  }
  if (!require(spec, "revision", read.revision)) return base::Error::config("spec.revision is missing");
  if (const std::string name = nameOfRevision(read.gateway, read.revision); read.name != name) {
    return base::Error::config("its Gateway and revision have the name " + name);
  }
  read.created = textIn(metadata, "creationTimestamp");
  read.deleted = !textIn(metadata, "deletionTimestamp").empty();
  readRevisionStatus(valueIn(&object, "status"), read);
  const content::Value* active = valueIn(spec, "active");
  const bool asked = active != nullptr && active->kind == content::Value::Kind::kBool && active->text == "true";
  read.active = asked && read.judged;
  if (withData && read.active) read.data = textIn(spec, "data");
  read.canary = textIn(spec, "canary");
  return read;
}

}  // namespace sluice::kubernetes
