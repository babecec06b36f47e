// Listeners into sockets: one for each address and port, shared by the listeners of a Gateway that differ by hostname.
#pragma once

#include <vector>

#include "proxy/control/compile/gateways/gateway_plan.h"

namespace sluice::control {

/// In the order of address and port. A port that no listener of it can hold open has no socket: nothing speaks
/// plaintext where TLS was asked for. What the listeners' entries hold goes into the sockets' tables.
std::vector<routing::Bind> compileBinds(std::vector<GatewayPlan> gateways);

}  // namespace sluice::control
