// Compiles GatewayClasses and Gateways. It decides which of them belong to this controller, which are accepted, and
// which addresses and ports they use.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/policies/client_validations.h"

namespace sluice::compile {

/// Returns the Gateways of the GatewayClass of this controller and those whose class does not exist. Older Gateways
/// come first, rejected ones last. Two Gateways of one process cannot use the same port of the same address: the later
/// one loses it (PortUnavailable). Gateways for which a controller runs Pods have ports of their own, but for Gateways
/// of two kinds and one name, which the same Pods serve. With an address pool, each Gateway has its own address, so
/// this happens only to Gateways that ask for the same address. A listener whose places are all unusable loses its port
/// too, unless it can be served where it was served before.
std::vector<GatewayPlan> compileGateways(const config::Model& model, const KnownPlaces& places,
                                         ClientValidations& clients);

/// Returns the places where the listeners of these Gateways are served.
ListenerPlaces placesOf(const std::vector<GatewayPlan>& gateways);

/// Returns true if the GatewayClass of this controller exists and its settings could be read.
bool hasAcceptedClass(const config::Model& model);

}  // namespace sluice::compile
