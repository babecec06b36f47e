// The end of the process: the first signal drains, the second one ends it at once. Lives on the main thread.
//
// Draining: HTTP/1.x answers carry Connection: close, HTTP/2 clients get GOAWAY, idle connections are closed, requests
// in flight finish. It is over when no client is left, or after settings.yaml drainTimeout.
#pragma once

#include <cstddef>
#include <functional>

#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

namespace sluice::server {

/// The part of the server that has clients.
class DrainedClients {
 public:
  virtual ~DrainedClients() = default;
  /// Lets requests in flight finish, and accepts no others.
  virtual void drain() = 0;
  /// Returns the number of clients that are connected.
  virtual std::size_t clients() const = 0;
};

class Shutdown final : private net::Timer {
 public:
  /// `finish` is called once, by the loop itself: it may destroy connections, and the timer that requests it may fire
  /// while one of them is handling an event. All references outlive the object.
  Shutdown(net::Worker& main, DrainedClients& clients, std::function<void()> finish);

  /// Called for a signal. The first call begins the drain, any further one finishes.
  void request(base::Duration drainTimeout);
  bool begun() const { return begun_; }

 private:
  void onTimer() override;
  void finish();

  net::Worker& main_;
  DrainedClients& clients_;
  std::function<void()> finish_;
  base::MonotonicTime deadline_{};
  bool begun_ = false;
};

}  // namespace sluice::server
