// A BackendCache keeps the BackendPlans of the last compilation. A plan that did not change stays the same object, so
// that everything made from it stays the same too.
//
// It belongs to the loading thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "proxy/base/cache.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// A port of a Service without a BackendTLSPolicy, and the objects of which it was made.
struct CompiledServicePort {
  std::shared_ptr<const routing::BackendPlan> plan;  // with its current endpoints; null if there is a fault
  std::optional<Fault> fault;
  std::string note;  // about endpoints that are not used
  std::shared_ptr<const config::Service> service = nullptr;
  std::vector<std::shared_ptr<const config::EndpointSlice>> slices = {};
};

struct BackendCache {
  /// A round is one compilation.
  using Plans = base::Cache<routing::BackendIdentity, std::shared_ptr<const routing::BackendPlan>>;
  Plans destinations;  // without steps
  Plans newest;
  Plans ofRules;
  /// By the Service and the index of the port. Each holds its Service, so no other one gets its address.
  base::Cache<std::pair<const config::Service*, std::size_t>, CompiledServicePort> services;
  std::vector<std::string> allowed;  // addressGuard.allow, by which endpoints of `services` were chosen

  void sweep() {
    destinations.sweep();
    newest.sweep();
    ofRules.sweep();
    services.sweep();
  }
};

/// Returns true if two plans with the same identity were made from Secrets with the same names.
bool sameSecrets(const routing::BackendPlan& a, const routing::BackendPlan& b);

/// Returns the last compilation's plan if it is equal to `plan`, or else `plan`.
std::shared_ptr<const routing::BackendPlan> sharedPlan(std::shared_ptr<const routing::BackendPlan> plan,
                                                       BackendCache& cache);

/// Returns the plan of a Service that rules refer to. It stays the same while endpoints come and go, so that routes
/// need not be compiled again. Its endpoints may be outdated; Snapshot::backends has the newest ones.
std::shared_ptr<const routing::BackendPlan> planOfRules(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                        BackendCache& cache);

}  // namespace sluice::compile
