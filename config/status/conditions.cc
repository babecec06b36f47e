#include "config/status/conditions.h"

#include <algorithm>

namespace sluice::config {
namespace {

template <typename Visit>
void forEachCondition(const ObjectStatus& object, Visit visit) {
  for (const Condition& condition : object.conditions) visit(condition);
  for (const ListenerStatus& listener : object.listeners) {
    for (const Condition& condition : listener.conditions) visit(condition);
  }
  for (const ParentStatus& parent : object.parents) {
    for (const Condition& condition : parent.conditions) visit(condition);
  }
  for (const ControllerStatus& controller : object.controllers) {
    for (const Condition& condition : controller.conditions) visit(condition);
  }
}

/// Returns true for types that report a problem when they are True.
bool isNegative(std::string_view type) {
  return type == condition_type::kConflicted || type == condition_type::kPartiallyInvalid ||
         type == condition_type::kDegraded || type == condition_type::kRolledBack;
}

}  // namespace

bool isTrouble(std::string_view type, std::string_view status) {
  return isNegative(type) ? status == "True" : status != "True";
}

std::string_view conditionStatusName(ConditionStatus status) {
  switch (status) {
    case ConditionStatus::kTrue:
      return "True";
    case ConditionStatus::kFalse:
      return "False";
    case ConditionStatus::kUnknown:
      return "Unknown";
  }
  return "Unknown";
}

void setCondition(std::vector<Condition>& conditions, Condition condition) {
  for (Condition& other : conditions) {
    if (other.type != condition.type) continue;
    other = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

const Condition* findCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Condition& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool isHealthy(const ObjectStatus& object) {
  bool healthy = true;
  forEachCondition(object, [&](const Condition& condition) {
    healthy = healthy && !isTrouble(condition.type, conditionStatusName(condition.status));
  });
  return healthy;
}

bool isOutage(const Condition& condition) {
  return condition.reason == reason::kUnreachable || condition.reason == reason::kUnhealthy;
}

}  // namespace sluice::config
