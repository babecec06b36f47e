#include "filters/library/suspensions.h"

#include <utility>

namespace sluice::filters::library {

const Suspensions& Suspensions::all() {
  static const Suspensions& table = *std::make_unique<const Suspensions>().release();
  return table;
}

std::uint64_t Suspensions::add(std::shared_ptr<const processing::WorkerTasks> tasks,
                               processing::Resumer resumer) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  steps_.try_emplace(++last_, HandledStep{std::move(tasks), std::move(resumer)});
  return last_;
}

bool Suspensions::complete(std::uint64_t handle) const {
  std::shared_ptr<const processing::WorkerTasks> tasks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = steps_.find(handle);
    if (found == steps_.end() || std::exchange(found->second.completed, true)) return false;
    tasks = found->second.tasks;
  }
  tasks->post([this, handle] { resume(handle); });
  return true;
}

void Suspensions::cancel(std::uint64_t handle) const { take(handle).release(); }

void Suspensions::resume(std::uint64_t handle) const { take(handle).resume(); }

processing::Resumer Suspensions::take(std::uint64_t handle) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = steps_.find(handle);
  if (found == steps_.end()) return {};
  processing::Resumer resumer = std::move(found->second.resumer);
  steps_.erase(found);
  return resumer;
}

}  // namespace sluice::filters::library
