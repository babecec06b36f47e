// Describes a weighted backend of a rule: where its requests go, how, and whether the address guard lets them.
#pragma once

#include "proxy/base/result.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns its destination, as the request reaches it. Filters, steps and answers are left out.
ExplainedBackend explainedBackend(const http::RequestHead& request, const routing::WeightedBackend& backend,
                                  const routing::Snapshot& snapshot);

/// Adds what the name of a Backend was resolved to, with the verdict of the guard about each address.
void addResolved(ExplainedBackend& backend, const base::Result<net::Addresses>& resolved,
                 const routing::AddressGuard& guard);

}  // namespace sluice::control
