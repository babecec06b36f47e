#include "proxy/control/compile/backends/backend_memo.h"

#include "proxy/control/compile/processors/compile_processors.h"

namespace sluice::control {

// The identity says what a connection to it is like; the endpoints and what it does with requests are not in it,
// and the authority follows.
std::shared_ptr<const routing::BackendPlan> BackendMemo::shared(std::shared_ptr<const routing::BackendPlan> plan) {
  Entry& entry = plans_[{plan->name, plan->identity}];
  const bool known = entry.plan != nullptr && entry.plan->endpoints == plan->endpoints &&
                     same(entry.plan->chain.get(), plan->chain.get());
  if (!known) entry.plan = std::move(plan);
  entry.round = round_;
  return entry.plan;
}

}  // namespace sluice::control
