// Compiles Backends into BackendPlans and resolves backendRefs to them. There is one plan for each port; all rules that
// refer to it share the plan. The conditions of Backends are collected here too.
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

/// A backendRef of a route and its resolution.
struct BackendUse {
  const config::BackendTarget* target = nullptr;
  BackendResult result;
  std::string note;                          // note for the route's conditions; empty: none
  const config::Backend* backend = nullptr;  // set if the reference is permitted and the Backend exists, served or not

  friend bool operator==(const BackendUse&, const BackendUse&) = default;
};

class BackendCatalog {
 public:
  /// `model` must outlive it.
  BackendCatalog(const config::Model& model, const SystemTrust& systemTrust, const routing::AddressGuard& guard,
                 const ProcessorCompiler& processors, BackendMemo& memo);

  /// Resolves a reference of the route `holder`. Faults: InvalidKind, RefNotPermitted, BackendNotFound, or the fault of
  /// the Backend itself; see ServiceCatalog for Services.
  BackendUse resolve(const config::BackendTarget& ref, const Holder& holder) const;

  /// Remembers that `gateway` sends traffic to the Backend, so that it becomes a parent in the Backend's status.
  void noteUse(const config::Backend& backend, const config::Gateway& gateway) {
    entries_.at(&backend).users.insert(&gateway);
  }

  /// Appends the statuses of all Backends. It is defined with the other statuses, in backend_status.cc.
  void addStatuses(std::vector<config::ObjectStatus>& statuses) const;

 private:
  struct PortEntry {
    std::shared_ptr<const routing::BackendPlan> plan;  // null if there is a fault
    std::optional<Fault> unaccepted;
    std::optional<Fault> unresolved;
    std::optional<Fault> unprocessed;  // an extension cannot run and fails closed
  };
  struct Entry {
    std::optional<Fault> unaccepted;  // concerns all ports
    std::map<std::uint16_t, PortEntry> ports;
    std::vector<RefusedUse> refused;  // extensions that cannot run, each once
    std::set<const config::Gateway*> users;
  };

  /// The parts that the compilation of a Backend needs.
  struct Tools {
    TlsCompiler& tls;
    const ProcessorCompiler& processors;
    BackendMemo& memo;
  };
  static Entry compile(const config::Backend& backend, const Tools& tools);
  static PortEntry compilePort(const config::Backend& backend, const config::BackendPort& port, const Tools& tools,
                               std::vector<RefusedUse>& refused);
  BackendResult resolve(const config::BackendTarget& ref, const Holder& holder, const config::Backend* backend) const;
  /// Returns RefNotPermitted if the route may not refer to that object.
  std::optional<Fault> permission(const config::ObjectRef& ref, const Holder& holder) const;
  config::ObjectStatus status(const config::Backend& backend, const Entry& entry) const;
  config::ObjectStatus status(const config::Rejected& rejected) const;

  const config::Model& model_;
  std::unordered_map<const config::Backend*, Entry> entries_;
  const ServiceCatalog services_;
};

}  // namespace sluice::control
