// An origin that says exactly the bytes that a test gives it, well-formed or not: plain TCP on loopback, a thread per
// connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/socket.h"

namespace sluice::test {

class RawOrigin {
 public:
  /// What one connection does, from its accept to its end; runs on a thread of its own. The socket closes when it
  /// returns.
  using Script = std::function<void(Socket&, RawOrigin&)>;

  explicit RawOrigin(Script script);
  /// Answers every request head with the same bytes, until the peer ends. The bodies of requests are not read apart.
  static Script answering(std::string response);
  ~RawOrigin();
  RawOrigin(const RawOrigin&) = delete;
  RawOrigin& operator=(const RawOrigin&) = delete;

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

  /// Reads a request head, remembers it and returns it; empty if the peer ended.
  std::string readHead(Socket& socket);
  /// Every request head so far, in order of arrival.
  std::vector<std::string> heads() const;
  /// Ends when the origin does: for scripts that would wait for ever.
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
  std::vector<int> open_;  // shut down when the origin ends, so that no script waits
  std::list<std::thread> conversations_;
  std::vector<std::thread::id> ended_;
  std::thread acceptor_;
};

}  // namespace sluice::test
