// Finds what the Gateways of a Model name as spec.infrastructure.parametersRef: a GatewayParameters, or a ConfigMap of
// the Gateway's namespace whose key parameters.yaml holds the fields of a GatewayParameters' spec.
//
// Parameters that cannot be used leave those in service that the same reference led to before, as keepLastGood() does
// for objects.
#pragma once

#include <string>
#include <string_view>

#include "config/model/model.h"
#include "config/problem.h"

namespace sluice::config {

inline constexpr std::string_view kParametersKey = "parameters.yaml";

/// Fills model.parameters; if one Gateway of our GatewayClass is all that the model has, also model.settings with its
/// own. The settings of the GatewayClass are known. `previous` is the model served until now, if any.
void resolveParameters(Model& model, const Model* previous, Problems& problems);

/// Returns the qualified names of Gateways whose own settings do not count, because a process that serves the model
/// serves other Gateways too, joined by ", ".
std::string gatewaysWithoutTheirSettings(const Model& model);

}  // namespace sluice::config
