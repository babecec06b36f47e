// The Secrets that a Gateway's Pods may read again because people have brought back an earlier revision.
//
// Pure functions.
#pragma once

#include <set>
#include <string>

#include "config/model/model.h"
#include "proxy/kubernetes/objects/named_objects.h"

namespace sluice::kubernetes {

/// Returns those of `earlier`, which the Pods of the Gateway could read once, that they may be given again. `reached`
/// has the namespaces that the Gateway uses now. A namespace whose ReferenceGrants of now let Gateways, routes,
/// Backends or processors of these use its Backends or Services is reached too; a Secret of any other one takes a
/// ReferenceGrant from such an object for Secrets of that name. So whoever has withdrawn all grants is not used any
/// more. If the Gateway's namespace is not trusted, each Secret of another one needs its grant of now besides
/// (secret_trust.h).
NamedObjects::Names restoredSecrets(const NamedObjects::Names& earlier, const NamedGateway& gateway,
                                    std::set<std::string> reached, const config::Model& model);

}  // namespace sluice::kubernetes
