// Reads the extensionManager block of the settings, or several blocks by name. Their hooks become uses of payload
// processors in four scopes.
//
// No extension server is called while a configuration is compiled, because compilation is a pure function. Instead, the
// server is called for requests. A hook that fails closed answers 500 only for the requests to which it applies. All
// functions are pure.
#pragma once

#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/processor_model.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// A use and the scope to which it is attached: every route, every hostname, every listener, or everything that the
/// process serves except health and readiness.
struct ScopedUse {
  base::HookScope scope;
  ProcessorUse use;
};

/// Reads extensionManager or extensionManagers of the settings. Returns an empty list if neither is present, or if the
/// block is empty.
std::vector<base::ExtensionManager> readExtensionManagers(FieldReader& reader);

/// Returns one use of processor_type::kExtProc for each hook. The narrowest scope comes first. Within a scope, the uses
/// have the order of the managers. Their priority is the number of the scope, so that they run in this order too.
///
/// Their `config` is {service, maxMessageSize, context}. `service` is {name, fqdn: {hostname, port} or ip: {address,
/// port}, tls: {certificateRef, clientCertificateRef}, retry: {...}}, with the keys of the settings and all defaults
/// filled in. maxMessageSize is in bytes. `context` sends the names of the hook and of the manager to the server.
std::vector<ScopedUse> usesOf(const std::vector<base::ExtensionManager>& managers);

}  // namespace sluice::config
