// A BackendCache keeps the BackendPlans of the last compilation. A plan that did not change stays the same object, so
// that everything made from it stays too.
//
// It belongs to the loading thread.
#pragma once

#include <memory>

#include "proxy/base/cache.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// A round is one compilation.
using BackendCache = base::Cache<routing::BackendIdentity, std::shared_ptr<const routing::BackendPlan>>;

/// Returns the last compilation's plan if it is equal to `plan`, else `plan`.
std::shared_ptr<const routing::BackendPlan> sharedPlan(std::shared_ptr<const routing::BackendPlan> plan,
                                                       BackendCache& cache);

}  // namespace sluice::control
