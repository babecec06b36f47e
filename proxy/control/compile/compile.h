// The Model into what the workers serve and what every object is told: the second half of "configuration is a pure
// function".
//
// No clock, no files, no network; the system's authorities come from the caller. The result depends on the set of
// objects alone, not on their order.
#pragma once

#include <memory>
#include <vector>

#include "config/model/model.h"
#include "config/status/conditions.h"
#include "proxy/control/compile/backends/backend_memo.h"
#include "proxy/control/compile/gateways/compile_tls.h"
#include "proxy/control/compile/processors/extension_hooks.h"
#include "proxy/control/compile/processors/processor_memo.h"
#include "proxy/control/compile/routes/route_memo.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

struct CompileResult {
  /// Always there: what is broken answers 500 in it, alone.
  std::shared_ptr<const routing::Snapshot> snapshot;
  /// In the order of writeStatuses(). Objects of other controllers, and kinds without a status, are not in it.
  std::vector<config::ObjectStatus> statuses;
  /// False if the set as a whole can not be served: there is no GatewayClass of ours, or its settings can not be read.
  bool usable = false;
};

/// What compilations one after the other have in common, and need not make again. It never shows in what they make.
/// Loading thread.
struct CompileMemo {
  processing::SharedStates states;
  ProcessorMemo processors;
  std::shared_ptr<const pki::TrustStore> authorities;  // the system's
  BackendMemo backends;
  RouteMemo routes;
  std::shared_ptr<const ExtensionHooks> hooks;
};

/// What the program lends to its configuration.
struct CompileTools {
  const config::Catalog& catalog;  // of the model
  const processing::BuiltinTypes& processors;
  const SystemTrust& systemTrust;
};

CompileResult compile(const config::Model& model, const CompileTools& tools, CompileMemo& memo);
/// With the system's own authorities.
CompileResult compile(const config::Model& model, const config::Catalog& catalog,
                      const processing::BuiltinTypes& processors, CompileMemo& memo);

}  // namespace sluice::control
