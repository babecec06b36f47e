#include "proxy/net/files/debounce.h"

#include <gtest/gtest.h>

namespace sluice::net {
namespace {

using namespace std::chrono_literals;

class DebounceTest : public ::testing::Test {
 protected:
  void pass(base::Duration time) { wheel_.advance(now_ += time); }
  void note() { debounce_.note(now_); }

  base::MonotonicTime now_{};
  TimerWheel wheel_{now_};
  int calls_ = 0;
  Debounce debounce_{wheel_, {.quiet = 200ms, .longest = 2s}, [this] { ++calls_; }};
};

TEST_F(DebounceTest, CallsOnceTheEventsHavePaused) {
  note();
  pass(199ms);
  EXPECT_EQ(calls_, 0);
  EXPECT_TRUE(debounce_.pending());
  pass(TimerWheel::kTick);
  EXPECT_EQ(calls_, 1);
  EXPECT_FALSE(debounce_.pending());
  pass(10s);
  EXPECT_EQ(calls_, 1);
}

TEST_F(DebounceTest, RestartsThePauseWithEveryEvent) {
  for (int i = 0; i < 5; ++i) {
    note();
    pass(190ms);
  }
  EXPECT_EQ(calls_, 0);
  pass(10ms + TimerWheel::kTick);
  EXPECT_EQ(calls_, 1);
}

TEST_F(DebounceTest, CallsInTheEndIfTheEventsNeverPause) {
  for (int i = 0; i < 19; ++i) {
    note();
    pass(100ms);
  }
  EXPECT_EQ(calls_, 0);
  note();
  pass(100ms + TimerWheel::kTick);
  EXPECT_EQ(calls_, 1);
  // The next burst gets its whole time again.
  for (int i = 0; i < 19; ++i) {
    note();
    pass(100ms);
  }
  EXPECT_EQ(calls_, 1);
}

}  // namespace
}  // namespace sluice::net
