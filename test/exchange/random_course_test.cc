// Runs thousands of random orders of events, always the same ones. Orders that the fuzzer finds beyond them go to its
// corpus.
#include "test/support/random_course.h"

#include <gtest/gtest.h>

#include "test/exchange/random_bytes.h"

namespace sluice::exchange {
namespace {

TEST(RandomCourses, EndWellInAnyOrderOfEvents) {
  constexpr std::uint32_t kRuns = 5000;
  for (std::uint32_t seed = 1; seed <= kRuns; ++seed) {
    const std::string bytes = randomBytes(seed, 60, 500);
    test::RandomCourse course(bytes);
    ASSERT_EQ(course.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::exchange
