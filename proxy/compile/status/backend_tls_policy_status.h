// Writes the statuses of BackendTLSPolicies. They report whether a policy takes effect for the Services and Backends
// that it targets, and whether its authorities exist.
//
// The ancestors of a policy are the Gateways whose routes lead to its targets, as Gateway API demands. The conditions
// for a Gateway cover the targets to which that Gateway leads. A target of any other kind is an ancestor itself.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

void backendTlsPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
