// The services of one worker for the processors that run on it. Exchanges owns them, on one thread.
#pragma once

#include <memory>

#include "proxy/processing/services.h"

namespace sluice::exchange {

class ExchangeContext;

class WorkerServices final : public processing::Services {
 public:
  explicit WorkerServices(ExchangeContext& context) : context_(context) {}

  std::unique_ptr<processing::Callout> callout(const processing::CalloutRequest& request,
                                               const processing::Place& place) override;
  processing::WorkerStates& workerStates() override { return states_; }

 private:
  ExchangeContext& context_;
  processing::WorkerStates states_;
};

}  // namespace sluice::exchange
