// The plan by which a health check reaches a Backend: connections of its own, to the port and with the TLS that the
// check asks for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns the plan of a Backend's checks, or of those of an endpoint of a Service. Its identity is the same for checks
/// that ask the same destination the same question over the same TLS, whichever object the Backend is.
std::shared_ptr<const routing::BackendPlan> planOfChecks(const routing::BackendPlan& backend,
                                                         const std::optional<routing::Endpoint>& endpoint,
                                                         const routing::HealthCheckSettings& settings);

/// Returns the plan with another identity, which no plan with another number has. So it shares neither connections nor
/// probes with these.
std::shared_ptr<const routing::BackendPlan> planApart(const routing::BackendPlan& plan, std::uint64_t number);

}  // namespace sluice::control
