// Services for steps without callouts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/processing/services.h"

namespace sluice::test {

/// A callout that failed because it had no destination.
class FailedCallout : public processing::Callout {
 public:
  FailedCallout() = default;
  /// Counts itself for as long as it lives.
  explicit FailedCallout(int& alive) : alive_(&alive) { ++*alive_; }
  ~FailedCallout() override {
    if (alive_ != nullptr) --*alive_;
  }
  void send(std::string_view) override {}
  void end() override {}
  std::size_t unsent() const override { return 0; }
  void await(processing::Resumer resumer, Moment) override { resumer.resume(); }
  void wake() override {}
  void releasePlace() override {}
  void cancel() override {}
  const http::ResponseHead* head() const override { return nullptr; }
  const base::ByteQueue& received() const override { return nothing_; }
  void take(std::size_t) override {}
  bool over() const override { return true; }
  const http::Headers* trailers() const override { return nullptr; }
  const std::optional<base::Error>& error() const override { return error_; }

 private:
  int* alive_ = nullptr;
  base::ChunkPool pool_;
  base::ByteQueue nothing_{pool_};
  std::optional<base::Error> error_ = base::Error::internal("there is nobody to ask");
};

class NoServices final : public processing::Services {
 public:
  std::unique_ptr<processing::Callout> callout(const processing::CalloutRequest&, const processing::Place&) override {
    return std::make_unique<FailedCallout>(callouts);
  }
  void leave(std::unique_ptr<processing::Callout>) override {}
  processing::WorkerStates& workerStates() override { return states_; }
  observe::MetricShard& metrics() override { return shard_; }
  const std::shared_ptr<const processing::WorkerTasks>& tasks() override { return tasks_; }

  /// Runs what was posted since, as the worker does. The caller's thread is the worker's.
  void runTasks() {
    std::vector<processing::WorkerTasks::Task> due;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      due.swap(posted_);
    }
    for (const processing::WorkerTasks::Task& each : due) each();
  }

  observe::MetricsRegistry counted;
  void record(const processing::ProcessorRecord& record) override { lines.emplace_back(record.text); }
  bool count(std::string_view, std::string_view name, std::uint64_t count) override {
    counts[std::string(name)] += count;
    return counts.size() <= 16;
  }

  std::vector<std::string> lines;               // that scripts have written
  std::map<std::string, std::uint64_t> counts;  // of their metrics
  int callouts = 0;                             // that are alive

 private:
  observe::MetricShard shard_{counted};
  std::mutex mutex_;
  std::vector<processing::WorkerTasks::Task> posted_;
  const std::shared_ptr<const processing::WorkerTasks> tasks_ =
      std::make_shared<const processing::WorkerTasks>([this](processing::WorkerTasks::Task task) {
        const std::lock_guard<std::mutex> lock(mutex_);
        posted_.push_back(std::move(task));
      });
  processing::WorkerStates states_;
};

}  // namespace sluice::test
