// The plan by which a health check reaches a Backend: connections of its own, to the port and with the TLS that the
// check asks for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// `endpoint` is set for a Service, and the only one of the plan. Plans of other generations share no connections; no
/// two checks have the same generation.
std::shared_ptr<const routing::BackendPlan> planOfChecks(const routing::BackendPlan& backend,
                                                         const std::optional<routing::Endpoint>& endpoint,
                                                         const routing::HealthCheckSettings& settings,
                                                         std::uint64_t generation);

}  // namespace sluice::control
