// Gathers the outlier detection of the rules of attached routes, by which /status shows what is ejected.
#pragma once

#include <vector>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the ejections of each Backend of these rules that may be ejected, or whose endpoints may be, by name and
/// rule.
std::vector<routing::BackendEjections> backendEjections(const std::vector<GatewayPlan>& gateways,
                                                        const BackendCatalog& backends);

}  // namespace sluice::compile
