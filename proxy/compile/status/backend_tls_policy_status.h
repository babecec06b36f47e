// Writes the statuses of BackendTLSPolicies: whether they count for the Services and Backends that they target, and
// whether their authorities are there.
//
// The ancestors of a policy are the Gateways whose routes lead to these objects, as Gateway API demands; its conditions
// for a Gateway are about the objects that this one leads to. A target of any other kind is an ancestor itself.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void backendTlsPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
