// Gives the listeners of Gateways what their requests pass and what their rules inherit, each part by a step of its
// own.
//
// They come after the Gateways were compiled and before routes are attached, in the order in which they stand here.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/routes/attached/rules_at_listener.h"

namespace sluice::compile {

/// Compiles the hooks of the process, and the PayloadProcessors and extension policies of Gateways and their listeners.
/// If one of them cannot run and fails closed, every request there is refused.
void processListeners(std::vector<GatewayPlan>& gateways, const ProcessorCompiler& processors,
                      const ExtensionHooks& hooks, ListenerCache& cache, RefusedUses& refused);

/// Gives listeners what their rules inherit of TrafficPolicies. A policy that cannot be served closes these rules.
void governListeners(std::vector<GatewayPlan>& gateways, const TrafficPolicies& traffic, ListenerCache& cache);

}  // namespace sluice::compile
