// Adds the steps of Backends' extensions and of PayloadProcessors for Backends to the plans of Backends, and resolves
// the backendRefs of routes to these plans. All rules that refer to a port share its plan.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/destinations/backend_cache.h"
#include "proxy/compile/destinations/destination_catalog.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// A port of a Backend.
struct CompiledBackendPort {
  std::shared_ptr<const routing::BackendPlan> plan;  // null if there is a fault
  std::optional<Fault> unaccepted;
  std::optional<Fault> unresolved;
  std::optional<Fault> unprocessed;  // an extension or a PayloadProcessor cannot run and fails closed
  std::optional<Fault> closed;       // a policy for it is not supported, or cannot be applied
  std::optional<Fault> outdated;     // as in DestinationPort
  base::ObjectNames secrets;         // the Secrets that the port and its processors name

  /// Returns the reason why requests to it answer 500; none if they do not.
  const std::optional<Fault>& fault() const {
    return unaccepted ? unaccepted : unresolved ? unresolved : closed ? closed : unprocessed;
  }
};

struct CompiledBackend {
  std::optional<Fault> unaccepted;         // a fault of all ports
  std::vector<CompiledBackendPort> ports;  // in the order of config::Backend::ports
  std::vector<RefusedUse> refused;         // extensions that cannot run, each once
  RefusedUses attached;                    // uses of PayloadProcessors for it that cannot run
  std::set<const config::Gateway*> users;  // Gateways that send traffic to it
};

class BackendCatalog {
 public:
  /// `model`, `destinations` and `cache` must outlive it.
  BackendCatalog(const config::Model& model, const DestinationCatalog& destinations,
                 const ProcessorCompiler& processors, BackendCache& cache);

  /// Resolves a reference of the route `holder`, as DestinationCatalog::resolve() does, to a plan with the steps of the
  /// Backend's extensions. It may also return the fault of an extension that cannot run and fails closed.
  BackendUse resolve(const config::BackendObjectReference& ref, const Holder& holder) const;

  /// Returns the same as DestinationCatalog::newest().
  std::shared_ptr<const routing::BackendPlan> newest(const std::shared_ptr<const routing::BackendPlan>& plan) const {
    return destinations_.newest(plan);
  }

  /// Returns the plan with these settings of policies; see governedPlan(). Rules with the same settings share the plan.
  std::shared_ptr<const routing::BackendPlan> governed(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                       const routing::ConnectionSettings& settings) const;
  /// Keeps the governed plans of a rule that is not compiled again, and those of its mirrors, so that other rules will
  /// share them. Returns false if one of them is no longer the plan that rules share.
  bool keepGoverned(const routing::Rule& rule) const;

  /// Remembers that `gateway` sends traffic to the Backend, so that it becomes a parent in the Backend's status.
  void noteUse(const config::Backend& backend, const config::Gateway& gateway) {
    backends_.at(&backend).users.insert(&gateway);
  }

  /// Returns all valid Backends, for their statuses.
  const std::unordered_map<const config::Backend*, CompiledBackend>& backends() const { return backends_; }

 private:
  static CompiledBackendPort compilePort(const config::Backend& backend, const DestinationPort& destination,
                                         const ProcessorCompiler& processors, BackendCache& cache,
                                         CompiledBackend& whole);

  BackendResult resolveDynamic(const config::Backend& backend, const config::BackendObjectReference& ref,
                               const Holder& holder) const;

  const DestinationCatalog& destinations_;
  BackendCache& cache_;
  std::unordered_map<const config::Backend*, CompiledBackend> backends_;
};

}  // namespace sluice::compile
