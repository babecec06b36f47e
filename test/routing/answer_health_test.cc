#include "proxy/routing/policy/answer_health.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sluice::routing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using State = AnswerHealth::State;

class AnswerHealthTest : public ::testing::Test {
 protected:
  void note(bool isGatewayError) {
    if (health_.onError(now_, bounds_, isGatewayError)) health_.eject(now_, bounds_);
  }
  void fail(std::uint32_t times = 1) {
    for (std::uint32_t i = 0; i < times; ++i) note(/*isGatewayError=*/false);
  }
  State state() const { return health_.state(now_); }
  /// Fails until it is ejected, and waits until the ejection has ended. Returns how long that was.
  base::Duration eject(std::uint32_t errors) {
    fail(errors);
    const base::MonotonicTime begun = now_;
    while (state() == State::kEjected) now_ += milliseconds(100);
    return now_ - begun;
  }

  base::MonotonicTime now_{hours(1)};
  PassiveHealthBounds bounds_{.errors = 3, .baseEjection = seconds(10), .longestEjection = seconds(25)};
  AnswerHealth health_;
};

TEST_F(AnswerHealthTest, IsEjectedAfterErrorsInARow) {
  fail(2);
  health_.onAnswer(now_, bounds_);
  fail(2);
  EXPECT_EQ(state(), State::kServes);
  fail();
  EXPECT_EQ(state(), State::kEjected);
  now_ += seconds(10);
  EXPECT_EQ(state(), State::kDue);
}

TEST_F(AnswerHealthTest, IsEjectedForLongerEachTimeUpToABound) {
  EXPECT_EQ(eject(3), seconds(10));
  EXPECT_EQ(eject(1), seconds(20)) << "one error is enough as long as it has not served";
  EXPECT_EQ(eject(1), seconds(25));
  EXPECT_EQ(eject(1), seconds(25));
}

TEST_F(AnswerHealthTest, BeginsAnewAfterATimeOfHealth) {
  eject(3);
  health_.onAnswer(now_, bounds_);
  EXPECT_EQ(state(), State::kServes);
  EXPECT_EQ(eject(3), seconds(20)) << "it has served for no time at all";
  health_.onAnswer(now_, bounds_);
  now_ += minutes(1);
  EXPECT_EQ(eject(3), seconds(10));
}

TEST_F(AnswerHealthTest, IsProbedByOneRequestAtATime) {
  eject(3);
  EXPECT_TRUE(health_.tryProbe(now_));
  EXPECT_FALSE(health_.tryProbe(now_));
  now_ += seconds(6);
  EXPECT_TRUE(health_.tryProbe(now_)) << "nothing was heard of the first";
  fail();
  now_ += seconds(20);
  EXPECT_EQ(state(), State::kDue);
  EXPECT_TRUE(health_.tryProbe(now_));
  health_.onAnswer(now_, bounds_);
  EXPECT_EQ(state(), State::kServes);
}

TEST_F(AnswerHealthTest, IsEjectedForAsLongAsItAsks) {
  health_.ejectUntil(now_ + seconds(7));
  health_.ejectUntil(now_ + seconds(3));
  health_.onAnswer(now_, bounds_);
  EXPECT_EQ(state(), State::kEjected) << "that request was under way";
  now_ += seconds(7);
  EXPECT_EQ(state(), State::kDue);
  health_.onAnswer(now_, bounds_);
  EXPECT_EQ(state(), State::kServes);
}

TEST_F(AnswerHealthTest, IsNotEjectedAnyMoreWhenACheckPassesUnlessItAskedForThat) {
  fail(3);
  EXPECT_EQ(state(), State::kEjected);
  health_.endEjection(now_);
  EXPECT_EQ(state(), State::kServes);
  fail(2);
  health_.endEjection(now_);
  fail(2);
  EXPECT_EQ(state(), State::kServes) << "the errors in a row count anew";
  health_.ejectUntil(now_ + seconds(4));
  fail(3);
  health_.endEjection(now_);
  now_ += seconds(3);
  EXPECT_EQ(state(), State::kEjected);
  now_ += seconds(1);
  EXPECT_EQ(state(), State::kDue);
  health_.endEjection(now_);
  EXPECT_EQ(state(), State::kServes);
}

TEST_F(AnswerHealthTest, CountsGatewayErrorsByThemselves) {
  bounds_.errors = 0;
  bounds_.gatewayErrors = 2;
  fail(10);
  EXPECT_EQ(state(), State::kServes);
  note(/*isGatewayError=*/true);
  fail();
  note(/*isGatewayError=*/true);
  EXPECT_EQ(state(), State::kServes) << "they were not in a row";
  health_.onAnswer(now_, bounds_);
  note(/*isGatewayError=*/true);
  EXPECT_EQ(state(), State::kServes);
  note(/*isGatewayError=*/true);
  EXPECT_EQ(state(), State::kEjected);
}

TEST_F(AnswerHealthTest, IsEjectedWhenTheShareOfFailuresInAnIntervalIsTooLarge) {
  bounds_.errors = 0;
  bounds_.failurePercent = 50;
  bounds_.minimumRequests = 10;
  const auto answerAndFail = [&](int times) {
    for (int i = 0; i < times; ++i) {
      health_.onAnswer(now_, bounds_);
      fail();
    }
  };
  answerAndFail(4);
  EXPECT_EQ(state(), State::kServes) << "there were too few requests";
  now_ += bounds_.interval;
  answerAndFail(4);
  EXPECT_EQ(state(), State::kServes) << "this is another interval";
  answerAndFail(1);
  EXPECT_EQ(state(), State::kEjected);
  now_ += seconds(10);
  for (int i = 0; i < 21; ++i) health_.onAnswer(now_, bounds_);
  fail(20);
  EXPECT_EQ(state(), State::kServes) << "20 of 41";
  fail(1);
  EXPECT_EQ(state(), State::kEjected);
}

TEST_F(AnswerHealthTest, BeginsTheFirstIntervalWithTheFirstRequest) {
  now_ = base::MonotonicTime(minutes(10));  // as soon after the start of the machine
  bounds_.errors = 0;
  bounds_.failurePercent = 50;
  bounds_.minimumRequests = 10;
  bounds_.interval = minutes(15);
  fail(6);
  now_ += minutes(10);
  fail(4);
  EXPECT_EQ(state(), State::kEjected) << "all ten are of one interval";
}

TEST(AnswerHealthThreads, EjectOnceAndAreProbedByOneRequestAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  const AnswerHealth health;
  const PassiveHealthBounds bounds{.errors = 3, .baseEjection = seconds(10), .longestEjection = seconds(10)};
  for (int round = 0; round < kRounds; ++round) {
    const base::MonotonicTime now(hours(1) + minutes(round));
    std::atomic<int> probes = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 3; ++k) {
          if (health.onError(now, bounds, /*isGatewayError=*/false)) health.eject(now, bounds);
        }
        if (health.state(now + seconds(10)) == State::kDue && health.tryProbe(now + seconds(10))) ++probes;
      });
    }
    for (std::thread& each : threads) each.join();
    // The last thread has seen all errors, so one of them has probed.
    ASSERT_EQ(probes, 1) << round;
    ASSERT_EQ(health.state(now + seconds(9)), State::kEjected);
    health.onAnswer(now + seconds(10), bounds);
    ASSERT_EQ(health.state(now + seconds(10)), State::kServes);
  }
}

}  // namespace
}  // namespace sluice::routing
