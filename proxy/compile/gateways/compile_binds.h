// Compiles listeners into sockets. There is one socket for each address and port, shared by the listeners of a Gateway
// that differ by hostname.
#pragma once

#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/routing/table/host_rules.h"

namespace sluice::compile {

/// Returns the sockets in the order of address and port, with the entries of their listeners in their tables. A port
/// that no listener can open gets no socket, so that nothing speaks plaintext where TLS was asked for. `rules` has
/// those of the last compilation.
std::vector<routing::Bind> compileBinds(const std::vector<GatewayPlan>& gateways, const base::PathSettings& paths,
                                        routing::HostRulesStore& rules);

}  // namespace sluice::compile
