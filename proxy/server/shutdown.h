// The end of the process: the first signal drains, the second one ends it at once. Lives on the main thread.
//
// Draining: HTTP/1.x answers carry Connection: close, HTTP/2 clients get GOAWAY, idle connections are closed, requests
// in flight finish. It is over when no client is left, or after settings.yaml drainTimeout.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/server/worker_runtime.h"

namespace sluice::server {

class Shutdown final : private net::Timer {
 public:
  /// `finish` is called once, by the loop itself: it may destroy connections, and the timer that requests it may fire
  /// while one of them is handling an event. All references outlive the object.
  Shutdown(net::Worker& main, const std::vector<std::unique_ptr<WorkerRuntime>>& workers, std::function<void()> finish);

  /// Called for a signal. The first call begins the drain, any further one finishes.
  void request(base::Duration drainTimeout);
  bool begun() const { return begun_; }

 private:
  void onTimer() override;
  void finish();
  std::size_t clients() const;

  net::Worker& main_;
  const std::vector<std::unique_ptr<WorkerRuntime>>& workers_;
  std::function<void()> finish_;
  base::MonotonicTime deadline_{};
  bool begun_ = false;
};

}  // namespace sluice::server
