// Applies policies and payload processors to the listeners that they target: their requests run the steps, and their
// rules inherit the settings.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/routes/attached/rules_at_listener.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

/// Called after the Gateways were compiled and before routes are attached. If a policy cannot be served, or a payload
/// processor cannot run and fails closed, the listener refuses every request.
void applyToListeners(std::vector<GatewayPlan>& gateways, const RulePolicyList& policies, ListenerCache& cache,
                      RefusedUses& refused);

}  // namespace sluice::compile
