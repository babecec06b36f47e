#include "proxy/kubernetes/lease/failed_objects.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace sluice::kubernetes {
namespace {

using config::Condition;

/// How bad a condition is, the worst first.
enum class Badness : std::size_t { kNotServed, kServedWithErrors, kPending, kGood };
constexpr std::size_t kBadnesses = 3;  // without kGood

Badness badnessOf(const Condition& condition) {
  if (condition.type == config::condition_type::kProgressing) {
    const bool waits = condition.status == config::ConditionStatus::kTrue && config::dependsOnProcess(condition.reason);
    return waits ? Badness::kPending : Badness::kGood;
  }
  if (!config::isTrouble(condition.type, config::conditionStatusName(condition.status))) {
    return condition.reason == config::reason::kExtensionPending ? Badness::kPending : Badness::kGood;
  }
  const bool served = condition.type == config::condition_type::kResolvedRefs || config::isOutage(condition);
  if (!served) return Badness::kNotServed;
  // The controller finds the others by itself.
  return config::dependsOnProcess(condition.reason) ? Badness::kServedWithErrors : Badness::kGood;
}

bool isGood(const config::ObjectStatus& object) {
  bool good = true;
  config::forEachCondition(object, [&](const Condition& each) { good = good && badnessOf(each) == Badness::kGood; });
  return good;
}

using OfObject = std::vector<FailedObject>;

/// Returns the conditions of an object that are not good, the worst first, and how bad the worst is.
std::pair<Badness, OfObject> failedOf(const config::ObjectStatus& object) {
  std::array<OfObject, kBadnesses> all;
  for (const auto& [part, conditions] : config::conditionsOf(object)) {
    for (const Condition& each : *conditions) {
      const Badness badness = badnessOf(each);
      if (badness == Badness::kGood) continue;
      FailedObject& failed = all[static_cast<std::size_t>(badness)].emplace_back();
      failed = {std::string(object.kind), object.nameSpace, object.name, object.revision, each.reason, each.message};
      failed.type = each.type;
      failed.part = part;
      failed.generation = each.observedGeneration.value_or(0);
      failed.served = badness != Badness::kNotServed;
    }
  }
  OfObject joined;
  Badness worst = Badness::kGood;
  for (std::size_t i = 0; i < kBadnesses; ++i) {
    if (!all[i].empty() && worst == Badness::kGood) worst = static_cast<Badness>(i);
    std::move(all[i].begin(), all[i].end(), std::back_inserter(joined));
  }
  if (joined.size() > FailedObjects::kMostOfObject) joined.resize(FailedObjects::kMostOfObject);
  return {worst, std::move(joined)};
}

/// Appends the objects of all namespaces, one of each in turns.
void takeTurns(std::map<std::string, std::vector<OfObject>>&& nameSpaces, FailedObjects& all) {
  for (std::size_t turn = 0; !nameSpaces.empty() && all.failed.size() < ReplicaReport::kMostFailed; ++turn) {
    for (auto& [nameSpace, objects] : nameSpaces) {
      std::move(objects[turn].begin(), objects[turn].end(), std::back_inserter(all.failed));
    }
    std::erase_if(nameSpaces, [&](const auto& entry) { return entry.second.size() == turn + 1; });
  }
}

}  // namespace

FailedObjects failedObjectsOf(const config::StatusList& statuses) {
  FailedObjects all;
  std::array<std::map<std::string, std::vector<OfObject>>, kBadnesses> byBadness;
  for (const config::ObjectStatus& object : statuses) {
    if (isGood(object)) continue;
    auto [worst, failed] = failedOf(object);
    all.listedInAll += failed.size();
    for (const FailedObject& each : failed) all.failedInAll += each.served ? 0 : 1;
    std::vector<OfObject>& others = byBadness[static_cast<std::size_t>(worst)][object.nameSpace];
    if (others.size() < ReplicaReport::kMostFailed) others.push_back(std::move(failed));
  }
  for (auto& each : byBadness) takeTurns(std::move(each), all);
  if (all.failed.size() > ReplicaReport::kMostFailed) all.failed.resize(ReplicaReport::kMostFailed);
  return all;
}

}  // namespace sluice::kubernetes
