// GatewayClasses and Gateways: which are ours, which are accepted, which addresses and ports they hold.
#pragma once

#include <vector>

#include "config/status/conditions.h"
#include "proxy/control/compile/gateways/gateway_plan.h"
#include "proxy/control/compile/processors/extension_hooks.h"

namespace sluice::control {

/// The Gateways of our GatewayClass, and those whose class nobody knows; older ones first, rejected ones last. Two of
/// them can not hold one port of one address: the later one loses it (PortUnavailable).
std::vector<GatewayPlan> compileGateways(const config::Model& model);

/// Statuses of the GatewayClasses with our controllerName, and of those that their schema refused.
std::vector<config::ObjectStatus> gatewayClassStatuses(const config::Model& model, const ExtensionHooks& hooks);
config::ObjectStatus gatewayStatus(const GatewayPlan& plan);
/// Of a Gateway of which nothing was legible.
config::ObjectStatus rejectedStatus(const config::Rejected& rejected);

/// Our GatewayClass exists and its settings could be read.
bool hasAcceptedClass(const config::Model& model);

}  // namespace sluice::control
