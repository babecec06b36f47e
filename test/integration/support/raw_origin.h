// An origin that answers with exactly the bytes that a test gives it, well-formed or not: plain TCP on loopback, a
// thread per connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

/// A value that a test changes while the threads of an origin read it.
template <class T>
class Changing {
 public:
  void set(T value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
  }
  T get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

class RawOrigin {
 public:
  /// Serves one connection, from its accept to its end, on a thread of its own. The socket closes when it returns.
  using Script = std::function<void(BlockingSocket&, RawOrigin&)>;

  /// Without a port, the kernel chooses one.
  explicit RawOrigin(Script script, std::uint16_t port = 0);
  /// Returns a script that answers every request head with the same bytes until the peer ends. It does not separate the
  /// bodies of requests from their heads.
  static Script answering(std::string response);
  /// Returns a script for an origin of HTTP/2 without TLS, which answers each request with these frames, given its
  /// stream.
  static Script answeringOverHttp2(std::function<std::string(std::uint32_t)> answer);
  ~RawOrigin();
  RawOrigin(const RawOrigin&) = delete;
  RawOrigin& operator=(const RawOrigin&) = delete;

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

  /// Reads a request head, records it and returns it; empty if the peer ended.
  std::string readHead(BlockingSocket& socket);
  /// Returns every request head so far, in order of arrival.
  std::vector<std::string> heads() const;
  /// Returns true once the origin is being destroyed: for scripts that would otherwise wait for ever.
  bool stopping() const { return stopping_; }
  void waitUntilItStops() const { stopping_.wait(false); }

 private:
  void accept();
  void joinEnded();

  Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  std::vector<int> open_;  // shut down at the end, so that no script waits any longer
  std::list<std::thread> conversations_;
  std::vector<std::thread::id> ended_;
  std::thread acceptor_;
};

}  // namespace sluice::test
