// The wall clock of another process: what it reads as CLOCK_REALTIME is off by what a test says, at any moment.
//
// By a library that is loaded before its C library (support/preload) and that shares a word of memory with the test.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/process.h"

namespace sluice::test {

class WallClock {
 public:
  WallClock();
  ~WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;

  /// For GatewaySpec::startedBy.
  std::vector<std::string> startedBy() const;
  /// From now on it is so far off; 0: it is right.
  void setOff(std::chrono::seconds by);

 private:
  TempDir folder_;
  std::string path_;
  std::int64_t* seconds_ = nullptr;
};

}  // namespace sluice::test
