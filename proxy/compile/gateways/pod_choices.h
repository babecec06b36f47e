// Checks whether the GatewayClass lets a Gateway have Pods with the parameters that it chooses (settings.yaml,
// provisioning). A user who may write Gateways in a namespace is not necessarily allowed to choose what runs there with
// the rights of a gateway.
//
// This is a pure function.
#pragma once

#include <optional>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// Returns the fault (InvalidParameters) that names each field which the Gateway may not choose; nullopt if there is
/// none, or if no controller keeps the Pods of the model's Gateways.
std::optional<Fault> forbiddenChoice(const config::Model& model, const config::Gateway& gateway);

}  // namespace sluice::compile
