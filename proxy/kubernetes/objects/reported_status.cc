#include "proxy/kubernetes/objects/reported_status.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/list_decoder.h"

namespace sluice::kubernetes {
namespace {

using content::Value;

/// Calls `visit` with each entry of the list `key`.
template <typename Visit>
void forEachIn(const Value& map, std::string_view key, Visit visit) {
  const Value* list = valueIn(&map, key);
  if (list == nullptr) return;
  for (const Value& each : list->items) visit(each);
}

config::ConditionStatus conditionStatusOf(std::string_view name) {
  for (const auto each : {config::ConditionStatus::kTrue, config::ConditionStatus::kFalse}) {
    if (config::conditionStatusName(each) == name) return each;
  }
  return config::ConditionStatus::kUnknown;
}

std::vector<config::Condition> conditionsIn(const Value& holder) {
  std::vector<config::Condition> conditions;
  forEachIn(holder, "conditions", [&](const Value& each) {
    config::Condition& condition = conditions.emplace_back();
    condition.type = textIn(&each, "type");
    condition.status = conditionStatusOf(textIn(&each, "status"));
    condition.reason = textIn(&each, "reason");
    condition.message = textIn(&each, "message");
    condition.observedGeneration = numberIn(&each, "observedGeneration");
  });
  return conditions;
}

config::ListenerStatus listenerOf(const Value& entry) {
  config::ListenerStatus listener;
  listener.name = textIn(&entry, "name");
  listener.attachedRoutes = static_cast<std::int32_t>(numberIn(&entry, "attachedRoutes").value_or(0));
  forEachIn(entry, "supportedKinds", [&](const Value& each) {
    listener.supportedKinds.push_back({std::string(textIn(&each, "group")), std::string(textIn(&each, "kind"))});
  });
  listener.conditions = conditionsIn(entry);
  return listener;
}

config::ParentStatus parentOf(const Value& entry, std::string_view reference) {
  const Value* ref = valueIn(&entry, reference);
  config::ParentStatus parent;
  parent.parentRef.object.group = textIn(ref, "group");
  parent.parentRef.object.kind = textIn(ref, "kind");
  parent.parentRef.object.nameSpace = textIn(ref, "namespace");
  parent.parentRef.object.name = textIn(ref, "name");
  parent.parentRef.sectionName = textIn(ref, "sectionName");
  parent.parentRef.port = static_cast<std::uint16_t>(numberIn(ref, "port").value_or(0));
  parent.conditions = conditionsIn(entry);
  return parent;
}

/// Reads the entries of parents or ancestors that have our controllerName.
void readParents(const Value& status, std::string_view list, std::string_view reference, config::ObjectStatus& read) {
  forEachIn(status, list, [&](const Value& each) {
    if (textIn(&each, "controllerName") == config::kControllerName) read.parents.push_back(parentOf(each, reference));
  });
}

void readGateway(const Value& status, config::ObjectStatus& read) {
  read.conditions = conditionsIn(status);
  // The CRD's own default says that no controller has come yet.
  const config::Condition* accepted = config::findCondition(read.conditions, config::condition_type::kAccepted);
  if (accepted == nullptr || accepted->status == config::ConditionStatus::kUnknown) return read.conditions.clear();
  forEachIn(status, "listeners", [&](const Value& each) { read.listeners.push_back(listenerOf(each)); });
  forEachIn(status, "addresses", [&](const Value& each) {
    read.addresses.push_back({std::string(textIn(&each, "type")), std::string(textIn(&each, "value"))});
  });
}

void readControllers(const Value& status, config::ObjectStatus& read) {
  forEachIn(status, "controllers", [&](const Value& each) {
    if (textIn(&each, "name") != config::kControllerName) return;
    config::ControllerStatus& controller = read.controllers.emplace_back();
    controller.conditions = conditionsIn(each);
  });
}

/// Returns true for conditions that only last as long as the controller adds them.
bool isPassing(const config::Condition& condition) {
  return condition.type == config::condition_type::kDegraded || condition.type == config::condition_type::kRolledBack;
}

}  // namespace

std::optional<config::ObjectStatus> reportedStatus(const config::ObjectKind& kind, const ApiObjectKey& key,
                                                   const content::Value& status) {
  if (!kind.status) return std::nullopt;
  config::ObjectStatus read;
  read.group = kind.group;
  read.kind = kind.kind;
  read.nameSpace = key.first;
  read.name = key.second;
  read.shape = *kind.status;
  switch (read.shape) {
    case config::StatusShape::kConditions:
      read.conditions = conditionsIn(status);
      break;
    case config::StatusShape::kGateway:
      readGateway(status, read);
      break;
    case config::StatusShape::kParents:
      readParents(status, "parents", "parentRef", read);
      break;
    case config::StatusShape::kAncestors:
      readParents(status, "ancestors", "ancestorRef", read);
      break;
    case config::StatusShape::kControllers:
      readControllers(status, read);
      break;
  }
  if (read.conditions.empty() && read.parents.empty() && read.controllers.empty()) return std::nullopt;
  return read;
}

config::StatusList reportedStatuses(const ClusterObjects& objects) {
  config::StatusList statuses;
  objects.forEach([&](const config::ObjectKind& kind, const ApiObjectKey& key, const ApiObject& object) {
    const auto status = content::parseJson(object.status, {.bytes = ListDecoder::kMostBytes});
    std::optional<config::ObjectStatus> read = status.ok() ? reportedStatus(kind, key, *status) : std::nullopt;
    if (!read) return;
    if (kind.isOf<config::Gateway>()) std::erase_if(read->conditions, isPassing);
    statuses.push_back(*std::move(read));
  });
  return statuses;
}

}  // namespace sluice::kubernetes
