// Finds the Secrets that objects name, as far as these are permitted to use them.
//
// Pure functions.
#pragma once

#include <functional>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/grants.h"

namespace sluice::compile {

/// Calls `visit` with each reference in the config of a payload processor: what `secretRef`, `configMapRef` and
/// `backendRefs` hold. The types' own schemas say what a config means; references are spelled alike in all of them.
void eachReference(const config::Value& config, const std::function<void(const config::ObjectRef&)>& visit);
/// Returns false for names that the API server gives no object. A config may have any text.
bool mayExist(const config::ObjectRef& ref);

/// Returns the Secrets that the use of a processor names. `holder` is the object that it is written in.
base::ObjectNames secretsNamedBy(const config::ProcessorUse& use, const config::Model& model, const Holder& holder);
/// Returns those that a Backend names: for TLS of this port, and for its extensions.
base::ObjectNames secretsNamedBy(const config::Backend& backend, const config::BackendPort& port,
                                 const config::Model& model);

}  // namespace sluice::compile
