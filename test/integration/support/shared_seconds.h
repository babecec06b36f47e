// A number of seconds that a test shares with the program that it tests, whose clocks are moved by it. The environment
// variable by which the program finds the number decides which clock that is: see support/preload.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/process.h"

namespace sluice::test {

class SharedSeconds {
 public:
  SharedSeconds();
  ~SharedSeconds();
  SharedSeconds(const SharedSeconds&) = delete;
  SharedSeconds& operator=(const SharedSeconds&) = delete;

  /// A program that becomes another one, which then finds the number by that variable.
  std::vector<std::string> startedBy(const std::string& variable) const;
  void set(std::chrono::seconds to);
  std::chrono::seconds get() const;

 private:
  TempDir folder_;
  std::string path_;
  std::int64_t* seconds_ = nullptr;
};

}  // namespace sluice::test
