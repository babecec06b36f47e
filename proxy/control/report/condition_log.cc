#include "proxy/control/report/condition_log.h"

#include <string_view>
#include <utility>

namespace sluice::control {

void ConditionLog::note(const config::StatusList& statuses, base::WallTime now, observe::EventBatch& events) {
  std::set<std::string> bad;
  for (const config::ObjectStatus& object : statuses) {
    if (config::isHealthy(object) || !noteObject(object, bad)) continue;
    events.add(observe::EventType::kWarning, kNotFullyServed, config::objectName(object),
               "`sluice status` says why, by condition", now);
  }
  bad_ = std::move(bad);
}

/// Adds the bad conditions to `bad`, and returns true if one of them is new.
bool ConditionLog::noteObject(const config::ObjectStatus& object, std::set<std::string>& bad) const {
  bool isNew = false;
  const std::string name = config::objectName(object);
  for (const auto& [part, conditions] : config::conditionsOf(object)) {
    for (const config::Condition& each : *conditions) {
      const std::string_view status = config::conditionStatusName(each.status);
      if (!config::isTrouble(each.type, status)) continue;
      std::string text = name;
      for (const std::string* field : {&part, &each.type, &each.reason, &each.message})
        text.append("\n").append(*field);
      if (!bad_.contains(text)) {
        isNew = true;
        log_.warn("object is not fully served", {{"object", name},
                                                 {"part", part},
                                                 {"condition", each.type},
                                                 {"status", status},
                                                 {"reason", each.reason},
                                                 {"message", each.message}});
      }
      bad.insert(std::move(text));
    }
  }
  return isNew;
}

}  // namespace sluice::control
