// The extensionManager block of the settings, and what its hooks are here: payload processors at four scopes (C-13).
//
// There is no call while a configuration is compiled, which stays a pure function: the server is asked about requests,
// and a hook that fails closed answers 500 for exactly what it applies to. Pure functions.
#pragma once

#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/processor_model.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// A use, and where it is attached: to every route, every hostname, every listener, or all that the process serves but
/// health and readiness.
struct ScopedUse {
  base::HookScope scope;
  ProcessorUse use;
};

base::ExtensionManager readExtensionManager(FieldReader reader);

/// One use of processor_type::kExtProc for each hook, the narrowest scope first. Their `config` is {service:
/// {fqdn: {hostname, port}, retry: {...}}, maxMessageSize}, with the keys of the settings and all defaults filled in.
std::vector<ScopedUse> usesOf(const base::ExtensionManager& manager);

}  // namespace sluice::config
