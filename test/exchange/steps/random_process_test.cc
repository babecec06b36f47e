// Runs hundreds of random scripts of payload processors, most of them others each day. Scripts that the fuzzer finds
// beyond them go to its corpus.
#include <gtest/gtest.h>

#include "test/exchange/random_bytes.h"
#include "test/support/process_course.h"
#include "test/support/seeds.h"

namespace sluice::exchange {
namespace {

TEST(RandomProcesses, EndWellWhateverStepsDo) {
  for (const std::uint32_t seed : test::seeds(250, 600)) {
    const std::string bytes = randomBytes(seed, 40, 400);
    test::ProcessCourse course(bytes);
    ASSERT_EQ(course.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::exchange
