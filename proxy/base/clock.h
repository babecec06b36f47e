// Time, injected: the steady clock for deadlines and durations, the wall clock only for times that people and
// certificates read.
#pragma once

#include <chrono>

namespace sluice::base {

using Duration = std::chrono::nanoseconds;
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Never goes back, even if the wall clock is set back.
  virtual MonotonicTime now() const = 0;
  virtual WallTime wallNow() const = 0;
};

class SystemClock final : public Clock {
 public:
  MonotonicTime now() const override { return std::chrono::steady_clock::now(); }
  WallTime wallNow() const override { return std::chrono::system_clock::now(); }
};

}  // namespace sluice::base
