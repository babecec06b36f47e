// The way from any thread to the thread of one worker, for processors whose answers come on threads of their own.
//
// The worker and everybody who may still have an answer for it share the object. The worker closes it before it goes.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace sluice::processing {

class WorkerTasks {
 public:
  using Task = std::function<void()>;

  /// `post` runs a task on the worker's thread, soon and in order, and may be called by any thread until close().
  explicit WorkerTasks(std::function<void(Task)> post) : post_(std::move(post)) {}

  /// Runs the task on the worker's thread, while exchanges may be resumed. Any thread. Once the worker has closed this,
  /// the task is dropped.
  void post(Task task) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (post_) post_(std::move(task));
  }
  void close() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    post_ = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::function<void(Task)> post_;
};

}  // namespace sluice::processing
