// The time that passes for a gateway: what passes by itself, and what a test adds by hand, at the moment of its choice.
// So a timeout of minutes strikes at once, and what must happen before it strikes has minutes, however slow the
// machine.
//
// By a library that is loaded before its C library (support/preload) and that shares a word of memory with the test.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/support/gateway.h"
#include "test/integration/support/shared_seconds.h"

namespace sluice::test {

class PassedTime {
 public:
  /// For GatewaySpec::startedBy.
  std::vector<std::string> startedBy() const { return seconds_.startedBy("SLUICE_TEST_PASSED"); }
  /// So much later for that gateway; when this returns, every worker knows.
  void pass(const Gateway& gateway, std::chrono::seconds by);
  /// Moves the clock and wakes nobody: a thread that waits notices it with its next event.
  void moveOn(std::chrono::seconds by) { seconds_.set(seconds_.get() + by); }

 private:
  SharedSeconds seconds_;
};

/// The timeouts of settings.yaml as a line: these members, and so long that they never strike for all others.
std::string onlyTimeouts(const std::string& members);

}  // namespace sluice::test
