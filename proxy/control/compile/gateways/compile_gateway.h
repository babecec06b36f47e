// GatewayClasses and Gateways: which are ours, which are accepted, which addresses and ports they hold.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/gateways/gateway_plan.h"

namespace sluice::control {

/// The Gateways of our GatewayClass, and those whose class nobody knows; older ones first, rejected ones last. Two of
/// them can not hold one port of one address: the later one loses it (PortUnavailable).
std::vector<GatewayPlan> compileGateways(const config::Model& model);

/// Our GatewayClass exists and its settings could be read.
bool hasAcceptedClass(const config::Model& model);

}  // namespace sluice::control
