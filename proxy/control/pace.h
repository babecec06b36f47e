// A Pace says when a repeated and costly task may be done again: some times at once after a rest, and then once in a
// period. So people who make a few changes see each of them at once, and a machine that makes thousands costs little.
//
// A value; any thread.
#pragma once

#include <algorithm>

#include "proxy/base/clock.h"

namespace sluice::control {

class Pace {
 public:
  /// After a rest of `burst` periods, `burst` tasks may be done at once.
  constexpr Pace(base::Duration period, int burst) : period_(period), ahead_(period * (burst - 1)) {}

  /// Returns the earliest time for the next task, which is not before `now`. It is at most one period after the time of
  /// the last take().
  base::MonotonicTime next(base::MonotonicTime now) const { return std::max(now, rested_ - ahead_); }
  /// Called when the task is done. Tasks that are done earlier than next() do not delay it beyond one period.
  void take(base::MonotonicTime now) { rested_ = std::min(std::max(rested_, now) + period_, now + ahead_ + period_); }

 private:
  base::Duration period_;
  base::Duration ahead_;
  base::MonotonicTime rested_{};  // when all tasks of a burst may be done at once again
};

}  // namespace sluice::control
