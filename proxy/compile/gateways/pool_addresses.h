// Gives the Gateways of a process with an address pool their addresses.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

/// Adds an address of `places.pool`, which is set, to the Gateways of the served GatewayClass that want one. If none is
/// free, the Gateway has AddressNotAssigned. Takes away the addresses that a Gateway asks for and cannot have of its
/// own: all addresses of the machine, and those that another Gateway has of the pool (AddressNotUsable).
void givePoolAddresses(const config::Model& model, const KnownPlaces& places, std::vector<GatewayPlan>& plans);

/// Returns the addresses that the Gateways have, for the next call.
GatewayAddresses addressesOf(const std::vector<GatewayPlan>& plans);

}  // namespace sluice::compile
