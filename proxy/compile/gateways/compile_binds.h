// Compiles listeners into sockets. There is one socket for each address and port. The listeners of a Gateway that
// differ by hostname share it.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/routing/table/host_rules.h"

namespace sluice::compile {

/// Returns the sockets in the order of address and port, with the entries of their listeners in their tables. If all
/// listeners of a port are down, it gets no socket, so that a port for TLS never accepts plaintext. `rules` has the
/// rules of the last compilation.
std::vector<routing::Bind> compileBinds(const std::vector<GatewayPlan>& gateways, const base::PathSettings& paths,
                                        routing::HostRulesStore& rules);

}  // namespace sluice::compile
