// What PayloadProcessors and PayloadProcessingPipelines are told: whether they are attached (P-29), and which of their
// uses can not run.
#pragma once

#include <vector>

#include "config/status/conditions.h"
#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/processors/refused_uses.h"

namespace sluice::control {

/// A PayloadProcessor's ancestor is its target; of a target that belongs to another controller nothing is said.
std::vector<config::ObjectStatus> processorStatuses(const config::Model& model,
                                                    const std::vector<GatewayPlan>& gateways,
                                                    const RefusedUses& refused);

}  // namespace sluice::control
