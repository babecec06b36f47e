// Explains what the gateway would do with a request: which listener, route and rule it meets, which others it does not
// and why, and what happens to it then. The decisions are those of the data plane's own functions; nothing is sent, and
// no step of a processor runs.
#pragma once

#include "config/model/model.h"
#include "proxy/base/result.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Explains the request by a snapshot and the model that it was compiled from, of which it takes the names of rules. A
/// pure function: names are not resolved. Errors are those of who asks, and say what is missing: no URL, a header
/// without a colon, no listener that fits, or several.
base::Result<Explanation> explain(const routing::Snapshot& snapshot, const config::Model& model,
                                  const RequestInQuestion& asked);

}  // namespace sluice::control
