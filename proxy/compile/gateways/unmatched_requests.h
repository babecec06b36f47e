// Makes the rule of each listener for the requests that no route matches. At a forward proxy, it sends them to the
// destinations that they name, with the settings that policies give to all rules of the listener. These requests have
// to pass everything that all requests there have to pass: the steps of the listener and its Gateway, which include
// those of their extension policies, and the hooks of the process. If all rules of the listener answer 500 because a
// restriction cannot be applied, these requests answer 500 too, and not 404.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/compile_tls.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

/// Sets `rest` of each forward proxy, and of each listener and Gateway whose unmatched requests run steps or answer
/// 500; `rest` of the others stays null. `authorities` verify destinations of scheme https. Called when the processors
/// of the listeners are compiled, and `shut` and `inheritance` are known.
void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks, const RulePolicyList& policies,
                   const SystemTrust& authorities);

}  // namespace sluice::compile
