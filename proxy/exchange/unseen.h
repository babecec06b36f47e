// What filters and steps are not shown of a message, and must not be walked around by: trailers, and the 1xx heads that
// come before a response. What filters and steps have set or removed goes from trailers too; a 1xx head passes the
// filters, but not steps that must see a response first.
#pragma once

#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction.h"

namespace sluice::exchange {

/// Guards the trailers of the request, as far as the route is known.
void guardRequestTrailers(Transaction& transaction, const routing::WeightedBackend* backend);
/// Guards those of the Backend's response.
void guardResponseTrailers(const Transaction& transaction, const routing::WeightedBackend& backend,
                           const Processing& processing, http::Headers& trailers);
/// Returns true if the client may see the 1xx head, which then is as the filters have left it.
bool mayPass(const Transaction& transaction, const routing::WeightedBackend& backend, const Processing& processing,
             http::ResponseMessage& interim);

}  // namespace sluice::exchange
