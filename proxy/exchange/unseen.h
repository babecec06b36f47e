// Filters and steps that do not read the body see no trailers, and no step sees the 1xx heads before a response. So
// these must not carry fields past them. Fields that filters and steps have set or removed are removed from trailers
// too. A 1xx head passes the filters, but not steps that must see a response first.
#pragma once

#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

/// Guards the trailers of the request, as far as the route is known.
void guardRequestTrailers(Transaction& transaction, const routing::WeightedBackend* backend);
/// Guards those that only the Backend gets.
void guardRequestTrailers(const Transaction& transaction, const routing::WeightedBackend* backend,
                          http::Headers& trailers);
/// Guards the trailers of the Backend's response.
void guardResponseTrailers(const Transaction& transaction, const routing::WeightedBackend& backend,
                           const Processing& processing, http::Headers& trailers);
/// Returns true if the client may see the 1xx head, to which the filters have then been applied.
bool mayPass(const Transaction& transaction, const routing::WeightedBackend& backend, const Processing& processing,
             http::ResponseMessage& interim);

}  // namespace sluice::exchange
