// Compiles the hooks of settings.extensionManagers into payload processors. Every route and every listener of the
// process runs them, besides the processors that users attached.
//
// A hook that cannot run and fails closed refuses only the requests of its own scope, whether or not a route matches
// them. Requests for health and readiness never run hooks, because no listener of a Gateway serves them.
//
// ExtensionHooks are immutable. compile() makes them.
#pragma once

#include <memory>
#include <vector>

#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

struct ExtensionHooks {
  CompiledUses ofRoutes;  // they run for every rule, and for requests that match none
  /// The hooks of hostnames, of listeners and of the process. All of them run for every request of every listener.
  CompiledUses ofListeners;

  bool empty() const { return ofRoutes == CompiledUses() && ofListeners == CompiledUses(); }
  friend bool operator==(const ExtensionHooks&, const ExtensionHooks&) = default;
};

/// Returns hooks for the conditions of routes and Gateways. These lack the uses that are left out, and the messages
/// that name objects of the settings. The conditions of the GatewayClass have all of this.
CompiledUses toldOfHooks(CompiledUses hooks);

/// Returns `before` if it is equal to the new hooks. The result is never null.
std::shared_ptr<const ExtensionHooks> compileHooks(const config::Model& model, const ProcessorCompiler& processors,
                                                   std::shared_ptr<const ExtensionHooks> before);

}  // namespace sluice::compile
