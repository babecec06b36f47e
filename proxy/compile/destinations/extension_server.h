// Compiles the server of an extensionManager, which the settings name by its hostname or address, into a BackendPlan.
//
// There is no object for it, so nothing of the configuration can refer to it, and no policy can target it. Pure
// functions.
#pragma once

#include <optional>

#include "config/model/model.h"
#include "proxy/compile/destinations/destination_catalog.h"
#include "proxy/compile/ground/references.h"
#include "proxy/content/value.h"

namespace sluice::compile {

/// Returns true if a processor's reference to its server does not refer to a Backend or Service.
bool namesExtensionServer(const content::Value& reference);
/// Compiles `service`, which usesOf() in extension_manager.h has made. Only the GatewayClass may use such servers. All
/// other objects have to refer to a Backend, which grants and policies apply to. Faults: InvalidConfig, and those of
/// the Secrets that tls names.
BackendResult extensionServer(const config::Model& model, const content::Value& service, const Holder& holder);
/// Returns ResolvedPair::outdated of the client certificates that all extensionManagers of the settings name, for the
/// conditions of `settings`, the GatewayClass.
std::optional<Fault> outdatedServerPairs(const config::Model& model, const Holder& settings);

}  // namespace sluice::compile
