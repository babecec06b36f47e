// Finds the parameters that a Gateway names (spec.infrastructure.parametersRef), in a GatewayParameters or a ConfigMap
// of its namespace (kParametersKey), and puts the settings that they have over those of the GatewayClass.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/model/model.h"

namespace sluice::config {

/// Returns the parameters that the Gateway names; nullptr if it names none, or if there are none that can be used.
const GatewayParameters* parametersOf(const Model& model, const Gateway& gateway);

/// Returns the settings of the model with those that the Gateway changes.
base::Settings settingsOf(const Model& model, const Gateway& gateway);

/// Changes the settings of the model, which are those of the GatewayClass, if one Gateway of that class is all that the
/// model has: then the process is its own.
void applyOwnSettings(Model& model);

/// The entries of a Secret with keys that were derived for one Gateway from those that the settings name.
inline constexpr std::string_view kSessionEntry = "session";
inline constexpr std::string_view kPreviousSessionEntry = "session-previous";
inline constexpr std::string_view kRevisionEntry = "revision";
/// Has the settings name the keys of that Secret in place of each key that they name.
void useDerivedKeys(const base::SecretName& secret, base::Settings& settings);

/// Returns the qualified names of Gateways whose own settings do not count, because a process that serves the model
/// serves other Gateways too, joined by ", ".
std::string gatewaysWithoutTheirSettings(const Model& model);

}  // namespace sluice::config
