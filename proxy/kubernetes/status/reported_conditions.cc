#include "proxy/kubernetes/status/reported_conditions.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "config/read/object_kinds.h"
#include "proxy/compile/status/use_conditions.h"

namespace sluice::kubernetes {
namespace {

using config::Condition;
using config::ConditionStatus;

bool isUse(const Condition& condition) {
  return condition.type.starts_with(compile::kUseConditionPrefix) || condition.type == compile::kMoreUsesCondition;
}

bool isPendingUse(const Condition& condition) {
  return condition.status == ConditionStatus::kTrue && condition.reason == config::reason::kExtensionPending;
}

/// Returns true for a report that a use only waits for the first answer of its server.
bool isPendingReport(const FailedObject& said) {
  return said.served && said.reason == config::reason::kExtensionPending &&
         said.type != config::condition_type::kProgressing;
}

/// Returns true for types that replicas report when they are True. One replica is enough for these.
bool isReportedTrue(std::string_view type) {
  return config::isNegative(type) || type == config::condition_type::kProgressing;
}

/// Returns true if a replica has reported about the version of the object that has these conditions.
bool isOfVersion(const FailedObject& said, const std::vector<Condition>& conditions) {
  return said.generation == 0 || conditions.empty() || !conditions.front().observedGeneration ||
         *conditions.front().observedGeneration == said.generation;
}

/// Returns true if the controller has found by itself what replicas may report in a condition of that type.
bool isKnown(const Condition* condition) {
  if (condition == nullptr) return false;
  return (condition->status == ConditionStatus::kTrue) == isReportedTrue(condition->type);
}

Condition conditionOf(std::string_view type, const FailedObject& worst, std::string message,
                      const std::vector<Condition>& beside) {
  Condition condition;
  condition.type = type;
  condition.status = isReportedTrue(type) ? ConditionStatus::kTrue : ConditionStatus::kFalse;
  condition.reason = worst.reason;
  condition.message = std::move(message);
  if (!beside.empty()) condition.observedGeneration = beside.front().observedGeneration;
  return condition;
}

}  // namespace

void addCondition(std::vector<Condition>& conditions, Condition condition) {
  const auto known = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Condition& each) { return each.type == condition.type; });
  if (known != conditions.end()) {
    *known = std::move(condition);
    return;
  }
  conditions.reserve(conditions.size() + 1);  // there is one list for each route of the cluster
  conditions.insert(isUse(condition) ? conditions.end() : std::find_if(conditions.begin(), conditions.end(), isUse),
                    std::move(condition));
}

ReportedConditions::ReportedConditions(const ReplicaReports& reports, const ReachOfGateways& reach,
                                       base::MonotonicTime now) {
  for (const auto& [gateway, nameSpaces] : reach.nameSpaces) {
    for (const SeenReport* each : reports.of(gateway)) {
      const ReplicaReport& report = each->report;
      if (each->isGone(now) || !report.serves(gateway)) continue;
      hear(gateway, report, nameSpaces, !reach.home.empty() && report.nameSpace == reach.home);
    }
  }
}

void ReportedConditions::hear(const std::string& gateway, const ReplicaReport& report,
                              const std::set<std::string>& nameSpaces, bool everywhere) {
  Replicas& replicas = replicas_[gateway];
  replicas.insert(&report);
  const bool complete = report.listedInAll <= report.failed.size();
  for (const std::string& each : nameSpaces) {
    bool& all = complete_.emplace(each, true).first->second;
    all = all && complete;
  }
  if (everywhere) everywhereComplete_ = everywhereComplete_.value_or(true) && complete;
  for (const FailedObject& each : report.failed) {
    if (!config::dependsOnProcess(each.reason) || each.type.empty()) continue;
    const bool isGateway = each.kind == config::Gateway::kKind || each.kind == config::Gateway::kEgressKind;
    const bool believed =
        isGateway ? each.nameSpace + "/" + each.name == gateway : everywhere || nameSpaces.contains(each.nameSpace);
    if (believed) said_[{each.kind, each.nameSpace, each.name}].push_back({&report, &replicas, &each});
  }
}

