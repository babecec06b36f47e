// Makes the rule of each listener for the requests that no route matches. These have to pass what every request there
// has to pass: the steps of the listener and its Gateway, and the hooks of the process. If all that is there answers
// 500, because something that restricts it cannot be obeyed, they answer 500 too, and not 404.
#pragma once

#include <vector>

#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/processors/extension_hooks.h"

namespace sluice::control {

void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks);

}  // namespace sluice::control
