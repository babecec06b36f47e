// Compiles Backends into BackendPlans and resolves references of all objects to Backends and Services. Each port has
// one plan. These plans have no steps: BackendCatalog (compile_backend.h) adds those of their extensions.
//
// It lives as long as one compilation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/destinations/backend_cache.h"
#include "proxy/compile/destinations/backend_tls_policies.h"
#include "proxy/compile/destinations/compile_service.h"
#include "proxy/compile/ground/backend_use.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/ground/compile_tls.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// A port of a Backend.
struct DestinationPort {
  std::shared_ptr<const routing::BackendPlan> plan;  // null if it is not accepted, or not resolved
  std::optional<Fault> unaccepted;
  std::optional<Fault> unresolved;
  std::optional<Fault> closed;    // a policy for it is not supported, or cannot be applied
  std::optional<Fault> outdated;  // as in CompiledTls; requests are served nevertheless

  /// Returns the reason why requests to it answer 500; none if they do not.
  const std::optional<Fault>& fault() const { return unaccepted ? unaccepted : unresolved ? unresolved : closed; }
};

struct BackendDestination {
  std::shared_ptr<const config::Backend> backend;
  std::optional<Fault> unaccepted;     // a fault of all ports
  std::vector<DestinationPort> ports;  // in the order of config::Backend::ports
};

class DestinationCatalog {
 public:
  /// `model` must outlive it. `states` remember whether a Backend is reachable.
  DestinationCatalog(const config::Model& model, const SystemTrust& systemTrust, const DestinationRules& rules,
                     BackendCache& cache, processing::SharedStates& states);

  /// Resolves a reference of `holder`. Faults: InvalidKind, RefNotPermitted, BackendNotFound, or the fault of the
  /// Backend itself; see ServiceCatalog for Services.
  BackendUse resolve(const config::BackendObjectReference& ref, const Holder& holder) const;
  /// Returns the result for a Backend of the model.
  const BackendDestination& of(const config::Backend& backend) const { return backends_.at(&backend); }

  /// Returns the plan with its current endpoints if it leads to a Service, or else the plan itself.
  std::shared_ptr<const routing::BackendPlan> newest(const std::shared_ptr<const routing::BackendPlan>& plan) const;

 private:
  DestinationPort compilePort(const config::Backend& backend, const config::BackendPort& port, TlsCompiler& tls,
                              const DestinationRules& rules, BackendCache& cache, processing::SharedStates& states);
  /// Makes the plan of a port with the host of the Backend, or as the plan of the Service that it leads to. Faults:
  /// those of ServiceCatalog::resolve(), and RefNotPermitted.
  Resolved<routing::BackendPlan> planOf(const config::Backend& backend, const config::BackendPort& port) const;
  /// Gives the plan the TLS of a policy for the Backend, or else the Backend's own TLS; without both, the plan keeps
  /// its own. Returns false if there is a fault, and stores the fault in `entry`.
  static bool addTls(const config::Backend& backend, const config::BackendPort& port, TlsCompiler& tls,
                     const BackendTlsPolicies& policies, routing::BackendPlan& plan, DestinationPort& entry);
  /// Returns ServiceCatalog::note() about the Service that the Backend leads to; empty if it leads to none. The field
  /// of the note is a field of the Backend.
  config::Finding noteOn(const config::Backend& backend, std::uint16_t port) const;
  /// Resolves a reference that refers to the Backend.
  std::vector<EndpointUse> resolve(const config::BackendObjectReference& ref, const Holder& holder,
                                   const config::Backend& backend) const;
  /// Returns the object that a backendRef refers to, with its namespace; see meantKind().
  config::ObjectRef meaningOf(const config::ObjectRef& ref, const Holder& holder) const;
  /// Returns a hint at the Backend or Service of that name.
  std::string hintAtKind(const config::ObjectRef& ref, const Holder& holder) const;
  /// Returns RefNotPermitted if the holder may not refer to that object.
  std::optional<Fault> permission(const config::ObjectRef& ref, const Holder& holder) const;

  const config::Model& model_;
  std::unordered_map<const config::Backend*, BackendDestination> backends_;
  const ServiceCatalog services_;
  /// The plans of Backends that lead to Services, with their current endpoints.
  std::map<routing::BackendIdentity, std::shared_ptr<const routing::BackendPlan>> ofServices_;
};

}  // namespace sluice::compile
