// The listeners of one Gateway, checked alone and against each other (Gateway API "Distinct Listeners").
#pragma once

#include <vector>

#include "config/status/conditions.h"
#include "proxy/control/compile/gateways/gateway_plan.h"

namespace sluice::control {

std::vector<ListenerPlan> compileListeners(const config::Model& model, const config::Gateway& gateway);

config::ListenerStatus listenerStatus(const ListenerPlan& plan, const GatewayPlan& gateway);

/// The listener lets routes of that kind and namespace attach.
bool admits(const config::Model& model, const config::Gateway& gateway, const config::Listener& listener,
            std::string_view kind, std::string_view routeNamespace);

}  // namespace sluice::control
