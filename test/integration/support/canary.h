// A port that says who came: it answers one request per connection and closes it, whatever was asked. One thread, one
// connection at a time, so that thousands of them cost little.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "test/integration/support/socket.h"

namespace sluice::test {

class Canary {
 public:
  /// On an address of this machine, IPv4 or IPv6; ok() says whether it could have the port.
  Canary(const std::string& address, std::uint16_t port);
  ~Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  bool ok() const { return listens_; }
  int connections() const { return connections_; }

 private:
  void serve();

  Socket listener_;
  bool listens_ = false;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace sluice::test
