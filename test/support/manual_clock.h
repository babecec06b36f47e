// A clock that moves only when a test moves it, or as much with each look at it as a test says.
#pragma once

#include "proxy/base/clock.h"

namespace sluice::test {

class ManualClock final : public base::Clock {
 public:
  base::MonotonicTime now() const override {
    if (tick_ != base::Duration::zero()) now_ += tick_;  // without a tick, threads may look at the same time
    return now_;
  }
  base::WallTime wallNow() const override { return wall_; }

  /// Moves both clocks forward.
  void advance(base::Duration by) {
    now_ += by;
    wall_ += by;
  }
  /// From here on the steady clock moves by that much whenever somebody looks at it, as it does while work is done.
  void tick(base::Duration by) { tick_ = by; }
  /// Sets the wall clock alone, as an administrator might.
  void setWall(base::WallTime wall) { wall_ = wall; }

 private:
  mutable base::MonotonicTime now_{std::chrono::hours(1)};
  base::Duration tick_{};
  base::WallTime wall_{std::chrono::seconds(1'700'000'000)};
};

}  // namespace sluice::test
