// Joins many events into one call, made when they have paused, so that a burst of changes is followed by one call
// after its end.
//
// Belongs to one worker's thread, and calls inside a Turn.
#pragma once

#include <functional>

#include "proxy/base/clock.h"
#include "proxy/net/timers.h"

namespace sluice::net {

class Debounce final : private Timer {
 public:
  struct Delays {
    base::Duration quiet;    // time without an event before the call
    base::Duration longest;  // time from the first event to the call, if they never pause
  };

  /// `wheel` outlives the debounce. `settled` may note events, and may not destroy it.
  Debounce(TimerWheel& wheel, const Delays& delays, std::function<void()> settled);

  void note(base::MonotonicTime now);
  bool pending() const { return isSet(); }

 private:
  void onTimer() override;

  TimerWheel& wheel_;
  const Delays delays_;
  const std::function<void()> settled_;
  base::MonotonicTime first_{};
};

}  // namespace sluice::net
