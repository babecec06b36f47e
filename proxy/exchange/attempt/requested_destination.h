// The destination of an attempt at a Backend of type Dynamic, which the request names.
#pragma once

#include <optional>

#include "proxy/base/error.h"
#include "proxy/exchange/attempt/attempt.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

/// Finds the destination of the attempt, whose Backend was chosen, if the request names it: since the last call it may
/// name another one. Returns why it has none (403, 503).
std::optional<base::Error> findDestination(Transaction& transaction, Attempt& attempt);

}  // namespace sluice::exchange
