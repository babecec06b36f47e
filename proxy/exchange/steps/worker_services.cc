#include "proxy/exchange/steps/worker_services.h"

#include <utility>

#include "proxy/exchange/steps/backend_callout.h"
#include "proxy/exchange/transaction/context.h"
#include "proxy/net/worker.h"

namespace sluice::exchange {

WorkerServices::WorkerServices(ExchangeContext& context)
    : context_(context),
      tasks_(std::make_shared<const processing::WorkerTasks>(
          [&worker = context.worker()](processing::WorkerTasks::Task task) { worker.post(std::move(task)); })) {}

WorkerServices::~WorkerServices() { tasks_->close(); }

observe::MetricShard& WorkerServices::metrics() { return context_.metrics(); }

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

void WorkerServices::record(const processing::ProcessorRecord& record) { context_.observer().onRecord(record); }

bool WorkerServices::count(std::string_view type, std::string_view name, std::uint64_t count) {
  return context_.observer().onCount(type, name, count);
}

void WorkerServices::reap() {
  left_.remove_if([](const Left& each) { return each.callout->over(); });
}

void WorkerServices::shutdown() {
  tasks_->close();
  left_.clear();
  states_.clear();
}

}  // namespace sluice::exchange
