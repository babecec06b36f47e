// Backends into BackendPlans: one for each port, made once for all rules that refer to it, and what each Backend is
// told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/conditions.h"
#include "config/model.h"
#include "proxy/pki/trust_store.h"
#include "proxy/routing/fault.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

/// Where the system's authorities come from: pki::TrustStore::system, or a test's own.
using SystemTrust = std::function<base::Result<pki::TrustStore>()>;

using BackendResult = Resolved<std::shared_ptr<const BackendPlan>>;

class BackendCatalog {
 public:
  /// `model` must outlive it. The system's authorities are loaded once at most, and only if a Backend relies on them.
  BackendCatalog(const config::Model& model, const SystemTrust& systemTrust);

  /// The plan that a backendRef of a route in namespace `holder` means. Faults: InvalidKind, RefNotPermitted,
  /// BackendNotFound, or what is wrong with the Backend itself.
  BackendResult resolve(const config::HttpBackendRef& ref, std::string_view holder) const;

  /// Remembers that `gateway` sends traffic to the Backend behind `ref`: it becomes a parent in the Backend's status.
  void noteUse(const config::HttpBackendRef& ref, std::string_view holder, const config::Gateway& gateway);

  std::vector<config::ObjectStatus> statuses() const;

 private:
  struct Entry {
    std::optional<Fault> unaccepted;
    std::optional<Fault> unresolved;
    std::map<std::uint16_t, std::shared_ptr<const BackendPlan>> plans;  // by port; empty if there is a fault
    std::map<std::string, const config::Gateway*> users;
  };

  Entry compile(const config::Backend& backend);
  Resolved<UpstreamTls> compileTls(const config::Backend& backend, const config::BackendTls& tls);
  Resolved<std::shared_ptr<const pki::TrustStore>> trustFor(const config::Backend& backend,
                                                            const config::BackendTls& tls);
  Resolved<std::shared_ptr<const pki::TrustStore>> systemAuthorities(const config::BackendTls& tls);
  config::ObjectStatus status(const config::Backend& backend, const Entry& entry) const;
  config::ObjectStatus status(const config::Rejected& rejected) const;

  const config::Model& model_;
  const SystemTrust& systemTrust_;
  std::optional<Resolved<std::shared_ptr<const pki::TrustStore>>> system_;
  std::map<const config::Backend*, Entry> entries_;
};

}  // namespace sluice::routing
