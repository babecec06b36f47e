// Gathers the Backends to which requests may go.
#pragma once

#include <memory>
#include <vector>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the plans that attached rules, or processors which send requests themselves, send traffic to. They are
/// sorted by name and port.
std::vector<std::shared_ptr<const routing::BackendPlan>> backendsInUse(const std::vector<GatewayPlan>& gateways,
                                                                       const BackendCatalog& backends);

}  // namespace sluice::compile
