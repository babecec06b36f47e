#include "proxy/net/timers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;

class Recorded final : public Timer {
 public:
  explicit Recorded(std::function<void()> fired = [] {}) : fired_(std::move(fired)) {}
  int count() const { return count_; }

 private:
  void onTimer() override {
    ++count_;
    fired_();
  }
  std::function<void()> fired_;
  int count_ = 0;
};

class TimerWheelTest : public ::testing::Test {
 protected:
  void set(Timer& timer, base::Duration in) { wheel_.set(timer, clock_.now() + in); }
  void pass(base::Duration time) {
    clock_.advance(time);
    wheel_.advance(clock_.now());
  }

  test::ManualClock clock_;
  TimerWheel wheel_{clock_.now()};
};

TEST_F(TimerWheelTest, FiresNotBeforeItsDeadlineAndAtMostOneTickLater) {
  for (const base::Duration in :
       std::vector<base::Duration>{1ns, 15ms, 16ms, 17ms, 1s, 1024ms, 65536ms, 5min, 70min, 3h, 80h}) {
    Recorded timer;
    set(timer, in);
    pass(in - 1ns);
    EXPECT_EQ(timer.count(), 0) << in.count();
    EXPECT_TRUE(timer.isSet());
    pass(TimerWheel::kTick + 1ns);
    EXPECT_EQ(timer.count(), 1) << in.count();
    EXPECT_FALSE(timer.isSet());
    pass(3ms);
  }
}

TEST_F(TimerWheelTest, ADeadlineInThePastFiresWithTheNextAdvance) {
  Recorded timer;
  pass(1s);
  set(timer, -1s);
  EXPECT_EQ(timer.count(), 0);
  EXPECT_LE(wheel_.nextDue(), clock_.now());
  wheel_.advance(clock_.now());
  EXPECT_EQ(timer.count(), 1);
}

TEST_F(TimerWheelTest, ADeadlineBeforeTheWheelBeganFires) {
  Recorded timer;
  wheel_.set(timer, base::MonotonicTime{});
  wheel_.advance(clock_.now());
  EXPECT_EQ(timer.count(), 1);
}

TEST_F(TimerWheelTest, TheLatestPossibleDeadlineIsHarmless) {
  Recorded timer;
  wheel_.set(timer, base::MonotonicTime::max());
  pass(1000h);
  EXPECT_EQ(timer.count(), 0);
  EXPECT_TRUE(timer.isSet());
}

TEST_F(TimerWheelTest, ATimerThatIsMovedFurtherAwayFiresOnlyThen) {
  Recorded timer;
  set(timer, 100ms);
  for (int i = 0; i < 50; ++i) {
    pass(90ms);
    set(timer, 100ms);
  }
  EXPECT_EQ(timer.count(), 0);
  pass(116ms);
  EXPECT_EQ(timer.count(), 1);
}

TEST_F(TimerWheelTest, ATimerThatIsMovedCloserFiresEarlier) {
  Recorded timer;
  set(timer, 60s);
  set(timer, 1s);
  pass(1016ms);
  EXPECT_EQ(timer.count(), 1);
  pass(60s);
  EXPECT_EQ(timer.count(), 1);
}

TEST_F(TimerWheelTest, ACancelledTimerDoesNotFireAndLeavesTheWheelEmpty) {
  Recorded timer;
  EXPECT_TRUE(wheel_.empty());
  set(timer, 20ms);
  EXPECT_FALSE(wheel_.empty());
  timer.cancel();
  timer.cancel();
  EXPECT_TRUE(wheel_.empty());
  pass(1s);
  EXPECT_EQ(timer.count(), 0);
}

TEST_F(TimerWheelTest, ADestroyedTimerLeavesItsNeighboursInPlace) {
  Recorded first;
  auto second = std::make_unique<Recorded>();
  Recorded third;
  set(first, 20ms);
  set(*second, 20ms);
  set(third, 20ms);
  second.reset();
  pass(40ms);
  EXPECT_EQ(first.count(), 1);
  EXPECT_EQ(third.count(), 1);
}

TEST_F(TimerWheelTest, ATimerOutlivesItsWheel) {
  Recorded timer;
  {
    TimerWheel wheel(clock_.now());
    wheel.set(timer, clock_.now() + 1s);
  }
  EXPECT_FALSE(timer.isSet());
}

TEST_F(TimerWheelTest, AFiringTimerMayCancelAndDestroyOthersOfItsSlot) {
  std::vector<std::unique_ptr<Recorded>> timers;
  int fired = 0;
  for (int i = 0; i < 4; ++i) {
    timers.push_back(std::make_unique<Recorded>([&] {
      if (++fired == 1) {
        for (auto& timer : timers) {
          if (timer->isSet()) timer.reset();
        }
      }
    }));
    set(*timers.back(), 20ms);
  }
  pass(1s);
  EXPECT_EQ(fired, 1);
  EXPECT_TRUE(wheel_.empty());
}

