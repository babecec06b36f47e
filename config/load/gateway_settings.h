// Finds the parameters that a Gateway names (spec.infrastructure.parametersRef). They are a GatewayParameters object or
// a ConfigMap of its namespace (kParametersKey). Their settings override those of the GatewayClass.
//
// These are pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/model/model.h"

namespace sluice::config {

/// Returns the parameters that the Gateway names; nullptr if it names none, or if they do not exist or cannot be used.
const GatewayParameters* parametersOf(const Model& model, const Gateway& gateway);

/// Returns the settings of the model, overridden by those of the Gateway.
base::Settings settingsOf(const Model& model, const Gateway& gateway);

/// Applies the settings of the Gateway to the model's settings, which are those of the GatewayClass, if the model has
/// exactly one Gateway of that class. Then the process belongs to that Gateway.
void applyOwnSettings(Model& model);

/// The keys of the Secret's entries. The entries were derived for one Gateway from the keys that the settings name.
inline constexpr std::string_view kSessionEntry = "session";
inline constexpr std::string_view kPreviousSessionEntry = "session-previous";
inline constexpr std::string_view kRevisionEntry = "revision";
/// Replaces each key that the settings name by the key in that Secret.
void useDerivedKeys(const base::SecretName& secret, base::Settings& settings);

/// Returns the qualified names, joined by ", ", of Gateways whose own settings are ignored, because the process serves
/// other Gateways too.
std::string gatewaysWithoutTheirSettings(const Model& model);

}  // namespace sluice::config
