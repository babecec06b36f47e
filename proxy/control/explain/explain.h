// Explains how the gateway would handle a request: the listener, route and rule that get it, why others do not, and how
// it is served. The decisions are those of the data plane's own functions; nothing is sent, and no step of a processor
// runs.
#pragma once

#include "config/model/model.h"
#include "proxy/base/result.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Explains the request by a snapshot and the model that it was compiled from, of which it takes the names of rules. A
/// pure function: names are not resolved. Errors are those of the question: no URL, a header without a colon, no
/// listener that fits, or several.
base::Result<Explanation> explain(const routing::Snapshot& snapshot, const config::Model& model,
                                  const RequestInQuestion& asked);

}  // namespace sluice::control