TEST_F(TimerWheelTest, AFiringTimerMayMoveOthersOfItsSlotFurtherAway) {
  Recorded* timers[2] = {};
  int fired = 0;
  const auto moveOther = [&] {
    if (++fired > 1) return;
    for (Recorded* timer : timers) {
      if (timer->isSet()) set(*timer, 1s);
    }
  };
  Recorded first(moveOther);
  Recorded second(moveOther);
  timers[0] = &first;
  timers[1] = &second;
  set(first, 20ms);
  set(second, 20ms);
  pass(40ms);
  EXPECT_EQ(fired, 1);
  pass(1016ms);
  EXPECT_EQ(fired, 2);
}

TEST_F(TimerWheelTest, AFiringTimerMaySetItselfAgain) {
  Recorded* self = nullptr;
  Recorded timer([&] { set(*self, 50ms); });
  self = &timer;
  set(timer, 50ms);
  for (int i = 0; i < 10; ++i) pass(66ms);
  EXPECT_EQ(timer.count(), 10);
}

TEST_F(TimerWheelTest, AFiringTimerThatSetsItselfToThePastWaitsForTheNextAdvance) {
  Recorded* self = nullptr;
  Recorded timer([&] { set(*self, -1s); });
  self = &timer;
  set(timer, 0s);
  for (int i = 1; i <= 5; ++i) {
    wheel_.advance(clock_.now());
    EXPECT_EQ(timer.count(), i);
  }
}

TEST_F(TimerWheelTest, AJumpOverAllLevelsFiresEverythingInOrder) {
  std::vector<int> order;
  std::vector<std::unique_ptr<Recorded>> timers;
  const std::vector<base::Duration> deadlines{100h, 40ms, 2h, 3s, 90s, 75h, 20ms, 2s};
  for (int i = 0; i < static_cast<int>(deadlines.size()); ++i) {
    timers.push_back(std::make_unique<Recorded>([&order, i] { order.push_back(i); }));
    set(*timers.back(), deadlines[static_cast<std::size_t>(i)]);
  }
  pass(200h);
  EXPECT_EQ(order, (std::vector<int>{6, 1, 7, 3, 4, 2, 5, 0}));
}

TEST_F(TimerWheelTest, ATimerSetWhileTheWheelCatchesUpFiresInTheSameAdvance) {
  Recorded second;
  const base::MonotonicTime start = clock_.now();
  Recorded first([&] { wheel_.set(second, start + 2s); });
  set(first, 1s);
  pass(10s);
  EXPECT_EQ(second.count(), 1);
}

TEST_F(TimerWheelTest, TheNextDueIsNeverLaterThanTheFirstDeadlineRoundedUp) {
  for (const base::Duration in : std::vector<base::Duration>{1ms, 500ms, 2s, 100s, 2h, 100h}) {
    Recorded timer;
    set(timer, in);
    EXPECT_LE(wheel_.nextDue(), clock_.now() + in + TimerWheel::kTick);
    EXPECT_GE(wheel_.nextDue(), clock_.now());
    pass(7ms);
  }
}

TEST_F(TimerWheelTest, WakingOnlyWhenDueFiresInTime) {
  Recorded timer;
  set(timer, 3h);
  int wakes = 0;
  while (timer.count() == 0) {
    ASSERT_LT(++wakes, 10);
    pass(wheel_.nextDue() - clock_.now());
  }
}

// Compares the wheel with a simple model of timers: a list of deadlines that is searched.
TEST_F(TimerWheelTest, BehavesLikeASortedListUnderRandomUse) {
  struct ModelTimer {
    std::unique_ptr<Recorded> timer;
    base::MonotonicTime deadline{};
    bool set = false;
  };
  const base::MonotonicTime origin = clock_.now();
  std::mt19937_64 random(7);
  std::vector<ModelTimer> models(200);
  std::vector<std::size_t> fired;
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].timer = std::make_unique<Recorded>([&fired, i] { fired.push_back(i); });
  }
  const auto duration = [&random] { return base::Duration(1) * (random() >> (random() % 44 + 13)); };
  const auto tick = [origin](base::MonotonicTime at) {
    return (at - origin + TimerWheel::kTick - 1ns) / TimerWheel::kTick;
  };
  for (int round = 0; round < 20000; ++round) {
    ModelTimer& model = models[random() % models.size()];
    if (random() % 4 == 0) {
      model.timer->cancel();
      model.set = false;
    } else {
      model.deadline = clock_.now() + duration();
      model.set = true;
      wheel_.set(*model.timer, model.deadline);
    }
    if (random() % 3 != 0) continue;
    fired.clear();
    pass(duration() / 64);
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < models.size(); ++i) {
      if (models[i].set && origin + tick(models[i].deadline) * TimerWheel::kTick <= clock_.now()) expected.push_back(i);
    }
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end(), [&](std::size_t a, std::size_t b) {
      return tick(models[a].deadline) < tick(models[b].deadline);
    }));
    std::sort(fired.begin(), fired.end());
    ASSERT_EQ(fired, expected) << round;
    for (const std::size_t i : fired) models[i].set = false;
  }
}

}  // namespace
}  // namespace sluice::net
