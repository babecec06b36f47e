// Compiles GatewayClasses and Gateways: which are ours, which are accepted, and which addresses and ports they use.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

/// Returns the Gateways of our GatewayClass and those whose class does not exist; older ones first, rejected ones last.
/// Two of them cannot use one port of one address: the later one loses it (PortUnavailable), unless a controller keeps
/// Pods of its own for each. With an address pool each
/// has addresses of its own, so that this happens only to Gateways that ask for the same one. A listener that could
/// only listen at unusable places loses its port too, unless it can be served where it was served before.
std::vector<GatewayPlan> compileGateways(const config::Model& model, const KnownPlaces& places);

/// Returns the places where the listeners of these Gateways are served.
ListenerPlaces placesOf(const std::vector<GatewayPlan>& gateways);

/// Returns true if our GatewayClass exists and its settings could be read.
bool hasAcceptedClass(const config::Model& model);

}  // namespace sluice::compile
