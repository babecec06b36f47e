// What PayloadProcessors and PayloadProcessingPipelines are told: whether they are attached (P-29), and which of their
// uses can not run.
#pragma once

#include <vector>

#include "config/conditions.h"
#include "proxy/routing/gateway_plan.h"
#include "proxy/routing/refused_uses.h"

namespace sluice::routing {

/// A PayloadProcessor's ancestor is its target; of a target that belongs to another controller nothing is said.
std::vector<config::ObjectStatus> processorStatuses(const config::Model& model,
                                                    const std::vector<GatewayPlan>& gateways,
                                                    const RefusedUses& refused);

}  // namespace sluice::routing
