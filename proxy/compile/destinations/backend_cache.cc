#include "proxy/compile/destinations/backend_cache.h"

#include "proxy/compile/ground/compiled_chain.h"

namespace sluice::compile {

namespace {

/// The identity describes a connection to the plan's destination. It does not contain extensions and the names of
/// Secrets. The authority follows from it.
bool areSame(const routing::BackendPlan& a, const routing::BackendPlan& b) {
  return same(a.chain.get(), b.chain.get()) && sameSecrets(a, b);
}

}  // namespace

bool sameSecrets(const routing::BackendPlan& a, const routing::BackendPlan& b) {
  return !a.tls || !b.tls || a.tls->secrets == b.tls->secrets;
}

std::shared_ptr<const routing::BackendPlan> sharedPlan(std::shared_ptr<const routing::BackendPlan> plan,
                                                       BackendCache& cache) {
  const auto unchanged = [&](const std::shared_ptr<const routing::BackendPlan>& before) {
    return before->endpoints == plan->endpoints && before->zones == plan->zones && areSame(*before, *plan);
  };
  return cache.newest.get(plan->identity, unchanged, [&] { return plan; });
}

std::shared_ptr<const routing::BackendPlan> planOfRules(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                        BackendCache& cache) {
  const auto sameButForEndpoints = [&](const std::shared_ptr<const routing::BackendPlan>& before) {
    return areSame(*before, *plan);
  };
  return cache.ofRules.get(plan->identity, sameButForEndpoints, [&] { return plan; });
}

}  // namespace sluice::compile
