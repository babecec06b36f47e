// Gives Gateways their addresses in a process that has an address pool.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

/// Gives an address of `places.pool`, which must be set, to each Gateway of the served GatewayClass that wants one. A
/// Gateway for which none is free gets AddressNotAssigned. It also removes the addresses that a Gateway asks for and
/// cannot have: all addresses of the machine, and addresses that another Gateway has from the pool (AddressNotUsable).
void givePoolAddresses(const config::Model& model, const KnownPlaces& places, std::vector<GatewayPlan>& plans);

/// Returns the addresses that the Gateways have, for the next call.
GatewayAddresses addressesOf(const std::vector<GatewayPlan>& plans);

}  // namespace sluice::compile
