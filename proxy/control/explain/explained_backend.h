// Describes a weighted backend of a rule: the destination of its requests, how they get there, and whether the address
// guard allows it.
#pragma once

#include "proxy/base/result.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns its destination, as the request reaches it. Filters, steps and answers are left out.
ExplainedBackend explainedBackend(const http::RequestHead& request, const routing::WeightedBackend& backend,
                                  const routing::Snapshot& snapshot);

/// Adds the addresses of a Backend's name, with the verdict of the guard about each.
void addResolved(ExplainedBackend& backend, const base::Result<net::Addresses>& resolved,
                 const routing::AddressGuard& guard);

}  // namespace sluice::control
