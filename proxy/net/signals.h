// Signals of the process as events of one worker: the main thread's.
#pragma once

#include <functional>
#include <memory>

#include "proxy/net/worker.h"

namespace sluice::net {

/// Ignores SIGPIPE and SIGXFSZ: a broken pipe, or a file that may not grow any more, is then an error of the write
/// that meets it.
void ignoreFailedWrites();

class SignalWatch {
 public:
  /// `raised` is called inside a Turn each time the process gets `signal`.
  SignalWatch(Worker& worker, int signal, std::function<void()> raised);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct UvSignal;
  UvSignal* signal_;  // freed by libuv's close callback
};

}  // namespace sluice::net
