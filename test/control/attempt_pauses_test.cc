#include "proxy/control/attempt_pauses.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

TEST(AttemptPauses, BecomeLongerUpToABound) {
  EXPECT_EQ(pauseAfter(0), base::Duration::zero());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_LE(pauseAfter(i), pauseAfter(i + 1)) << i;
  EXPECT_EQ(pauseAfter(1000), std::chrono::seconds(5));
}

TEST(AttemptPauses, DifferByUpToAHalf) {
  base::Random random(3);
  bool shorter = false;
  bool longer = false;
  for (int i = 0; i < 100; ++i) {
    const base::Duration pause = spread(std::chrono::seconds(2), random);
    EXPECT_GE(pause, std::chrono::seconds(1));
    EXPECT_LT(pause, std::chrono::seconds(3));
    shorter = shorter || pause < std::chrono::seconds(2);
    longer = longer || pause > std::chrono::seconds(2);
  }
  EXPECT_TRUE(shorter && longer);
}

}  // namespace
}  // namespace sluice::control
