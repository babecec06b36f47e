// Says whether the GatewayClass lets a Gateway have Pods, and have them as it asks for (settings.yaml, provisioning).
// Whoever may write Gateways in a namespace need not be allowed to choose what runs there with the rights of a gateway.
//
// A pure function.
#pragma once

#include <optional>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// Returns the fault (InvalidParameters), which names each field that is not the Gateway's to choose; nullopt if there
/// is none, or if no controller keeps the Pods of the model's Gateways.
std::optional<Fault> forbiddenChoice(const config::Model& model, const config::Gateway& gateway);

}  // namespace sluice::compile
