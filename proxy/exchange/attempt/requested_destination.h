// The destination of an attempt at a Backend of type Dynamic, which the request names.
#pragma once

#include <optional>

#include "proxy/base/error.h"
#include "proxy/exchange/attempt/attempt.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

/// Finds the destination of the attempt, whose Backend was chosen, if the request names it and it was not found yet: no
/// step changes the authority of a request. Returns why it has none (403).
std::optional<base::Error> findDestination(Transaction& transaction, Attempt& attempt);
/// Called when an attempt whose destination the request names goes there now. Returns an error if
/// limits.dynamicClusters has no room for the destination (503).
std::optional<base::Error> takeDestination(Transaction& transaction, Attempt& attempt);

}  // namespace sluice::exchange
