#include "proxy/server/commands/condition_faults.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/status/conditions.h"

namespace sluice::server {
namespace {

std::string conditionMember(const content::Value& condition, std::string_view name) {
  const content::Value* found = condition.find(name);
  return found != nullptr ? found->text : std::string();
}

void collectFaults(const content::Value& value, std::vector<std::string>& faults) {
  if (const content::Value* conditions = value.find("conditions")) {
    for (const content::Value& condition : conditions->items) {
      const std::string type = conditionMember(condition, "type");
      const std::string status = conditionMember(condition, "status");
      if (!config::isTrouble(type, status)) continue;
      std::string text = type;
      text += " " + status + ", " + conditionMember(condition, "reason");
      text += ": " + conditionMember(condition, "message");
      if (std::find(faults.begin(), faults.end(), text) == faults.end()) faults.push_back(std::move(text));
    }
  }
  for (const content::Member& member : value.members) {
    if (member.key != "conditions") collectFaults(member.value, faults);
  }
  for (const content::Value& item : value.items) collectFaults(item, faults);
}

}  // namespace

std::vector<std::string> conditionFaults(const content::Value& status) {
  std::vector<std::string> faults;
  collectFaults(status, faults);
  return faults;
}

}  // namespace sluice::server
