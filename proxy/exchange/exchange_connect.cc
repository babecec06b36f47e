// An exchange that is about to be connected to its Backend, and the steps that may deny it that, or narrow where to
// (E-97): once for each attempt, before any connection is taken or opened. What they leave is what is dialled: nobody
// looks the name up again (G-01).
#include <utility>

#include "proxy/exchange/exchange.h"
#include "proxy/exchange/exchanges.h"

namespace sluice::exchange {

using processing::Phase;
using processing::Run;

const net::Addresses* Exchange::processConnect() {
  if (const net::Addresses* decided = steps_->allowed()) return decided;
  if (pendingSteps_ != Pending::kConnect) {
    auto addresses = attempt_.cluster->resolve(token());
    if (!addresses.ok()) {
      raise(Event::kUnavailable, addresses.error());
      return nullptr;
    }
    if (addresses->empty()) return nullptr;
    steps_->beginConnect(*attempt_.backend->backend, *std::move(addresses));
    steps_->attempt->append(chains(), {Phase::kConnect});
    pendingSteps_ = Pending::kConnect;
  }
  const Run::Outcome outcome = moveAttempt();
  if (outcome == Run::Outcome::kWaits) await();
  if (outcome != Run::Outcome::kDone) return nullptr;
  pendingSteps_ = Pending::kNothing;
  return &steps_->endConnect();
}

void Exchange::connect() {
  if (pendingSteps_ == Pending::kConnect) acquire();
}

}  // namespace sluice::exchange
