// An HTTP/1.1 origin that holds each request until the test has it answered.
#pragma once

#include <atomic>
#include <cstdint>
#include <semaphore>

#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {

class HeldOrigin {
 public:
  HeldOrigin() = default;
  ~HeldOrigin() {
    over_ = true;
    answer();
  }
  HeldOrigin(const HeldOrigin&) = delete;
  HeldOrigin& operator=(const HeldOrigin&) = delete;

  std::uint16_t port() const { return origin_.port(); }
  int connections() const { return origin_.connections(); }
  /// Waits until `times` requests came in all; returns false if they do not come.
  bool wasAsked(std::size_t times = 1) const {
    return eventually([&] { return origin_.heads().size() >= times; });
  }
  /// Answers one request that waits, or the next one to come.
  void answer() { answers_.release(); }

 private:
  std::atomic<bool> over_ = false;
  std::counting_semaphore<> answers_{0};
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) {
      if (!answers_.try_acquire_for(kPatience) || over_) return answers_.release();
      socket.send(kOk);
    }
  }};
};

}  // namespace sluice::test
