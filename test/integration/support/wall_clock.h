// The wall clock of another process: what it reads as CLOCK_REALTIME is off by what a test says, at any moment.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/support/shared_seconds.h"

namespace sluice::test {

class WallClock {
 public:
  /// For GatewaySpec::startedBy.
  std::vector<std::string> startedBy() const { return seconds_.startedBy("SLUICE_TEST_CLOCK"); }
  /// From now on it is so far off; 0: it is right.
  void setOff(std::chrono::seconds by) { seconds_.set(by); }

 private:
  SharedSeconds seconds_;
};

}  // namespace sluice::test
