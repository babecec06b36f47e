// Readiness of a descriptor that other code reads and writes: listening sockets, c-ares' sockets. Internal to
// proxy/net.
//
// Owned by the owner of the descriptor, and destroyed before the descriptor is closed; also from within onReady(), or
// by a timer. One thread.
#pragma once

#include "proxy/net/worker.h"

namespace sluice::net {

class PollSink {
 public:
  virtual ~PollSink() = default;
  /// Called inside a Turn. Both are true after an error, which reading or writing then reports; watch() must then be
  /// called again.
  virtual void onReady(bool readable, bool writable) = 0;
};

class Poll {
 public:
  Poll(Worker& worker, int fd, PollSink& sink);
  ~Poll();
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  /// Stops polling if both are false.
  void watch(bool readable, bool writable);

 private:
  struct PollHandle;
  void close();

  Worker& worker_;
  PollSink& sink_;
  PollHandle* handle_ = nullptr;  // nullptr once closed; frees itself when libuv has let go of it
};

}  // namespace sluice::net
