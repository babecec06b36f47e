#include "proxy/control/compile/backends/backend_cache.h"

#include "proxy/control/compile/processors/compiled_chain.h"

namespace sluice::control {

// The identity describes a connection to the plan's destination. Endpoints and extensions are not in it and are
// compared here; the authority follows from the identity.
std::shared_ptr<const routing::BackendPlan> sharedPlan(std::shared_ptr<const routing::BackendPlan> plan,
                                                       BackendCache& cache) {
  const auto unchanged = [&](const std::shared_ptr<const routing::BackendPlan>& before) {
    return before->endpoints == plan->endpoints && same(before->chain.get(), plan->chain.get());
  };
  return cache.newest.get(plan->identity, unchanged, [&] { return plan; });
}

std::shared_ptr<const routing::BackendPlan> planOfRules(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                        BackendCache& cache) {
  const auto sameButForEndpoints = [&](const std::shared_ptr<const routing::BackendPlan>& before) {
    return same(before->chain.get(), plan->chain.get());
  };
  return cache.ofRules.get(plan->identity, sameButForEndpoints, [&] { return plan; });
}

}  // namespace sluice::control
