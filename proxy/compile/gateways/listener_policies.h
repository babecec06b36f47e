// Gives the listeners of Gateways what policies and payload processors for them say: the steps that their requests run,
// and the settings that their rules inherit.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/routes/attached/rules_at_listener.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

/// Called after the Gateways were compiled and before routes are attached. If a policy or a payload processor that
/// fails closed cannot be served, every request of the listener is refused.
void applyToListeners(std::vector<GatewayPlan>& gateways, const RulePolicyList& policies, ListenerCache& cache,
                      RefusedUses& refused);

}  // namespace sluice::compile
