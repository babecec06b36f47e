// Finds listeners of one Gateway whose TLS hosts overlap (Gateway API OverlappingTLSConfig).
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

/// Returns the fault of `plan` if its hosts overlap those of other HTTPS listeners of its port. A client may use one
/// connection for hosts of several listeners and then gets 421. Listeners that are not accepted are ignored.
std::optional<Fault> tlsOverlap(const ListenerPlan& plan, const std::vector<ListenerPlan>& all);

/// Returns true if some name is one of the certificates of both.
bool certificatesOverlap(const ListenerPlan& a, const ListenerPlan& b);

}  // namespace sluice::compile
