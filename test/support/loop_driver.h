// Runs a worker's loop on the test's own thread until an event has happened, instead of sleeping.
#pragma once

#include <uv.h>

#include <csignal>
#include <functional>

#include "proxy/net/worker.h"

namespace sluice::test {

/// Returns true as soon as `done` does, and false if half a minute was not enough. The worker stays as it is, so this
/// can be called as often as needed. SIGPIPE is ignored from then on, as in the program.
inline bool runUntil(net::Worker& worker, const std::function<bool()>& done) {
  std::signal(SIGPIPE, SIG_IGN);
  { const net::Worker::Turn first(worker); }
  struct Guard {
    uv_timer_t timer{};
    bool expired = false;
    bool closed = false;
  } guard;
  uv_timer_init(worker.loop(), &guard.timer);
  guard.timer.data = &guard;
  uv_timer_start(
      &guard.timer, [](uv_timer_t* timer) { static_cast<Guard*>(timer->data)->expired = true; }, 30'000, 0);
  while (!guard.expired && !done()) uv_run(worker.loop(), UV_RUN_ONCE);
  uv_close(reinterpret_cast<uv_handle_t*>(&guard.timer),
           [](uv_handle_t* handle) { static_cast<Guard*>(handle->data)->closed = true; });
  while (!guard.closed) uv_run(worker.loop(), UV_RUN_NOWAIT);
  return done();
}

}  // namespace sluice::test
