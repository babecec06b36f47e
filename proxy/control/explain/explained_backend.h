// Describes a weighted backend of a rule: the destination of its requests, how they get there, and whether the address
// guard allows it.
#pragma once

#include <memory>

#include "proxy/base/result.h"
#include "proxy/control/explain/explained_egress.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns its destination, as the request reaches it. Filters, steps and answers are left out.
ExplainedBackend explainedBackend(const http::RequestHead& request, const routing::WeightedBackend& backend,
                                  const routing::Snapshot& snapshot);

/// Has its policies judge it, and the addresses that it has.
void judgeBackend(std::shared_ptr<const QuestionedDial> dial, ExplainedBackend& backend);

/// Adds the addresses of a Backend's name, with the verdicts of the guard and of the policies about each. Then
/// settleEgress() settles the whole explanation.
void addResolved(ExplainedBackend& backend, const base::Result<net::Addresses>& resolved,
                 const routing::AddressGuard& guard);

}  // namespace sluice::control
