// The time that passes for a gateway: the time that passes by itself, and the time that a test adds by hand at the
// moment of its choice. So a timeout of minutes expires at once, and events that must come before it have minutes,
// however slow the machine is.
//
// A library that is loaded before the gateway's C library (support/preload) moves the clock; it shares a word of memory
// with the test.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/shared_seconds.h"

namespace sluice::test {

class PassedTime {
 public:
  /// Returns the value for GatewaySpec::startedBy.
  std::vector<std::string> startedBy() const { return seconds_.startedBy("SLUICE_TEST_PASSED"); }
  /// Moves that gateway's clock on; when this returns, every worker has read it.
  void pass(const GatewayProcess& gateway, std::chrono::seconds by);
  /// Moves the clock and wakes no thread: a waiting thread notices it at its next event.
  void moveOn(std::chrono::seconds by) { seconds_.set(seconds_.get() + by); }

 private:
  SharedSeconds seconds_;
};

/// Returns the timeouts of settings.yaml as a line: these members, and for all others values so long that they never
/// strike.
std::string onlyTimeouts(const std::string& members);

}  // namespace sluice::test
