// The worker offers these services to processors while they run: requests of their own, state for each worker, metrics,
// and a way back to its thread.
//
// The data path implements them, and tests do. They are used on the thread of the exchange.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/processing/callout.h"
#include "proxy/processing/worker_states.h"
#include "proxy/processing/worker_tasks.h"

namespace sluice::processing {

struct Place;

/// A line that a script writes into the log of the process.
struct ProcessorRecord {
  observe::LogLevel level;
  std::string_view type;  // "domain/Kind:version"
  std::string_view use;   // its name
  std::string_view text;
  const Place& place;
};

class Services {
 public:
  static constexpr base::Duration kLongestLeave = std::chrono::seconds(5);

  virtual ~Services() = default;
  /// Starts a request, and never returns null: a request that there is no room for has failed already. `place` is that
  /// of the step, and `request.timeout` is not zero.
  virtual std::unique_ptr<Callout> callout(const CalloutRequest& request, const Place& place) = 0;
  /// Takes over a request that no step awaits any more, and lets it go on by itself for at most kLongestLeave.
  virtual void leave(std::unique_ptr<Callout> callout) = 0;
  virtual WorkerStates& workerStates() = 0;
  /// Returns the worker's own shard.
  virtual observe::MetricShard& metrics() = 0;
  /// Returns the way by which other threads reach the worker. A Resumer is resumed by a task of it.
  virtual const std::shared_ptr<const WorkerTasks>& tasks() = 0;
  virtual void record(const ProcessorRecord& record) = 0;
  /// Adds to the counter of that name that the scripts of a type share. Returns false if the type has too many.
  virtual bool count(std::string_view type, std::string_view name, std::uint64_t count) = 0;
};

}  // namespace sluice::processing
