// Runs thousands of random scripts of payload processors, always the same ones. Scripts that the fuzzer finds beyond
// them go to its corpus.
#include <gtest/gtest.h>

#include "test/exchange/random_bytes.h"
#include "test/support/process_course.h"

namespace sluice::exchange {
namespace {

TEST(RandomProcesses, EndWellWhateverStepsDo) {
  constexpr std::uint32_t kRuns = 3000;
  for (std::uint32_t seed = 1; seed <= kRuns; ++seed) {
    const std::string bytes = randomBytes(seed, 40, 400);
    test::ProcessCourse course(bytes);
    ASSERT_EQ(course.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::exchange
