#include "proxy/control/report/backend_events.h"

#include <map>
#include <string>

namespace sluice::control {

void noteBackends(const compile::BackendHealths& before, const compile::BackendHealths& now, base::WallTime clock,
                  observe::EventBatch& events) {
  std::map<const routing::BackendReach*, std::string> failed;
  for (const compile::BackendHealth& each : before) {
    if (each.reach != nullptr && !each.serves) failed.emplace(each.reach.get(), each.why);
  }
  for (const compile::BackendHealth& each : now) {
    if (each.reach == nullptr) continue;
    const auto known = failed.find(each.reach.get());
    const std::string object = routing::titleOf(each.object);
    if (each.serves && known != failed.end()) {
      events.add(observe::EventType::kNormal, "BackendReachable", object, each.endpoint + " takes connections again",
                 clock, each.endpoint);
    }
    if (each.serves || (known != failed.end() && known->second == each.why)) continue;
    const routing::ReachFailures failures = each.reach->failures();
    const std::string often = failures.count > 1 ? "; " + std::to_string(failures.count) + " failures in a row" : "";
    events.add(observe::EventType::kWarning, "BackendUnreachable", object,
               each.endpoint + " takes no connections: " + each.why + often, clock, each.endpoint);
  }
}

}  // namespace sluice::control
