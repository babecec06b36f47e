#include "proxy/kubernetes/status/pod_conditions.h"

#include <string>
#include <utility>

namespace sluice::kubernetes {

namespace condition_type = config::condition_type;
using config::Condition;
using config::ConditionStatus;

Condition withFaultOf(const RolloutState& pods, Condition provisioned) {
  if (pods.fault.empty() || provisioned.status != ConditionStatus::kTrue) return provisioned;
  provisioned.status = ConditionStatus::kFalse;
  provisioned.reason = kPodsFailing;
  provisioned.message = pods.fault;
  return provisioned;
}

std::vector<Condition> podConditions(const std::vector<Condition>& conditions,
                                     const std::optional<RolloutState>& pods) {
  Condition available;
  available.type = condition_type::kPodsAvailable;
  available.reason = config::reason::kPending;
  if (!pods) return {available};
  const bool all = pods->available > 0 && pods->available == pods->wanted;
  available.status = all ? ConditionStatus::kTrue : ConditionStatus::kFalse;
  available.reason = all ? config::reason::kAvailable : kPodsMissing;
  available.message = std::to_string(pods->available) + " of " + std::to_string(pods->wanted) + " Pods serve";
  const Condition* compiled = config::findCondition(conditions, condition_type::kProgrammed);
  if (pods->available > 0 || compiled == nullptr || compiled->status != ConditionStatus::kTrue) return {available};
  Condition programmed = *compiled;
  programmed.status = ConditionStatus::kFalse;
  programmed.reason = kNoResources;
  programmed.message = "no Pod of the Gateway serves";
  if (!pods->fault.empty()) programmed.message += ": " + pods->fault;
  return {available, programmed};
}

}  // namespace sluice::kubernetes
