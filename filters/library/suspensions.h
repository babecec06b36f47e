// The steps of libraries that wait, by the handles with which any thread may have them called again.
//
// There is one table for the life of the process, and it is never destroyed, because threads of libraries may use it
// until the process ends. All functions may be called by any thread, unless they say otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "proxy/processing/resumer.h"
#include "proxy/processing/worker_tasks.h"

namespace sluice::filters::library {

class Suspensions {
 public:
  static const Suspensions& all();

  /// Keeps the right to resume a step. Called on the thread of the step, whose worker has `tasks`. Returns a handle
  /// that was never used before.
  std::uint64_t add(std::shared_ptr<const processing::WorkerTasks> tasks, processing::Resumer resumer) const;
  /// Has the step resumed on its own thread. Returns false if nobody waits for that handle, or it was completed before.
  bool complete(std::uint64_t handle) const;
  /// Forgets the handle, whose step waits no more. Called on the thread of the step.
  void cancel(std::uint64_t handle) const;

 private:
  struct HandledStep {
    std::shared_ptr<const processing::WorkerTasks> tasks;
    processing::Resumer resumer;
    bool completed = false;
  };

  void resume(std::uint64_t handle) const;
  /// Returns the right to resume the step, which does nothing if there is no such handle.
  processing::Resumer take(std::uint64_t handle) const;

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, HandledStep> steps_;
  mutable std::uint64_t last_ = 0;
};

}  // namespace sluice::filters::library