/// Returns whether the replicas that reach the namespace have listed all conditions; nullopt if there are none.
std::optional<bool> ReportedConditions::isComplete(const std::string& nameSpace) const {
  const auto found = complete_.find(nameSpace);
  if (found == complete_.end()) return everywhereComplete_;
  return found->second && everywhereComplete_.value_or(true);
}

bool ReportedConditions::concern(const config::ObjectStatus& compiled) const {
  if (!isComplete(compiled.nameSpace)) return false;
  if (said_.contains({compiled.kind, compiled.nameSpace, compiled.name})) return true;
  bool pending = false;
  config::forEachCondition(compiled, [&](const Condition& each) { pending = pending || isPendingUse(each); });
  return pending;
}

ReportedConditions::SaidOfObject ReportedConditions::saidOf(const config::ObjectStatus& object) const {
  SaidOfObject conditions;
  const auto found = said_.find({object.kind, object.nameSpace, object.name});
  if (found == said_.end()) return conditions;
  for (const Said& each : found->second) conditions[{each.what->part, each.what->type}].push_back(each);
  return conditions;
}

/// Makes a condition bad that replicas report to be bad, or the object Degraded if others do not.
void ReportedConditions::apply(const SaidOfCondition& said, config::ObjectStatus& object) const {
  const FailedObject& first = *said.front().what;
  std::vector<Condition>* place = config::conditionsAt(object, first.part);
  if (place == nullptr) return;
  const Condition* compiled = config::findCondition(*place, first.type);
  if (isKnown(compiled)) return;
  Replicas asked;
  std::vector<ReplicaComplaint> complaints;
  std::map<std::string, const FailedObject*> words;
  for (const Said& each : said) {
    if (isPendingReport(*each.what) || !isOfVersion(*each.what, *place)) continue;
    asked.insert(each.among->begin(), each.among->end());
    complaints.push_back({each.by->nameSpace, each.by->nameSpace + "/" + each.by->replica, each.what->message});
    words.emplace(complaints.back().replica, each.what);
  }
  if (complaints.empty()) return;
  complaints = byReplica(std::move(complaints));
  const FailedObject& worst = *words.at(complaints.front().replica);
  const std::string text = complaintText(complaints, asked.size(), object.nameSpace);
  // A report cannot add types that the object does not have: its author would choose them.
  const bool hasType = compiled != nullptr || first.type == config::condition_type::kDegraded;
  if (hasType && (complaints.size() >= asked.size() || isReportedTrue(first.type)))
    return addCondition(*place, conditionOf(first.type, worst, text, *place));
  // A listener has no such condition, but its Gateway has.
  const bool isOfListener = object.shape == config::StatusShape::kGateway && !first.part.empty();
  std::vector<Condition>& conditions = isOfListener ? object.conditions : *place;
  if (isKnown(config::findCondition(conditions, config::condition_type::kDegraded))) return;
  addCondition(conditions, conditionOf(config::condition_type::kDegraded, worst,
                                       isOfListener ? first.part + ": " + text : text, conditions));
}

/// Reports the uses as active that no replica reports as pending.
void ReportedConditions::activate(const config::ObjectStatus& compiled, config::ObjectStatus& object) const {
  if (!isComplete(compiled.nameSpace).value_or(false)) return;
  const SaidOfObject said = saidOf(compiled);
  for (const auto& [part, conditions] : config::conditionsOf(compiled)) {
    for (const Condition& each : *conditions) {
      if (!isPendingUse(each) || said.contains({part, each.type})) continue;
      Condition active = each;
      active.reason = config::reason::kExtensionActive;
      active.message = "its server answers";
      addCondition(*config::conditionsAt(object, part), std::move(active));
    }
  }
}

config::StatusList::Shared ReportedConditions::merged(const config::StatusList::Shared& compiled) const {
  if (!concern(*compiled)) return compiled;
  auto object = std::make_shared<config::ObjectStatus>(*compiled);
  activate(*compiled, *object);
  for (const auto& [condition, said] : saidOf(*compiled)) apply(said, *object);
  const bool same = config::statusJson(*object) == config::statusJson(*compiled);
  return same ? compiled : config::StatusList::Shared(std::move(object));
}

}  // namespace sluice::kubernetes
