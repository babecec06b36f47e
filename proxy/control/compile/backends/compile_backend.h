// What backendRefs mean. Backends into BackendPlans: one for each port, made once for all rules that refer to it, and
// what each Backend is told.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "config/status/conditions.h"
#include "proxy/control/compile/backends/backend_memo.h"
#include "proxy/control/compile/backends/compile_service.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/gateways/compile_tls.h"
#include "proxy/control/compile/processors/compile_processors.h"
#include "proxy/control/compile/references.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

using BackendResult = Resolved<std::shared_ptr<const routing::BackendPlan>>;

/// A reference of a route, and what it means.
struct BackendUse {
  const config::BackendTarget* target = nullptr;
  BackendResult result;
  std::string note;                          // what the route is told of it; empty if nothing
  const config::Backend* backend = nullptr;  // what it names if it may and that is there, served or not

  friend bool operator==(const BackendUse&, const BackendUse&) = default;
};

class BackendCatalog {
 public:
  /// `model` must outlive it.
  BackendCatalog(const config::Model& model, const SystemTrust& systemTrust, const routing::AddressGuard& guard,
                 const ProcessorCompiler& processors, BackendMemo& memo);

  /// What a reference of the route `holder` means. Faults: InvalidKind, RefNotPermitted, BackendNotFound, or what is
  /// wrong with the Backend itself; of a Service see ServiceCatalog.
  BackendUse resolve(const config::BackendTarget& ref, const Holder& holder) const;

  /// Remembers that `gateway` sends traffic to the Backend: it becomes a parent in the Backend's status.
  void noteUse(const config::Backend& backend, const config::Gateway& gateway) {
    entries_.at(&backend).users.insert(&gateway);
  }

  /// Appends what each Backend is told. It is defined with the other statuses, in backend_status.cc.
  void addStatuses(std::vector<config::ObjectStatus>& statuses) const;

 private:
  struct PortEntry {
    std::shared_ptr<const routing::BackendPlan> plan;  // null if there is a fault
    std::optional<Fault> unaccepted;
    std::optional<Fault> unresolved;
    std::optional<Fault> unprocessed;  // an extension can not run, and is not to be missed
  };
  struct Entry {
    std::optional<Fault> unaccepted;  // of all ports
    std::map<std::uint16_t, PortEntry> ports;
    std::vector<RefusedUse> refused;  // its extensions that can not run, each once
    std::set<const config::Gateway*> users;
  };

  /// What a compilation of Backends needs.
  struct Tools {
    TlsCompiler& tls;
    const ProcessorCompiler& processors;
    BackendMemo& memo;
  };
  static Entry compile(const config::Backend& backend, const Tools& tools);
  static PortEntry compilePort(const config::Backend& backend, const config::BackendPort& port, const Tools& tools,
                               std::vector<RefusedUse>& refused);
  BackendResult resolve(const config::BackendTarget& ref, const Holder& holder, const config::Backend* backend) const;
  /// Whether the route may refer to that at all.
  std::optional<Fault> permission(const config::ObjectRef& ref, const Holder& holder) const;
  config::ObjectStatus status(const config::Backend& backend, const Entry& entry) const;
  config::ObjectStatus status(const config::Rejected& rejected) const;

  const config::Model& model_;
  std::unordered_map<const config::Backend*, Entry> entries_;
  const ServiceCatalog services_;
};

}  // namespace sluice::control
