#include "proxy/routing/backend_memo.h"

namespace sluice::routing {

// The identity says what a connection to it is like; the endpoints alone are not in it, and the authority follows.
std::shared_ptr<const BackendPlan> BackendMemo::shared(std::shared_ptr<const BackendPlan> plan) {
  Entry& entry = plans_[{plan->name, plan->identity}];
  if (entry.plan == nullptr || entry.plan->endpoints != plan->endpoints) entry.plan = std::move(plan);
  entry.round = round_;
  return entry.plan;
}

}  // namespace sluice::routing
