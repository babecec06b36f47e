// Keeps the last good pair of a certificate and a private key in service while its Secret has none: tls.crt was
// replaced and tls.key was not yet, one of them cannot be parsed, or the schema refuses the Secret's newest version.
//
// These are pure functions. As with last_good.h, the next reload finds the pair in the Model. Only the pair is kept;
// everything else in the Secret is served in its newest version. Who may use the pair is decided anew by each
// compilation, as for any reference.
#pragma once

#include "config/model/model.h"
#include "proxy/base/clock.h"

namespace sluice::config {

/// Sets `model.lastPairs`. Each comes from the Secret in `previous`, which is the model served until now, or from its
/// `lastPairs`. A pair ends when its certificate has expired by `now`, when its Secret was deleted or made anew, or
/// when the Secret has neither tls.crt nor tls.key any more, because then its owner has withdrawn it.
void keepLastPairs(Model& model, const Model& previous, base::WallTime now);

/// Returns true if some of `model.lastPairs` has expired by `now`, so that it no longer may be served.
bool lastPairHasExpired(const Model& model, base::WallTime now);

}  // namespace sluice::config
