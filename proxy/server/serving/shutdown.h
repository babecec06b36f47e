// The end of the process: the first signal drains, the second one ends it at once. Lives on the main thread.
//
// For drainDelay of settings.yaml, the process still accepts connections and requests, because clients and load
// balancers need time to learn that it ends; responses carry Connection: close, and HTTP/2 clients get GOAWAY. Then
// idle connections are closed, and requests in flight finish. The process ends when no client is left, or drainTimeout
// after the signal.
#pragma once

#include <cstddef>
#include <functional>

#include "proxy/base/clock.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

namespace sluice::server {

/// The part of the server that has clients.
class DrainedClients {
 public:
  virtual ~DrainedClients() = default;
  /// Accepts requests, and announces with each response that its connection ends.
  virtual void announceEnd() = 0;
  /// Lets requests in flight finish, and accepts no others.
  virtual void drain() = 0;
  /// Returns the number of clients that are connected.
  virtual std::size_t clients() const = 0;
};

struct DrainTimes {
  base::Duration delay;    // settings.yaml drainDelay
  base::Duration timeout;  // settings.yaml drainTimeout, which includes the delay and bounds it
};

class Shutdown final : private net::Timer {
 public:
  /// `finish` is called once, by the loop itself: it may destroy connections, and the timer that requests it may fire
  /// while one of them is handling an event. All references outlive the object.
  Shutdown(net::Worker& main, DrainedClients& clients, std::function<void()> finish);

  /// Called for a signal. The first call begins the drain, any further one finishes.
  void request(const DrainTimes& times);
  bool begun() const { return begun_; }

 private:
  void onTimer() override;
  void drain();
  void finish();

  net::Worker& main_;
  DrainedClients& clients_;
  std::function<void()> finish_;
  base::MonotonicTime drainAt_{};
  base::MonotonicTime deadline_{};
  bool begun_ = false;
  bool draining_ = false;
};

}  // namespace sluice::server
