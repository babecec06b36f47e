// Listeners of one Gateway whose TLS could be taken for one another's (Gateway API OverlappingTLSConfig).
#pragma once

#include <optional>
#include <vector>

#include "proxy/control/compile/gateways/gateway_plan.h"

namespace sluice::control {

/// What `plan` is told because of the other HTTPS listeners of its port: a client may use one connection for the hosts
/// of several of them, and is sent away with 421. Nothing of listeners that are not accepted.
std::optional<Fault> tlsOverlap(const ListenerPlan& plan, const std::vector<ListenerPlan>& all);

}  // namespace sluice::control
