// The keys that Pods get in place of those of their GatewayClass (sessionPersistence, revisions.keyRef), if the class
// does not trust their namespace: a reader of the Pods' Secrets must not learn the keys of other Gateways.
//
// The controller derives each from the class's key and the uid of the Gateway, and keeps them in a Secret of the
// Gateway's namespace. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "config/model/model.h"
#include "proxy/kubernetes/provision/gateway_to_run.h"

namespace sluice::kubernetes {

/// Returns the name of the Secret.
std::string nameOfClassKeys(const config::Gateway& gateway);
/// Returns the Secret, with the entries that config/load/gateway_settings.h names; nullopt if the settings of the model
/// name no key. A key that does not exist, or is shorter than 32 bytes, is left out.
std::optional<ProvisionedObject> classKeysOf(const GatewayToRun& run, const config::Model& model);

}  // namespace sluice::kubernetes
