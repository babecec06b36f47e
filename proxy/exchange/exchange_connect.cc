// An exchange that is about to be connected to its Backend, and the steps that may deny it that, or narrow where to
// (E-97): once for each attempt, before any connection is taken or opened. What they leave is what is dialled: nobody
// looks the name up again (G-01).
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"

namespace sluice::exchange {

using processing::Phase;

/// Nothing while it is not known where to; the pool tells when it is. Then acquire().
void Exchange::processConnect() {
  if (pendingSteps_ == Pending::kConnect) return;
  auto addresses = attempt_.request.resolve();
  if (!addresses.ok()) return raise(Event::kUnavailable, addresses.error());
  if (addresses->empty()) return;
  steps_->connect.begin(request_.arena, *attempt_.backend->backend, *std::move(addresses));
  steps_->attempt->append(chains(), Phase::kConnect);
  pendingSteps_ = Pending::kConnect;
  process();
}

}  // namespace sluice::exchange
