// The extensionManager block of the settings, or several by name. Their hooks become uses of payload processors in four
// scopes.
//
// No extension server is called while a configuration is compiled, because compilation is a pure function. The server
// is asked about requests instead, and a hook that fails closed answers 500 for exactly the requests that it applies
// to. All functions are pure.
#pragma once

#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/processor_model.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// A use and the scope it is attached to: every route, every hostname, every listener, or everything that the process
/// serves except health and readiness.
struct ScopedUse {
  base::HookScope scope;
  ProcessorUse use;
};

/// Reads extensionManager, or the extensionManagers, of the settings. Returns none if there is neither, or only an
/// empty block.
std::vector<base::ExtensionManager> readExtensionManagers(FieldReader& reader);

/// Returns one use of processor_type::kExtProc for each hook, the narrowest scope first, and within a scope in the
/// order of the managers. Their priority is the number of the scope, so that they run in this order too. Their `config`
/// is {service, maxMessageSize, context}: `service` is {name, fqdn: {hostname, port} or ip: {address, port}, tls:
/// {certificateRef, clientCertificateRef}, retry: {...}} with the keys of the settings and all defaults filled in,
/// maxMessageSize is in bytes, and `context` tells the server the hook and the manager's name.
std::vector<ScopedUse> usesOf(const std::vector<base::ExtensionManager>& managers);

}  // namespace sluice::config
