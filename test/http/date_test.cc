#include "proxy/http/date.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

base::WallTime after(base::Duration sinceEpoch) { return base::WallTime(sinceEpoch); }

TEST(DateText, IsAnImfFixdate) {
  DateText date;
  EXPECT_EQ(date.at(after(seconds(784111777))), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.at(after(seconds(0))), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date.at(after(seconds(951782400))), "Tue, 29 Feb 2000 00:00:00 GMT");
}

TEST(DateText, ChangesWithTheSecondInBothDirections) {
  DateText date;
  EXPECT_EQ(date.at(after(milliseconds(999))), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date.at(after(milliseconds(1000))), "Thu, 01 Jan 1970 00:00:01 GMT");
  EXPECT_EQ(date.at(after(milliseconds(999))), "Thu, 01 Jan 1970 00:00:00 GMT");
}

}  // namespace
}  // namespace sluice::http
