#include "proxy/routing/backend_memo.h"

namespace sluice::routing {

// The identity says what a connection to it is like; the endpoints and what it does with requests are not in it,
// and the authority follows.
std::shared_ptr<const BackendPlan> BackendMemo::shared(std::shared_ptr<const BackendPlan> plan) {
  Entry& entry = plans_[{plan->name, plan->identity}];
  const bool same =
      entry.plan != nullptr && entry.plan->endpoints == plan->endpoints && entry.plan->chain == plan->chain;
  if (!same) entry.plan = std::move(plan);
  entry.round = round_;
  return entry.plan;
}

}  // namespace sluice::routing
