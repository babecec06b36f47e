// The wall clock of another process: a test sets the offset of what it reads as CLOCK_REALTIME, at any moment.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/support/shared_seconds.h"

namespace sluice::test {

class WallClock {
 public:
  /// Returns the value for GatewaySpec::startedBy.
  std::vector<std::string> startedBy() const { return seconds_.startedBy("SLUICE_TEST_CLOCK"); }
  /// Sets the clock off by this much from now on; 0 is the right time.
  void setOff(std::chrono::seconds by) { seconds_.set(by); }

 private:
  SharedSeconds seconds_;
};

}  // namespace sluice::test
