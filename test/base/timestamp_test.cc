#include "proxy/base/timestamp.h"

#include <gtest/gtest.h>

#include "test/base/some_time.h"

namespace sluice::base {
namespace {

using namespace std::chrono_literals;

std::string text(WallTime time) {
  Timestamp timestamp;
  return std::string(timestamp.text(time));
}

TEST(Timestamp, IsRfc3339InUtcWithMilliseconds) {
  EXPECT_EQ(text(someTime()), "2026-01-31T23:59:58.000Z");
  EXPECT_EQ(text(someTime(7ms)), "2026-01-31T23:59:58.007Z");
  EXPECT_EQ(text(WallTime{}), "1970-01-01T00:00:00.000Z");
}

TEST(Timestamp, CutsAndDoesNotRound) { EXPECT_EQ(text(someTime(999999999ns)), "2026-01-31T23:59:58.999Z"); }

TEST(Timestamp, FollowsTheCalendar) {
  EXPECT_EQ(text(someTime(2s)), "2026-02-01T00:00:00.000Z");
  EXPECT_EQ(text(WallTime(951782400s)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(text(WallTime(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(Timestamp, IsRightFromSecondToSecondAndBack) {
  Timestamp timestamp;
  const auto next = [&timestamp](base::Duration more) { return timestamp.text(someTime(more)); };
  EXPECT_EQ(next(1ms), "2026-01-31T23:59:58.001Z");
  EXPECT_EQ(next(999ms), "2026-01-31T23:59:58.999Z");
  EXPECT_EQ(next(1s), "2026-01-31T23:59:59.000Z");
  EXPECT_EQ(next(0ms), "2026-01-31T23:59:58.000Z");
}

}  // namespace
}  // namespace sluice::base
