#include "proxy/control/pace.h"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

using std::chrono::seconds;

constexpr base::MonotonicTime kPaceStart{std::chrono::hours(1)};

TEST(Pace, AllowsABurstAndThenOneInEachPeriod) {
  Pace pace(seconds(50), 3);
  base::MonotonicTime now = kPaceStart;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pace.next(now), now) << i;
    pace.take(now);
  }
  EXPECT_EQ(pace.next(now), now + seconds(50));
  now += seconds(50);
  pace.take(now);
  EXPECT_EQ(pace.next(now), now + seconds(50));
}

TEST(Pace, AllowsABurstAgainAfterARest) {
  Pace pace(seconds(50), 3);
  for (int i = 0; i < 3; ++i) pace.take(kPaceStart);
  base::MonotonicTime now = kPaceStart + seconds(100);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pace.next(now), now) << i;
    pace.take(now);
  }
  EXPECT_EQ(pace.next(now), now + seconds(50));
}

TEST(Pace, NeverAsksForMoreThanAPeriod) {
  Pace pace(seconds(50), 3);
  for (int i = 0; i < 100; ++i) pace.take(kPaceStart);
  EXPECT_EQ(pace.next(kPaceStart), kPaceStart + seconds(50));
}

}  // namespace
}  // namespace sluice::control
