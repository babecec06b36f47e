// Thousands of random orders of events, always the same ones; what the fuzzer finds beyond them goes to its corpus.
#include "test/support/random_course.h"

#include <gtest/gtest.h>

#include <random>

namespace sluice::exchange {
namespace {

std::string bytesOf(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(60 + random() % 500, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xff);
  return bytes;
}

TEST(RandomCourses, EndWellInWhateverOrderThingsHappen) {
  constexpr std::uint32_t kRuns = 5000;
  for (std::uint32_t seed = 1; seed <= kRuns; ++seed) {
    const std::string bytes = bytesOf(seed);
    test::RandomCourse course(bytes);
    ASSERT_EQ(course.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::exchange
