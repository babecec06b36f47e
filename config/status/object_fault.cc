#include "config/status/object_fault.h"

namespace sluice::config {

bool isFault(const Condition& condition) {
  // If the object itself keeps a Backend from being Available, it is not Programmed either.
  if (condition.type == condition_type::kAvailable || condition.type == condition_type::kSupportedVersion) return false;
  if (isOutage(condition) || condition.reason == reason::kExtensionPending) return false;
  return isTrouble(condition.type, conditionStatusName(condition.status));
}

const Condition* mainFault(const ObjectStatus& object) {
  const Condition* main = nullptr;
  forEachCondition(object, [&main](const Condition& each) {
    if (!isFault(each)) return;
    const bool tellsMore = main != nullptr && main->findings.empty() && !each.findings.empty();
    if (main == nullptr || tellsMore) main = &each;
  });
  return main;
}

}  // namespace sluice::config
