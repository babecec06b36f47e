// The Secrets that a Gateway's Pods may read again because people have brought back an earlier revision.
//
// Pure functions.
#pragma once

#include <set>
#include <string>

#include "config/model/model.h"
#include "proxy/kubernetes/objects/named_objects.h"

namespace sluice::kubernetes {

/// Returns the Secrets of `earlier`, which the Pods of the Gateway could read before, that they may read again.
/// `reached` has the namespaces that the Gateway uses now. A namespace is reached, too, if its current ReferenceGrants
/// let Gateways, routes, Backends or processors of these namespaces use its Backends or Services. A Secret of any other
/// namespace needs a current ReferenceGrant from such an object for Secrets of that name. So a namespace that has
/// withdrawn all grants is not used any more. If the Gateway's namespace is not trusted, each Secret of another
/// namespace also needs a current grant for the Gateway (secret_trust.h).
NamedObjects::Names restoredSecrets(const NamedObjects::Names& earlier, const NamedGateway& gateway,
                                    std::set<std::string> reached, const config::Model& model);

}  // namespace sluice::kubernetes
