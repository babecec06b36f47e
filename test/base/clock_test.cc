#include "proxy/base/clock.h"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  MonotonicTime last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const MonotonicTime now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, ReturnsTheTimeOfDay) {
  const auto year2020 = WallTime(std::chrono::sys_days(std::chrono::year(2020) / 1 / 1));
  EXPECT_GT(SystemClock().wallNow(), year2020);
}

}  // namespace
}  // namespace sluice::base
