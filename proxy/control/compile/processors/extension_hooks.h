// The hooks of settings.extensionManager as payload processors (C-13): what every route and every listener of the
// process puts its requests through, beside what anybody attached to them.
//
// A hook that can not run and fails closed refuses what it is for and nothing else; health and readiness are not
// served by listeners of Gateways, and so are never meant. Immutable, made by compile().
#pragma once

#include <memory>
#include <vector>

#include "proxy/control/compile/processors/compile_processors.h"

namespace sluice::control {

struct ExtensionHooks {
  CompiledUses ofRoutes;  // of every rule
  /// Of hostnames, listeners and the process: all of them are for every request of every listener that has a route.
  CompiledUses ofListeners;

  bool empty() const { return ofRoutes == CompiledUses() && ofListeners == CompiledUses(); }
  friend bool operator==(const ExtensionHooks&, const ExtensionHooks&) = default;
};

/// `before`, if it says the same; never null.
std::shared_ptr<const ExtensionHooks> compileHooks(const config::Model& model, const ProcessorCompiler& processors,
                                                   std::shared_ptr<const ExtensionHooks> before);

}  // namespace sluice::control
