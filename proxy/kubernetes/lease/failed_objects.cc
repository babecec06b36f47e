#include "proxy/kubernetes/lease/failed_objects.h"

#include <string>
#include <utility>

namespace sluice::kubernetes {
namespace {

bool isFailure(const config::Condition& condition) {
  return config::isTrouble(condition.type, config::conditionStatusName(condition.status)) &&
         condition.type != config::condition_type::kResolvedRefs && !config::isOutage(condition);
}

}  // namespace

std::vector<FailedObject> failedObjectsOf(const config::StatusList& statuses) {
  std::vector<FailedObject> failed;
  for (const config::ObjectStatus& object : statuses) {
    if (config::isHealthy(object)) continue;
    const config::Condition* first = nullptr;
    for (const auto& [part, conditions] : config::conditionsOf(object)) {
      for (const config::Condition& each : *conditions) {
        if (first == nullptr && isFailure(each)) first = &each;
      }
    }
    if (first == nullptr) continue;
    failed.push_back(
        {std::string(object.kind), object.nameSpace, object.name, object.revision, first->reason, first->message});
  }
  return failed;
}

}  // namespace sluice::kubernetes
