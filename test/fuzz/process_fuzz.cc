// Runs random scripts of payload processors and events: the invariants of ProcessCourse must hold for any bytes.
#include <string_view>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/process_course.h"

int sluice::test::fuzzProcess(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 1000;
  sluice::test::ProcessCourse course({reinterpret_cast<const char*>(data), std::min(size, kMostBytes)});
  const std::string violation = course.run();
  sluice::test::require(violation.empty(), violation.c_str());
  return 0;
}
