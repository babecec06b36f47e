// Compiles Services into BackendPlans. Each port has one plan, with the endpoints of the Service's EndpointSlices that
// are ready.
//
// It lives as long as one compilation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/destinations/backend_cache.h"
#include "proxy/compile/destinations/backend_tls_policies.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/routing/policy/address_guard.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// DestinationRules are what decides about destinations besides their own objects.
struct DestinationRules {
  const routing::AddressGuard& guard;  // refuses endpoints
  const ClosingPolicies& closing;      // makes ports answer 500
  const BackendTlsPolicies& tls;       // gives TLS to ports
};

class ServiceCatalog {
 public:
  /// `model` must outlive it.
  ServiceCatalog(const config::Model& model, const DestinationRules& rules, BackendCache& cache);

  /// Returns the plan of the port that a backendRef of the route `holder` refers to. Faults: BackendNotFound for a
  /// Service or port that does not exist; InvalidKind for type ExternalName, which the API asks not to support
  /// (CVE-2021-25740); UnsupportedProtocol for a port that is not TCP, or an unknown appProtocol (GEP-1911);
  /// UnsupportedValue for a port that a policy closes; the fault of a BackendTLSPolicy for the port.
  Resolved<std::shared_ptr<const routing::BackendPlan>> resolve(const config::BackendObjectReference& ref,
                                                                const Holder& holder) const;
  /// Returns the plan of the same Service with its current endpoints, over the same version of HTTP; `plan` itself if
  /// it does not belong to a Service.
  std::shared_ptr<const routing::BackendPlan> newest(const std::shared_ptr<const routing::BackendPlan>& plan) const;
  /// Returns a note about the endpoints that are not used; empty if all are used. The note has the reason if the
  /// Service is in the holder's namespace.
  config::Finding note(const config::BackendObjectReference& ref, std::string_view holder) const;

 private:
  using Name = std::pair<std::string_view, std::string_view>;  // namespace and name
  using Slices = std::vector<std::shared_ptr<const config::EndpointSlice>>;
  struct ServicePortEntry {
    std::shared_ptr<const routing::BackendPlan> plan;  // for rules; null if there is a fault
    std::optional<Fault> fault;
    std::string note;
  };
  struct CompiledService {
    const config::Service* service = nullptr;
    std::map<std::uint16_t, ServicePortEntry> ports;
  };

  void addService(const std::shared_ptr<const config::Service>& service, const Slices& slices,
                  const DestinationRules& rules, BackendCache& cache);
  const ServicePortEntry* find(const config::BackendObjectReference& ref, std::string_view holder) const;

  const config::Model& model_;
  std::map<Name, CompiledService> entries_;
  std::map<routing::BackendIdentity, std::shared_ptr<const routing::BackendPlan>> newest_;
};

}  // namespace sluice::compile
