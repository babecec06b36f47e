#include "proxy/control/health/probe_turns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::control {
namespace {

using std::chrono::milliseconds;

struct TurnWaiter {
  std::string name;
};

class ProbeTurnsTest : public testing::Test {
 protected:
  /// Returns the names of those whose turn it is now, in order.
  std::vector<std::string> turns() {
    std::vector<std::string> names;
    while (const TurnWaiter* each = turns_.next(now_)) names.push_back(each->name);
    return names;
  }

  base::MonotonicTime now_{std::chrono::hours(1)};
  ProbeTurns<TurnWaiter> turns_{10};
  TurnWaiter a1_{"a1"}, a2_{"a2"}, a3_{"a3"}, b1_{"b1"}, c1_{"c1"};
};

TEST_F(ProbeTurnsTest, LetNobodyWaitBelowTheRate) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(turns_.takeNow("a", now_)) << i;
    EXPECT_FALSE(turns_.takeNow("a", now_));
    EXPECT_EQ(turns_.nextAt(now_), now_ + milliseconds(100));
    now_ += milliseconds(100);
  }
}

TEST_F(ProbeTurnsTest, ComeInTurnsOfTheNamespaces) {
  turns_.setRate(1000);  // with bursts of 20
  for (TurnWaiter* each : {&a1_, &a2_, &a3_}) turns_.wait("a", *each);
  turns_.wait("b", b1_);
  turns_.wait("c", c1_);
  EXPECT_EQ(turns(), (std::vector<std::string>{"a1", "b1", "c1", "a2", "a3"}));
  turns_.wait("a", a1_);
  turns_.wait("b", b1_);
  EXPECT_EQ(turns(), (std::vector<std::string>{"b1", "a1"})) << "the last turn was that of a";
}

TEST_F(ProbeTurnsTest, NeverExceedTheRate) {
  ASSERT_TRUE(turns_.takeNow("a", now_));
  for (int i = 0; i < 100; ++i) turns_.wait("a", a1_);
  std::size_t taken = 0;
  for (int i = 0; i < 60; ++i) {
    now_ += milliseconds(16);
    taken += turns().size();
  }
  EXPECT_GE(taken, 8U);
  EXPECT_LE(taken, 10U);
  EXPECT_FALSE(turns_.takeNow("a", now_ + std::chrono::seconds(1))) << "others wait";
}

TEST_F(ProbeTurnsTest, ForgetThoseThatLeave) {
  turns_.setRate(1000);
  const std::uint64_t first = turns_.wait("a", a1_);
  turns_.wait("a", a2_);
  const std::uint64_t only = turns_.wait("b", b1_);
  turns_.leave("a", first);
  turns_.leave("b", only);
  turns_.leave("b", only);
  EXPECT_EQ(turns(), std::vector<std::string>{"a2"});
  EXPECT_TRUE(turns_.empty());
}

}  // namespace
}  // namespace sluice::control
