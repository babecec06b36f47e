#include "proxy/routing/backend_memo.h"

#include "proxy/routing/compile_processors.h"

namespace sluice::routing {

// The identity says what a connection to it is like; the endpoints and what it does with requests are not in it,
// and the authority follows.
std::shared_ptr<const BackendPlan> BackendMemo::shared(std::shared_ptr<const BackendPlan> plan) {
  Entry& entry = plans_[{plan->name, plan->identity}];
  const bool known = entry.plan != nullptr && entry.plan->endpoints == plan->endpoints &&
                     same(entry.plan->chain.get(), plan->chain.get());
  if (!known) entry.plan = std::move(plan);
  entry.round = round_;
  return entry.plan;
}

}  // namespace sluice::routing
