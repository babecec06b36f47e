// Services into BackendPlans: one for each of their ports, with the endpoints that their EndpointSlices say are ready.
//
// Lives as long as one compilation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/backends/backend_memo.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/policy/address_guard.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// The kind Service of the core group.
bool isService(const config::ObjectRef& ref);

class ServiceCatalog {
 public:
  /// `guard` says which endpoints are refused.
  ServiceCatalog(const config::Model& model, const routing::AddressGuard& guard, BackendMemo& memo);

  /// The plan that a backendRef of a route in namespace `holder` means. Faults: BackendNotFound for a Service or port
  /// that is not there; InvalidKind for type ExternalName, which the API asks not to support (CVE-2021-25740);
  /// UnsupportedProtocol for a port that is not TCP, or an appProtocol that is none of ours (GEP-1911).
  Resolved<std::shared_ptr<const routing::BackendPlan>> resolve(const config::BackendTarget& ref,
                                                                std::string_view holder) const;
  /// What of its endpoints is not used, and why; empty if all are.
  std::string note(const config::BackendTarget& ref, std::string_view holder) const;

 private:
  using Name = std::pair<std::string_view, std::string_view>;  // namespace and name
  using Slices = std::vector<const config::EndpointSlice*>;
  struct PortEntry {
    std::shared_ptr<const routing::BackendPlan> plan;  // null if there is a fault
    std::optional<Fault> fault;
    std::string note;
  };
  struct Entry {
    const config::Service* service = nullptr;
    std::map<std::uint16_t, PortEntry> ports;
  };

  static PortEntry compilePort(const config::Service& service, const config::ServicePort& port, const Slices& slices,
                               const routing::AddressGuard& guard, BackendMemo& memo);
  const PortEntry* find(const config::BackendTarget& ref, std::string_view holder) const;

  std::map<Name, Entry> entries_;
  std::map<Name, std::string> rejected_;  // by their schema, and why
};

}  // namespace sluice::control
