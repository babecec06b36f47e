// The services of one worker for the processors that run on it. Exchanges owns them, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>

#include "proxy/net/timers.h"
#include "proxy/processing/services.h"

namespace sluice::exchange {

class ExchangeContext;

class WorkerServices final : public processing::Services {
 public:
  explicit WorkerServices(ExchangeContext& context);
  ~WorkerServices() override;
  WorkerServices(const WorkerServices&) = delete;
  WorkerServices& operator=(const WorkerServices&) = delete;

  std::unique_ptr<processing::Callout> callout(const processing::CalloutRequest& request,
                                               const processing::Place& place) override;
  void leave(std::unique_ptr<processing::Callout> callout) override;
  processing::WorkerStates& workerStates() override { return states_; }
  observe::MetricShard& metrics() override;
  const std::shared_ptr<const processing::WorkerTasks>& tasks() override { return tasks_; }
  void record(const processing::ProcessorRecord& record) override;
  bool count(std::string_view type, std::string_view name, std::uint64_t count) override;

  /// The worker's beat calls this: it ends the requests that were left and are over, or have taken too long.
  void reap();
  void shutdown();

 private:
  /// A request that no step awaits. If there are more than this, further ones are ended at once.
  static constexpr std::size_t kMostLeft = 1024;
  struct Left final : net::Timer {
    void onTimer() override { callout->cancel(); }
    std::unique_ptr<processing::Callout> callout;
  };

  ExchangeContext& context_;
  const std::shared_ptr<const processing::WorkerTasks> tasks_;
  processing::WorkerStates states_;
  std::list<Left> left_;
};

}  // namespace sluice::exchange
