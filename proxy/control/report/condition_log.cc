#include "proxy/control/report/condition_log.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace sluice::control {

namespace {

/// Describes a bad condition for an event: "parent egress: Accepted False, HostnameConflict: the message".
std::string conditionInWords(const std::string& part, const config::Condition& condition) {
  std::string text = part.empty() ? "" : part + ": ";
  text.append(condition.type).append(" ").append(config::conditionStatusName(condition.status));
  text.append(", ").append(condition.reason);
  return condition.message.empty() ? text : text + ": " + condition.message;
}

}  // namespace

void ConditionLog::note(const config::StatusList& statuses, base::WallTime now, observe::EventBatch& events) {
  std::set<std::string> bad;
  for (const config::ObjectStatus& object : statuses) {
    if (config::isHealthy(object)) continue;
    const std::string why = noteObject(object, bad);
    if (!why.empty()) {
      events.add(observe::EventType::kWarning, kNotFullyServed, config::objectName(object), why, now);
    }
  }
  bad_ = std::move(bad);
}

/// Adds the bad conditions to `bad`. Returns the message of the event, or nothing if none of them is new.
std::string ConditionLog::noteObject(const config::ObjectStatus& object, std::set<std::string>& bad) const {
  std::string why;
  bool saysSomething = false;
  std::size_t count = 0;
  const std::string name = config::objectName(object);
  for (const auto& [part, conditions] : config::conditionsOf(object)) {
    for (const config::Condition& each : *conditions) {
      const std::string_view status = config::conditionStatusName(each.status);
      if (!config::isTrouble(each.type, status)) continue;
      std::string text = name;
      for (const std::string* field : {&part, &each.type, &each.reason, &each.message})
        text.append("\n").append(*field);
      if (!bad_.contains(text)) {
        ++count;
        // A condition that only sums up others has no findings.
        if (why.empty() || (!saysSomething && !each.findings.empty())) why = conditionInWords(part, each);
        saysSomething = saysSomething || !each.findings.empty();
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
  return count > 1 ? why + " (and " + std::to_string(count - 1) + " more: `sluice status`)" : why;
}

}  // namespace sluice::control
