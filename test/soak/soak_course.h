// The time that the soak lasts, and whether it was ended early. Shared by all its threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sluice::soak {

using Clock = std::chrono::steady_clock;

class SoakCourse {
 public:
  explicit SoakCourse(std::chrono::seconds length) : length_(length) {}

  std::chrono::seconds length() const { return length_; }
  std::chrono::milliseconds elapsed() const;
  /// Returns the remaining time, which is never negative.
  std::chrono::milliseconds left() const;
  bool over() const { return left() == std::chrono::milliseconds(0); }
  /// Ends the soak now.
  void end();
  /// Waits, but not beyond the end; returns false if the soak is over.
  bool pause(std::chrono::milliseconds time);

 private:
  const std::chrono::seconds length_;
  const Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
};

}  // namespace sluice::soak
