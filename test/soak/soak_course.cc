#include "test/soak/soak_course.h"

#include <algorithm>

namespace sluice::soak {

std::chrono::milliseconds SoakCourse::elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
}

std::chrono::milliseconds SoakCourse::left() const {
  const std::lock_guard lock(mutex_);
  const std::chrono::milliseconds none(0);
  return ended_ ? none : std::max(none, std::chrono::milliseconds(length_) - elapsed());
}

void SoakCourse::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ending_.notify_all();
}

bool SoakCourse::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  ending_.wait_until(lock, std::min(Clock::now() + time, start_ + length_), [this] { return ended_; });
  return !ended_ && Clock::now() < start_ + length_;
}

}  // namespace sluice::soak
