// Runs random orders of events against the data path: the invariants of RandomCourse must hold for any bytes.
#include <string_view>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/random_course.h"

int sluice::test::fuzzExchange(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 1500;
  sluice::test::RandomCourse course({reinterpret_cast<const char*>(data), std::min(size, kMostBytes)});
  const std::string violation = course.run();
  sluice::test::require(violation.empty(), violation.c_str());
  return 0;
}
