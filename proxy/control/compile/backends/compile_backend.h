// Compiles Backends into BackendPlans and resolves backendRefs to them. There is one plan for each port; all rules that
// refer to it share the plan.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/backends/backend_cache.h"
#include "proxy/control/compile/backends/compile_service.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/gateways/compile_tls.h"
#include "proxy/control/compile/policies/closing_policies.h"
#include "proxy/control/compile/processors/compile_processors.h"
#include "proxy/control/compile/references.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

using BackendResult = Resolved<std::shared_ptr<const routing::BackendPlan>>;

/// A backendRef of routes and its resolution.
struct BackendUse {
  config::BackendObjectReference target;  // as the first of these routes has written it
  BackendResult result;
  std::string note;                          // note for the route's conditions; empty: none
  const config::Backend* backend = nullptr;  // set if the reference is permitted and the Backend exists, served or not

  /// Returns true if both resolutions of one reference are the same.
  friend bool operator==(const BackendUse& a, const BackendUse& b) {
    return a.result == b.result && a.note == b.note && a.backend == b.backend;
  }
};

/// A port of a Backend.
struct CompiledBackendPort {
  std::shared_ptr<const routing::BackendPlan> plan;  // null if there is a fault
  std::optional<Fault> unaccepted;
  std::optional<Fault> unresolved;
  std::optional<Fault> unprocessed;  // an extension cannot run and fails closed
  std::optional<Fault> closed;       // a policy for it is not supported
};

struct CompiledBackend {
  std::optional<Fault> unaccepted;  // concerns all ports
  std::map<std::uint16_t, CompiledBackendPort> ports;
  std::vector<RefusedUse> refused;         // extensions that cannot run, each once
  std::set<const config::Gateway*> users;  // Gateways that send traffic to it
};

class BackendCatalog {
 public:
  /// `model` must outlive it.
  BackendCatalog(const config::Model& model, const SystemTrust& systemTrust, const routing::AddressGuard& guard,
                 const ProcessorCompiler& processors, const ClosingPolicies& policies, BackendCache& cache);

  /// Resolves a reference of the route `holder`. Faults: InvalidKind, RefNotPermitted, BackendNotFound, or the fault of
  /// the Backend itself; see ServiceCatalog for Services.
  BackendUse resolve(const config::BackendObjectReference& ref, const Holder& holder) const;

  /// Does ServiceCatalog::newest().
  const std::shared_ptr<const routing::BackendPlan>& newest(
      const std::shared_ptr<const routing::BackendPlan>& plan) const {
    return services_.newest(plan);
  }

  /// Remembers that `gateway` sends traffic to the Backend, so that it becomes a parent in the Backend's status.
  void noteUse(const config::Backend& backend, const config::Gateway& gateway) {
    backends_.at(&backend).users.insert(&gateway);
  }

  /// Returns all valid Backends, for their statuses.
  const std::unordered_map<const config::Backend*, CompiledBackend>& backends() const { return backends_; }

 private:
  /// The parts that the compilation of a Backend needs.
  struct Tools {
    TlsCompiler& tls;
    const ProcessorCompiler& processors;
    const ClosingPolicies& policies;
    BackendCache& cache;
  };
  static CompiledBackend compile(const config::Backend& backend, const Tools& tools);
  static CompiledBackendPort compilePort(const config::Backend& backend, const config::BackendPort& port,
                                         const Tools& tools, std::vector<RefusedUse>& refused);
  /// Resolves a reference that means the object `meant`, which is `backend`; nullptr if there is no such Backend.
  BackendResult resolve(const config::BackendObjectReference& ref, const Holder& holder, const config::ObjectRef& meant,
                        const config::Backend* backend) const;
  /// Returns the object that a backendRef means, with its namespace. Samples of the prototype write kind Backend for an
  /// XBackendDestination, which is meant if there is no Backend of that name.
  config::ObjectRef meaningOf(const config::ObjectRef& ref, const Holder& holder) const;
  /// Returns a hint at the Backend or Service of that name.
  std::string hintAtKind(const config::ObjectRef& ref, const Holder& holder) const;
  /// Returns RefNotPermitted if the route may not refer to that object.
  std::optional<Fault> permission(const config::ObjectRef& ref, const Holder& holder) const;

  const config::Model& model_;
  std::unordered_map<const config::Backend*, CompiledBackend> backends_;
  const ServiceCatalog services_;
};

}  // namespace sluice::control
