// Runs more than a thousand random orders of events, most of them others each day. Orders that the fuzzer finds beyond
// them go to its corpus.
#include "test/support/random_course.h"

#include <gtest/gtest.h>

#include "test/exchange/random_bytes.h"
#include "test/support/seeds.h"

namespace sluice::exchange {
namespace {

TEST(RandomCourses, EndWellInAnyOrderOfEvents) {
  for (const std::uint32_t seed : test::seeds(400, 1000)) {
    const std::string bytes = randomBytes(seed, 60, 500);
    test::RandomCourse course(bytes);
    ASSERT_EQ(course.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::exchange
