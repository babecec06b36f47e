#include "config/status/conditions.h"

#include <algorithm>
#include <iterator>

namespace sluice::config {

bool isNegative(std::string_view type) {
  return type == condition_type::kConflicted || type == condition_type::kPartiallyInvalid ||
         type == condition_type::kDegraded || type == condition_type::kRolledBack;
}

bool isTrouble(std::string_view type, std::string_view status) {
  if (type == condition_type::kProgressing) return false;
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

bool dependsOnProcess(std::string_view reason) {
  constexpr std::string_view kReasons[] = {reason::kUnreachable,           reason::kUnhealthy,
                                           reason::kExtensionPending,      reason::kExtensionUnavailable,
                                           reason::kAddressNotUsable,      reason::kPortUnavailable,
                                           reason::kListenersNotValid,     reason::kListenersNotResolved,
                                           reason::kInvalidCertificateRef, reason::kInvalidCaCertificateRef,
                                           reason::kNoValidCaCertificate,  reason::kInvalidClientCertificateRef,
                                           reason::kInvalidSecretRef};
  return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

}  // namespace sluice::config
