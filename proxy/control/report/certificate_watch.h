// Tells people, once a day and with every configuration, which certificates of listeners will have expired in a month.
//
// It belongs to the main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"

namespace sluice::control {

/// Returns "listener at *:443".
std::string bindName(const routing::Bind& bind);

class CertificateWatch final : private net::Timer {
 public:
  using Served = std::function<const CompiledConfiguration*()>;
  /// `served` returns the configuration that is served, or nullptr. All of them outlive the watch.
  CertificateWatch(Served served, observe::EventRing& events, net::TimerWheel& timers, const base::Clock& clock)
      : served_(std::move(served)), events_(events), timers_(timers), clock_(clock) {}

  /// Looks now, and once a day from now on.
  void look();

 private:
  void onTimer() override { look(); }

  const Served served_;
  observe::EventRing& events_;
  net::TimerWheel& timers_;
  const base::Clock& clock_;
};

}  // namespace sluice::control
