#include "proxy/upstream/health/ping_schedule.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::upstream {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::MonotonicTime kStart{std::chrono::hours(1)};
constexpr base::Duration kSilence = seconds(10);

TEST(PingSchedule, PingsAfterASilenceThenAfterAMinuteThenEveryFive) {
  PingSchedule pings;
  pings.onWait(kStart);
  base::MonotonicTime last = kStart;
  for (const base::Duration pause : {base::Duration(seconds(10)), base::Duration(seconds(60)),
                                     base::Duration(minutes(5)), base::Duration(minutes(5))}) {
    EXPECT_EQ(pings.pingDue(kSilence), last + pause);
    last = pings.pingDue(kSilence);
    pings.onPing(last);
    pings.onAnswer();
  }
}

TEST(PingSchedule, BytesOfThePeerRestartTheSchedule) {
  PingSchedule pings;
  pings.onWait(kStart);
  pings.onPing(kStart + seconds(10));
  EXPECT_TRUE(pings.isUnanswered());
  EXPECT_EQ(pings.answerDue(), kStart + seconds(15));
  pings.onBytes(kStart + seconds(12));
  EXPECT_FALSE(pings.isUnanswered());
  EXPECT_EQ(pings.pingDue(kSilence), kStart + seconds(22));
}

TEST(PingSchedule, ARequestOnAnIdleConnectionDoesNotBringTheNextPingForward) {
  PingSchedule pings;
  pings.onWait(kStart);
  pings.onPing(kStart + seconds(10));
  pings.onAnswer();
  pings.onWait(kStart + seconds(20));
  EXPECT_EQ(pings.pingDue(kSilence), kStart + seconds(70));
  pings.onWait(kStart + seconds(65));
  EXPECT_EQ(pings.pingDue(kSilence), kStart + seconds(75));
}

}  // namespace
}  // namespace sluice::upstream
