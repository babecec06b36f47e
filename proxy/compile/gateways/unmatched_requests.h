// Makes the rule of each listener for the requests that no route matches. These have to pass what every request there
// has to pass: the steps of the listener and its Gateway, those of their extension policies included, and the hooks of
// the process. If all that is there answers 500, because something that restricts it cannot be obeyed, they answer 500
// too, and not 404.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/processors/extension_hooks.h"

namespace sluice::compile {

/// Sets `rest` of each listener and Gateway of which unmatched requests pass something or answer 500; the others stay
/// without one. Called when the processors of the listeners are compiled and `shut` is known.
void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks);

}  // namespace sluice::compile
