// Gives a Gateway the terms by which it learns who its callers are, and its listeners the verification of their
// clients' certificates.
#pragma once

#include "config/model/model.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/policies/client_validations.h"

namespace sluice::compile {

/// Called when the listeners of the plan were compiled, before ports are claimed. A listener that has to verify its
/// clients and cannot verify any of them is down, and one with a policy that cannot be served refuses every request.
void identifyCallers(const config::Model& model, ClientValidations& clients, GatewayPlan& plan);

}  // namespace sluice::compile
