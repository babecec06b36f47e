// Writes the statuses of BackendTLSPolicies: whether they count for the Services that they target, and whether their
// authorities are there.
//
// The ancestors of a policy are the Gateways whose routes lead to these Services, as Gateway API demands; its
// conditions for a Gateway are about the Services that this one leads to. A target that is no Service is an ancestor
// itself.
#pragma once

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

void backendTlsPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::control
