// Warns, once a day and with every configuration, of certificates of listeners that expire within a month.
//
// It belongs to the main thread.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns "listener at *:443".
std::string bindName(const routing::Bind& bind);

class CertificateWatch final : private net::Timer {
 public:
  /// All of them outlive the watch.
  CertificateWatch(observe::EventRing& events, net::TimerWheel& timers, const base::Clock& clock)
      : events_(events), timers_(timers), clock_(clock) {}

  /// Checks the certificates of the served configuration now, and once a day from now on.
  void adopt(const routing::Snapshot& served);

 private:
  struct ServedCertificate {
    std::string gateway;  // as events name it
    std::string listener;
    base::WallTime end;
  };

  void onTimer() override { look(); }
  void look();

  observe::EventRing& events_;
  net::TimerWheel& timers_;
  const base::Clock& clock_;
  std::vector<ServedCertificate> served_;
};

}  // namespace sluice::control
