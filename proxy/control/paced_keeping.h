// Has the served configuration kept for the next process: after a rest at once, and while it changes all the time, once
// in kBetween.
//
// A process that is killed leaves a configuration that it served within the last minute; one that ends in order leaves
// the one that it served last. The first one, and one that is served in place of a refused one, are kept at once.
// Belongs to the main thread.
#pragma once

#include <string>

#include "proxy/base/clock.h"
#include "proxy/control/loader.h"
#include "proxy/control/pace.h"
#include "proxy/net/timers.h"

namespace sluice::control {

class PacedKeeping final : private net::Timer {
 public:
  static constexpr base::Duration kBetween = std::chrono::seconds(50);
  static constexpr int kAtOnceAfterRest = 4;

  /// References outlive it. `served` is the configuration that is served at any time.
  PacedKeeping(Loader& loader, net::TimerWheel& timers, const base::Clock& clock, const Loaded& served)
      : loader_(loader), timers_(timers), clock_(clock), served_(served) {}

  /// Called when another configuration is served.
  void changed();
  /// Has the served configuration kept at once, unless that was done.
  void finish();

 private:
  void onTimer() override { keepNow(); }
  void keepNow();

  Loader& loader_;
  net::TimerWheel& timers_;
  const base::Clock& clock_;
  const Loaded& served_;
  Pace pace_{kBetween, kAtOnceAfterRest};
  std::string kept_;  // the content that was kept last
};

}  // namespace sluice::control
