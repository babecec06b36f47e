// Compiles the hooks of settings.extensionManagers into payload processors. Every route and every listener of the
// process runs them, besides the processors that users attached.
//
// A hook that cannot run and fails closed refuses the requests of its own scope alone, whether or not a route matches
// them. Health and readiness are not served by listeners of Gateways and so are never affected. Immutable, made by
// compile().
#pragma once

#include <memory>
#include <vector>

#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

struct ExtensionHooks {
  CompiledUses ofRoutes;  // run for every rule, and for requests that match none
  /// Hooks of hostnames, of listeners and of the process. All of them run for every request of every listener.
  CompiledUses ofListeners;

  bool empty() const { return ofRoutes == CompiledUses() && ofListeners == CompiledUses(); }
  friend bool operator==(const ExtensionHooks&, const ExtensionHooks&) = default;
};

/// Returns hooks for the conditions of routes and Gateways: without those that are left out, and without the messages
/// that name what the settings refer to. The GatewayClass says all of that.
CompiledUses toldOfHooks(CompiledUses hooks);

/// Returns `before` if it is equal to the new hooks. Never null.
std::shared_ptr<const ExtensionHooks> compileHooks(const config::Model& model, const ProcessorCompiler& processors,
                                                   std::shared_ptr<const ExtensionHooks> before);

}  // namespace sluice::compile
