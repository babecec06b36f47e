// Finds the Secrets that objects name and are permitted to use.
//
// These are pure functions.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/grants.h"

namespace sluice::compile {

/// Returns false for names that no object in the API server can have. A config may contain any text.
bool mayExist(const config::ObjectRef& ref);

/// Returns the Secrets among the objects of the references that `holder` has.
base::ObjectNames secretsNamedBy(const std::vector<config::ObjectRef>& refs, const config::Model& model,
                                 const Holder& holder);
/// Returns the Secrets that the use of a processor names. `holder` is the object in which the use is written.
base::ObjectNames secretsNamedBy(const config::ProcessorUse& use, const config::Model& model, const Holder& holder);
/// Returns the Secrets that a Backend names for TLS of this port and for its extensions.
base::ObjectNames secretsNamedBy(const config::Backend& backend, const config::BackendPort& port,
                                 const config::Model& model);

}  // namespace sluice::compile
