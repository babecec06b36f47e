// A number of seconds that a test shares with the program under test, and that moves one of the program's clocks. The
// environment variable by which the program finds the number decides which clock that is: see support/preload.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {

class SharedSeconds {
 public:
  SharedSeconds();
  ~SharedSeconds();
  SharedSeconds(const SharedSeconds&) = delete;
  SharedSeconds& operator=(const SharedSeconds&) = delete;

  /// Returns a command that executes another program, which then finds the number by that variable.
  std::vector<std::string> startedBy(const std::string& variable) const;
  void set(std::chrono::seconds to);
  std::chrono::seconds get() const;

 private:
  TempDir folder_;
  std::string path_;
  std::int64_t* seconds_ = nullptr;
};

}  // namespace sluice::test
