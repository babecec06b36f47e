#include "proxy/routing/policy/failover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "test/support/health_checks.h"

namespace sluice::routing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;

class FailoverTest : public ::testing::Test {
 protected:
  struct Wanted {
    std::uint32_t priority;
    std::uint32_t weight;
  };
  void make(std::initializer_list<Wanted> members) {
    for (const Wanted& each : members) {
      health_.push_back(std::make_shared<AnswerHealth>());
      policy_.members.push_back({each.priority, each.weight, health_.back(), nullptr, {}});
    }
  }
  void eject(std::size_t member) { health_[member]->ejectUntil(now_ + seconds(10)); }
  /// Returns how many of 100 requests, whose chances are spread evenly, go to each member.
  std::vector<int> spread(std::uint64_t without = 0) const {
    std::vector<int> counts(policy_.members.size());
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::uint64_t chance = UINT64_MAX / 100 * i + UINT64_MAX / 200;
      auto chosen = policy_.choose({chance, chance * 0x9E3779B97F4A7C15ULL}, without, now_);
      if (const auto due = policy_.probe(chosen, without, now_)) chosen = due;
      if (chosen) ++counts[*chosen];
    }
    return counts;
  }

  base::MonotonicTime now_{hours(1)};
  std::vector<std::shared_ptr<AnswerHealth>> health_;
  FailoverPolicy policy_;
};

TEST_F(FailoverTest, TakesTheFirstPriorityAsLongAsItServes) {
  make({{0, 1}, {1, 1}, {2, 1}});
  EXPECT_THAT(spread(), ElementsAre(100, 0, 0));
  eject(0);
  EXPECT_THAT(spread(), ElementsAre(0, 100, 0));
  eject(1);
  EXPECT_THAT(spread(), ElementsAre(0, 0, 100));
}

TEST_F(FailoverTest, TreatsAMemberThatFailsItsHealthCheckLikeAnEjectedOne) {
  make({{0, 1}, {1, 1}});
  const auto check = sluice::test::checkedBy(HealthCheckSettings());
  policy_.members[0].check = check;
  EXPECT_THAT(spread(), ElementsAre(100, 0)) << "nobody has asked yet";
  sluice::test::setHealth(*check, CheckedState::kUnhealthy);
  EXPECT_THAT(spread(), ElementsAre(0, 100));
  health_[0]->eject(now_, {.baseEjection = seconds(10), .longestEjection = seconds(10)});
  now_ += seconds(11);
  EXPECT_THAT(spread(), ElementsAre(0, 100)) << "and no request finds out";
  sluice::test::setHealth(*check, CheckedState::kHealthy);
  health_[0]->endEjection(now_);
  EXPECT_THAT(spread(), ElementsAre(100, 0));
}

TEST_F(FailoverTest, ChoosesNoneIfOnlyEjectedMembersAreLeftAndAServingOneIsWanted) {
  make({{0, 1}, {1, 1}});
  eject(1);
  EXPECT_EQ(policy_.chooseServing({0, 0}, 0, now_), 0u);
  EXPECT_EQ(policy_.chooseServing({0, 0}, 1, now_), std::nullopt);
  EXPECT_EQ(policy_.choose({0, 0}, 1, now_), 1u);
  EXPECT_EQ(policy_.choose({0, 0}, 3, now_), std::nullopt);
}

TEST_F(FailoverTest, EjectsAShareOfTheMembersAtMost) {
  make({{0, 1}, {0, 1}, {0, 1}});
  const auto fail = [&](std::size_t member, std::uint32_t percent) {
    policy_.members[member].passive = {.errors = 1, .ejectedPercent = percent};
    const auto ejection = policy_.noteError(policy_.members[member], {now_});
    EXPECT_EQ(ejection.has_value(), !health_[member]->serves());
    return ejection.has_value();
  };
  EXPECT_FALSE(fail(0, 0));
  EXPECT_TRUE(fail(0, 10)) << "the first may always";
  EXPECT_FALSE(fail(1, 33));
  EXPECT_TRUE(fail(1, 34));
  EXPECT_FALSE(fail(2, 66));
  EXPECT_TRUE(fail(2, 100));
}

TEST_F(FailoverTest, SaysWhyAndForHowLongAMemberIsEjected) {
  make({{0, 1}, {1, 1}});
  policy_.members[0].passive = {.errors = 2, .baseEjection = seconds(30)};
  const base::WallTime at{hours(100)};
  EXPECT_FALSE(policy_.noteError(policy_.members[0], {now_, at}));
  const auto ejection = policy_.noteError(policy_.members[0], {now_, at});
  ASSERT_TRUE(ejection);
  EXPECT_EQ(ejectionText(*ejection), "for 30s: 2 failures in a row");
  EXPECT_EQ(health_[0]->since(), at);
  EXPECT_FALSE(policy_.noteError(policy_.members[0], {now_, at})) << "it is ejected already";
}

