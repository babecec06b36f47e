// Thousands of random scripts of payload processors, always the same ones; what the fuzzer finds beyond them goes to
// its corpus.
#include <gtest/gtest.h>

#include <random>

#include "test/support/process_course.h"

namespace sluice::exchange {
namespace {

std::string bytesOf(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(40 + random() % 400, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xff);
  return bytes;
}

TEST(RandomProcesses, EndWellWhateverStepsDo) {
  constexpr std::uint32_t kRuns = 3000;
  for (std::uint32_t seed = 1; seed <= kRuns; ++seed) {
    const std::string bytes = bytesOf(seed);
    test::ProcessCourse course(bytes);
    ASSERT_EQ(course.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::exchange
