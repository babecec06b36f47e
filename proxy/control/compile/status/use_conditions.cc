#include "proxy/control/compile/status/use_conditions.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice::control {
namespace {

constexpr std::string_view kLettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// metav1.Condition.type: letters, digits, and between them "-", "_" and ".".
std::string typeOf(std::string_view use) {
  std::string name(use);
  for (char& c : name) {
    if (kLettersAndDigits.find(c) == std::string_view::npos && c != '_' && c != '.') c = '-';
  }
  const std::size_t first = name.find_first_of(kLettersAndDigits);
  if (first == std::string::npos) return std::string(kUseConditionPrefix) + "unnamed";
  name = name.substr(first, name.find_last_of(kLettersAndDigits) - first + 1);
  return std::string(kUseConditionPrefix) + name;
}

struct UseFaults {
  std::string type;
  std::vector<Fault> faults;
};

std::vector<UseFaults> byType(const std::vector<RefusedUse>& refused) {
  std::vector<UseFaults> result;
  for (const RefusedUse& each : refused) {
    if (each.use.empty()) continue;
    std::string type = typeOf(each.use);
    auto known = std::find_if(result.begin(), result.end(), [&](const UseFaults& other) { return other.type == type; });
    if (known == result.end()) known = result.insert(result.end(), UseFaults{std::move(type), {}});
    std::vector<Fault>& faults = known->faults;
    if (std::find(faults.begin(), faults.end(), each.fault) == faults.end()) faults.push_back(each.fault);
  }
  return result;
}

}  // namespace

void addUseConditions(const std::vector<RefusedUse>& refused, Conditions& conditions, std::size_t most) {
  const std::vector<UseFaults> uses = byType(refused);
  const std::size_t room = most - std::min(most, conditions.size());
  const bool all = uses.size() <= std::min(room, kMostUseConditions);
  const std::size_t shown = all ? uses.size() : std::min(room - std::min<std::size_t>(room, 1), kMostUseConditions);
  for (std::size_t i = 0; i < shown; ++i) {
    const Fault why = *joined(uses[i].faults);
    conditions.bad(uses[i].type, summary(why.reason, why.message));
  }
  if (all || room == 0) return;
  conditions.bad(kMoreUsesCondition, summary(uses[shown].faults.front().reason,
                                             std::to_string(uses.size() - shown) + " more extensions cannot run"));
}

}  // namespace sluice::control
