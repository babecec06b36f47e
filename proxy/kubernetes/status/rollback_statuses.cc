#include "proxy/kubernetes/status/rollback_statuses.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "config/read/object_kinds.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {
namespace {

using config::Condition;
using config::ConditionStatus;
namespace condition_type = config::condition_type;

using StatusName = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

StatusName statusNameOf(const config::ObjectStatus& status) {
  return {status.group, status.kind, status.nameSpace, status.name};
}

bool isClass(const config::ObjectStatus& status) {
  return config::isKindOf<config::GatewayClass>(status.group, status.kind);
}

Condition unknown(std::string_view type, const std::vector<Condition>& compiled) {
  Condition condition;
  condition.type = type;
  condition.reason = config::reason::kPending;
  condition.message = "the newest configuration, which has this object, is refused as a whole";
  if (!compiled.empty()) condition.observedGeneration = compiled.front().observedGeneration;
  return condition;
}

/// Returns the status of an object that is not served yet.
config::StatusList::Shared pendingStatus(const config::ObjectStatus& compiled) {
  auto pending = std::make_shared<config::ObjectStatus>(compiled);
  const auto reset = [](std::vector<Condition>& conditions) {
    conditions = {unknown(condition_type::kAccepted, conditions)};
  };
  switch (pending->shape) {
    case config::StatusShape::kConditions:
      reset(pending->conditions);
      break;
    case config::StatusShape::kGateway:
      pending->conditions = {unknown(condition_type::kAccepted, compiled.conditions),
                             unknown(condition_type::kProgrammed, compiled.conditions)};
      pending->listeners.clear();
      pending->addresses.clear();
      break;
    case config::StatusShape::kParents:
    case config::StatusShape::kAncestors:
      for (config::ParentStatus& each : pending->parents) reset(each.conditions);
      break;
    case config::StatusShape::kControllers:
      for (config::ControllerStatus& each : pending->controllers) reset(each.conditions);
      break;
  }
  pending->servedRevision.clear();
  pending->servedSince.reset();
  return pending;
}

}  // namespace

RefusedRevision refusedRevision(const control::Revisions& revisions, const config::StatusList& newest) {
  RefusedRevision revision{revisions.desired, revisions.served, "", "", false};
  for (const config::ObjectStatus& each : newest) {
    const Condition* accepted =
        isClass(each) ? config::findCondition(each.conditions, condition_type::kAccepted) : nullptr;
    if (accepted == nullptr || accepted->status != ConditionStatus::kFalse) continue;
    revision.why = config::objectName(each) + ": " + accepted->reason + ": " + accepted->message;
    revision.ofClass = true;
    return revision;
  }
  if (const config::Problem* why = config::firstErrorOf(*revisions.problems); why != nullptr) {
    revision.why = config::render(*why);
    revision.nameSpace = config::namespaceOf(*why);
  }
  return revision;
}

config::StatusList rollbackStatuses(const config::StatusList& served, const config::StatusList& newest) {
  if (served.empty()) return newest;
  std::map<StatusName, std::size_t> places;
  for (std::size_t i = 0; i < served.size(); ++i) places.emplace(statusNameOf(served[i]), i);
  config::StatusList statuses = newest;
  for (std::size_t i = 0; i < newest.size(); ++i) {
    if (isClass(newest[i])) continue;
    const auto found = places.find(statusNameOf(newest[i]));
    statuses.replace(i, found == places.end() ? pendingStatus(newest[i]) : served.shared(found->second));
  }
  return statuses;
}

config::Condition degradedBy(const RefusedRevision& revision, std::string_view nameSpace) {
  Condition condition;
  condition.type = condition_type::kDegraded;
  condition.status = ConditionStatus::kTrue;
  const auto state = revision.served.empty() ? control::ConfigState::kRollbackFailed : control::ConfigState::kRollback;
  condition.reason = control::configStateName(state);
  condition.message = "revision " + revision.refused + " is refused";
  const bool tells = revision.ofClass || revision.nameSpace.empty() || revision.nameSpace == nameSpace;
  if (!revision.why.empty())
    condition.message += tells ? ": " + boundedText(revision.why, ReplicaReport::kMostMessageBytes)
                               : std::string("; the controller's log says why");
  if (!revision.served.empty()) condition.message += "; revision " + revision.served + " is served";
  return condition;
}

}  // namespace sluice::kubernetes