TEST_F(FailoverTest, DoesNotCountMembersWithARetryAfterOrDueOnesAsEjectedForFailures) {
  make({{0, 1}, {1, 1}, {1, 0}});
  policy_.members[0].passive = {.errors = 1, .ejectedPercent = 10};
  const auto failFirst = [&] {
    policy_.noteError(policy_.members[0], {now_});
    const bool isEjected = health_[0]->state(now_) == AnswerHealth::State::kEjected;
    health_[0]->endEjection(now_);
    return isEjected;
  };
  eject(1);
  EXPECT_TRUE(failFirst()) << "the other has asked for its rest";
  health_[1]->eject(now_ + seconds(10), {.baseEjection = seconds(60), .longestEjection = seconds(60)});
  EXPECT_FALSE(failFirst());
  now_ += seconds(71);
  EXPECT_TRUE(failFirst()) << "the other is due, which nobody finds out as long as the first serves";
  policy_.members[0].passive.ejectedPercent = 51;
  health_[1]->eject(now_, {.baseEjection = seconds(60), .longestEjection = seconds(60)});
  EXPECT_TRUE(failFirst()) << "one of the two that have a weight rests";
}

TEST_F(FailoverTest, ChoosesAtTheUsualTimeAsItDoesOtherwise) {
  make({{0, 1}, {1, 5}, {0, 3}});
  policy_.usualWeight = 4;
  std::vector<int> counts(3);
  for (std::uint64_t i = 0; i < 100; ++i)
    ++counts.at(policy_.chooseUsual(UINT64_MAX / 100 * i + UINT64_MAX / 200).value());
  EXPECT_THAT(counts, ElementsAre(25, 0, 75));
}

TEST_F(FailoverTest, KnowsWhenTheTimeIsNotUsual) {
  make({{0, 1}, {0, 1}, {1, 1}});
  EXPECT_FALSE(policy_.chooseUsual(0)) << "one of the first priority is broken";
  policy_.usualWeight = 2;
  eject(2);
  EXPECT_TRUE(policy_.chooseUsual(0)) << "one that stands by does not matter";
  const auto check = sluice::test::checkedBy(HealthCheckSettings());
  policy_.members[1].check = check;
  sluice::test::setHealth(*check, CheckedState::kUnhealthy);
  EXPECT_FALSE(policy_.chooseUsual(0));
  sluice::test::setHealth(*check, CheckedState::kHealthy);
  EXPECT_TRUE(policy_.chooseUsual(0));
  eject(1);
  EXPECT_FALSE(policy_.chooseUsual(0));
}

TEST_F(FailoverTest, SpillsOverWhatThePriorityCannotTake) {
  make({{0, 1}, {0, 1}, {1, 5}});
  eject(0);
  EXPECT_THAT(spread(), ElementsAre(0, 70, 30)) << "half of them times 1.4";
  policy_.overprovisioning = 200;
  EXPECT_THAT(spread(), ElementsAre(0, 100, 0));
}

TEST_F(FailoverTest, SharesWhatAllPrioritiesTogetherCannotTake) {
  make({{0, 1}, {0, 3}, {1, 1}, {1, 3}});
  eject(1);
  eject(3);
  EXPECT_THAT(spread(), ElementsAre(50, 0, 50, 0));
}

TEST_F(FailoverTest, UsesEjectedMembersIfThereIsNoOther) {
  make({{0, 1}, {1, 1}});
  eject(0);
  eject(1);
  EXPECT_THAT(spread(), ElementsAre(100, 0));
  EXPECT_THAT(spread(1), ElementsAre(0, 100));
  EXPECT_THAT(spread(3), ElementsAre(0, 0));
}

TEST_F(FailoverTest, LeavesAMemberWithoutWeightOut) {
  make({{0, 0}, {0, 1}});
  EXPECT_THAT(spread(), ElementsAre(0, 100));
  EXPECT_THAT(spread(2), ElementsAre(0, 0));
}

TEST_F(FailoverTest, ProbesTheFirstByOneRequest) {
  make({{0, 1}, {1, 1}});
  eject(0);
  now_ += seconds(10);
  EXPECT_THAT(spread(), ElementsAre(1, 99));
  health_[0]->onAnswer(now_, {});
  EXPECT_THAT(spread(), ElementsAre(100, 0));
}

TEST_F(FailoverTest, ProbesByAnotherRequestIfTheFirstDidNotReachIt) {
  make({{0, 1}, {1, 1}});
  eject(0);
  now_ += seconds(10);
  EXPECT_EQ(policy_.probe(1, 0, now_), 0u);
  EXPECT_EQ(policy_.probe(1, 0, now_), std::nullopt);
  health_[0]->giveProbeBack();
  EXPECT_EQ(policy_.probe(1, 0, now_), 0u);
}

TEST_F(FailoverTest, GivesEverythingToALightMemberIfNoOtherServes) {
  make({{0, 999}, {0, 1}});
  eject(0);
  EXPECT_THAT(spread(), ElementsAre(0, 100));
}

TEST_F(FailoverTest, DoesNotProbeAStandbyThatIsNotNeeded) {
  make({{0, 1}, {1, 1}});
  eject(1);
  now_ += seconds(10);
  EXPECT_THAT(spread(), ElementsAre(100, 0));
  EXPECT_THAT(spread(1), ElementsAre(0, 100)) << "it is needed, although nobody knows whether it serves";
}

}  // namespace
}  // namespace sluice::routing
