#include "proxy/exchange/steps/worker_services.h"

#include <utility>

#include "proxy/exchange/steps/backend_callout.h"
#include "proxy/exchange/transaction/context.h"
#include "proxy/net/worker.h"

namespace sluice::exchange {

std::unique_ptr<processing::Callout> WorkerServices::callout(const processing::CalloutRequest& request,
                                                             const processing::Place& place) {
  return std::make_unique<BackendCallout>(context_, request, place);
}

void WorkerServices::leave(std::unique_ptr<processing::Callout> callout) {
  if (left_.size() >= kMostLeft) return;
  Left& entry = left_.emplace_back();
  entry.callout = std::move(callout);
  net::Worker& worker = context_.worker();
  worker.timers().set(entry, worker.clock().now() + kLongestLeave);
}

void WorkerServices::reap() {
  left_.remove_if([](const Left& each) { return each.callout->over(); });
}

void WorkerServices::shutdown() {
  left_.clear();
  states_.clear();
}

}  // namespace sluice::exchange
