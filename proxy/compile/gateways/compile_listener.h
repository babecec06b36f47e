// Compiles the listeners of one Gateway, and checks each by itself and against the others (Gateway API "Distinct
// Listeners").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

std::vector<ListenerPlan> compileListeners(const config::Model& model, const config::Gateway& gateway);

/// Returns ListenerPlan::outdated for the condition Degraded; nullopt if the listener is not served at all.
std::optional<Fault> outdatedPairs(const ListenerPlan& plan);

config::ListenerStatus listenerStatus(const ListenerPlan& plan, const GatewayPlan& gateway);

/// Returns the part of allowedRoutes that excludes routes of that kind and namespace, in words; nullopt if the listener
/// allows them.
std::optional<std::string> refusedBy(const config::Model& model, const config::Gateway& gateway,
                                     const config::Listener& listener, std::string_view kind,
                                     std::string_view routeNamespace);

}  // namespace sluice::compile
