// A server that counts its visitors: it answers one request per connection, whatever it is, and closes the connection.
// It has one thread and serves one connection at a time, so that thousands of them cost little.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

class Canary {
 public:
  /// Listens on an address of this machine, IPv4 or IPv6; ok() is false if the port was not available.
  Canary(const std::string& address, std::uint16_t port);
  ~Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  bool ok() const { return listens_; }
  int connections() const { return connections_; }

 private:
  void serve();

  BlockingSocket listener_;
  bool listens_ = false;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace sluice::test
