// A clock that moves only when a test moves it.
#pragma once

#include "proxy/base/clock.h"

namespace sluice::test {

class ManualClock final : public base::Clock {
 public:
  base::MonotonicTime now() const override { return now_; }
  base::WallTime wallNow() const override { return wall_; }

  /// Moves both clocks forward.
  void advance(base::Duration by) {
    now_ += by;
    wall_ += by;
  }
  /// Sets the wall clock alone, as an administrator might.
  void setWall(base::WallTime wall) { wall_ = wall; }

 private:
  base::MonotonicTime now_{std::chrono::hours(1)};
  base::WallTime wall_{std::chrono::seconds(1'700'000'000)};
};

}  // namespace sluice::test
