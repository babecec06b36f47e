// UseHealth records whether a use of a payload processor fails, so that its recovery is told once.
//
// All workers share one for each use, and it survives reloads. A step of a use that does not fail costs one load.
#pragma once

#include <atomic>
#include <limits>

#include "proxy/base/clock.h"

namespace sluice::processing {

class UseHealth {
 public:
  /// A use has recovered when one of its steps succeeds and none has failed for this long. A use that fails for some of
  /// its requests does not recover in between.
  static constexpr base::Duration kCalm = std::chrono::seconds(10);

  /// Any thread.
  void onFailure(base::MonotonicTime now) const {
    failedAt_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  /// Any thread: returns true if a step has failed, and takeRecovery() has not returned true since.
  bool fails() const { return failedAt_.load(std::memory_order_relaxed) != kNever; }
  /// Any thread: called when a step has succeeded. Returns true to one caller after the use has recovered.
  bool takeRecovery(base::MonotonicTime now) const {
    Ticks failedAt = failedAt_.load(std::memory_order_relaxed);
    if (failedAt == kNever || now.time_since_epoch().count() - failedAt < kCalm.count()) return false;
    return failedAt_.compare_exchange_strong(failedAt, kNever, std::memory_order_relaxed);
  }

 private:
  using Ticks = base::MonotonicTime::rep;
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::min();
  mutable std::atomic<Ticks> failedAt_{kNever};
};

}  // namespace sluice::processing
