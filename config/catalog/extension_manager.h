// The extensionManager block of the settings. Its hooks become uses of payload processors in four scopes.
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

base::ExtensionManager readExtensionManager(FieldReader reader);

/// Returns one use of processor_type::kExtProc for each hook, the narrowest scope first. Their `config` is {service:
/// {fqdn: {hostname, port}, retry: {...}}, maxMessageSize}, with the keys of the settings and all defaults filled in.
std::vector<ScopedUse> usesOf(const base::ExtensionManager& manager);

}  // namespace sluice::config
