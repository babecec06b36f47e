#include "proxy/server/commands/condition_faults.h"

#include <algorithm>
#include <utility>

#include "config/status/conditions.h"
#include "proxy/content/member_text.h"

namespace sluice::server {
namespace {

void collectFaults(const content::Value& value, std::vector<std::string>& faults) {
  if (const content::Value* conditions = value.find("conditions")) {
    for (const content::Value& condition : conditions->items) {
      const std::string& type = memberText(condition, "type");
      const std::string& status = memberText(condition, "status");
      if (!config::isTrouble(type, status)) continue;
      std::string text =
          type + " " + status + ", " + memberText(condition, "reason") + ": " + memberText(condition, "message");
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
