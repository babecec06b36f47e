// The Secrets that a Gateway's Pods may read again because people have brought back an earlier revision.
//
// Pure functions.
#pragma once

#include <set>
#include <string>

#include "config/model/model.h"
#include "proxy/control/kubernetes/objects/named_objects.h"

namespace sluice::control {

/// Returns those of `earlier`, which the Pods could read once, that they may be given again. A Secret of another
/// namespace than those that the Gateway reaches now (`reached`) takes a ReferenceGrant of now that lets one of these
/// use the Secret, or Backends or Services of its namespace: whoever has withdrawn all grants is not used any more.
NamedObjects::Names restoredSecrets(const NamedObjects::Names& earlier, const std::set<std::string>& reached,
                                    const config::Model& model);

}  // namespace sluice::control
