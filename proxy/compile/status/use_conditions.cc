#include "proxy/compile/status/use_conditions.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "proxy/base/timestamp.h"

namespace sluice::compile {
namespace {

constexpr std::string_view kLettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

}  // namespace

// A metav1.Condition.type may contain letters and digits, and between them "-", "_" and ".".
std::string useConditionType(std::string_view use) {
  std::string name(use);
  for (char& c : name) {
    if (kLettersAndDigits.find(c) == std::string_view::npos && c != '_' && c != '.') c = '-';
  }
  const std::size_t first = name.find_first_of(kLettersAndDigits);
  if (first == std::string::npos) return std::string(kUseConditionPrefix) + "unnamed";
  name = name.substr(first, name.find_last_of(kLettersAndDigits) - first + 1);
  return std::string(kUseConditionPrefix) + name;
}

namespace {

namespace reason = config::reason;
using processing::ServerReach;

bool isAway(const AskedServer& server) { return server.state.reach == ServerReach::kDegraded; }

/// Returns a fault that describes the failure of the server and its effect on requests.
Fault faultOf(const AskedServer& server) {
  const processing::ServerReport& state = server.state;
  const char* const how = state.cause == processing::Cause::kTimeout ? "does not answer in time" : "fails";
  const std::string count = state.failures == 1 ? "1 failure" : std::to_string(state.failures) + " failures in a row";
  base::Timestamp since;
  return summary(reason::kExtensionUnavailable, server.path,
                 std::string("its server ") + how + " since " + std::string(since.text(state.since)) + " (" + count +
                     " when this was noticed); until it answers, its requests " + std::string(effectOf(server.loss)));
}

struct UseFaults {
  std::string type;
  std::vector<Fault> faults;
};

std::vector<UseFaults> byType(const std::vector<RefusedUse>& refused) {
  std::vector<UseFaults> result;
  for (const RefusedUse& each : refused) {
    if (each.use.empty()) continue;
    std::string type = useConditionType(each.use);
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
    conditions.bad(uses[i].type, summary(why.reason, why.text()));
  }
  if (all || room == 0) return;
  conditions.bad(kMoreUsesCondition, summary(uses[shown].faults.front().reason,
                                             std::to_string(uses.size() - shown) + " more extensions cannot run"));
}

std::vector<RefusedUse> awayUses(const std::vector<AskedServer>& servers) {
  std::vector<RefusedUse> result;
  for (const AskedServer& each : servers) {
    if (isAway(each)) result.push_back({each.writtenIn, each.use, faultOf(each), each.loss != ServerLoss::kRefused});
  }
  return result;
}

std::optional<Fault> awayFault(const std::vector<AskedServer>& servers) {
  std::vector<Fault> faults;
  for (const AskedServer& each : servers) {
    if (isAway(each)) faults.push_back(faultOf(each));
  }
  std::optional<Fault> all = joined(faults);
  if (all) all->summary = true;
  return all;
}

void addServerConditions(const std::vector<AskedServer>& servers, Conditions& conditions, std::size_t most) {
  // Uses in different rules may have the same name. The condition reports the server in the worst state, and
  // unreachable is the worst one.
  std::set<std::string> away;
  std::set<std::string> pending;
  for (const AskedServer& each : servers) {
    if (isAway(each)) away.insert(useConditionType(each.use));
    if (each.state.reach == ServerReach::kPending) pending.insert(useConditionType(each.use));
  }
  std::set<std::string> added = away;
  for (const AskedServer& each : servers) {
    const std::string type = useConditionType(each.use);
    if (conditions.size() >= most || !added.insert(type).second) continue;
    if (pending.contains(type)) {
      conditions.good(type, reason::kExtensionPending, "its server has not been asked yet, or has not answered yet");
    } else {
      conditions.good(type, reason::kExtensionActive, "its server answers");
    }
  }
}

}  // namespace sluice::compile
