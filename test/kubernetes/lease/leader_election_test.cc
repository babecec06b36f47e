#include "proxy/kubernetes/lease/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using Step = LeaderElection::Step;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kMicros = "2026-01-31T23:59:58.000000Z";

base::MonotonicTime clockAt(base::Duration time) { return base::MonotonicTime(1h + time); }

LeaseRecord heldBy(std::string holder, std::string resourceVersion, std::int64_t transitions = 0) {
  return {std::move(holder), 15, "acquired", "renewed", transitions, std::move(resourceVersion)};
}

/// One candidate; the test is the API server. Time is counted from its start.
class ElectionOfOne {
 public:
  LeaderElection::Action next(base::Duration time) { return election_.next(clockAt(time), base::someTime()); }
  Step step(base::Duration time) { return next(time).step; }
  LeaderElection& election() { return election_; }
  bool leads(base::Duration time) const { return election_.isLeader(clockAt(time)); }

  /// Has it create the Lease at 0.
  void lead() {
    EXPECT_EQ(step(0s), Step::kRead);
    election_.absent(clockAt(0s));
    EXPECT_EQ(step(0s), Step::kCreate);
    election_.written(heldBy("me", "1"), clockAt(0s));
  }
  /// Lets the candidate read the Lease as soon as it is due, and returns that time.
  base::Duration readNext(const LeaseRecord& record, base::Duration from) {
    base::Duration time = from;
    while (step(time) != Step::kRead) time += 10ms;
    election_.read(record, clockAt(time));
    return time;
  }

 private:
  LeaderElection election_{{"sluice-system", "sluice-controller", "me"}, 7};
};

TEST(LeaderElection, CreatesTheLeaseThatIsNotThere) {
  ElectionOfOne one;
  EXPECT_EQ(one.step(0s), Step::kRead);
  EXPECT_EQ(one.next(1s).step, Step::kWait);
  EXPECT_EQ(one.next(1s).at, base::MonotonicTime::max());
  one.election().absent(clockAt(1s));
  const LeaderElection::Action action = one.next(1s);
  EXPECT_EQ(action.step, Step::kCreate);
  EXPECT_EQ(action.body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"sluice-controller",)"
            R"("namespace":"sluice-system"},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"acquireTime":")" +
                std::string(kMicros) + R"(","renewTime":")" + std::string(kMicros) + R"(","leaseTransitions":0}})");
  EXPECT_FALSE(one.leads(1s));
  one.election().written(heldBy("me", "1"), clockAt(2s));
  EXPECT_TRUE(one.leads(2s));
  EXPECT_EQ(one.election().holder(), "me");
  EXPECT_EQ(leasesPath("a"), "/apis/coordination.k8s.io/v1/namespaces/a/leases");
  EXPECT_EQ(leasePath("a", "b"), "/apis/coordination.k8s.io/v1/namespaces/a/leases/b");
}

TEST(LeaderElection, LeadsUntilTheDeadlineAfterTheRequestWasSent) {
  ElectionOfOne one;
  EXPECT_EQ(one.step(0s), Step::kRead);
  one.election().absent(clockAt(0s));
  EXPECT_EQ(one.step(1s), Step::kCreate);
  one.election().written(heldBy("me", "1"), clockAt(4s));
  EXPECT_EQ(one.election().leaderUntil(), clockAt(11s));
  EXPECT_TRUE(one.leads(11s - 1ns));
  EXPECT_FALSE(one.leads(11s));
}

TEST(LeaderElection, DoesNotLeadByAnAnswerAfterTheDeadline) {
  ElectionOfOne one;
  EXPECT_EQ(one.step(0s), Step::kRead);
  one.election().absent(clockAt(0s));
  EXPECT_EQ(one.step(0s), Step::kCreate);
  one.election().written(heldBy("me", "1"), clockAt(10s));
  EXPECT_FALSE(one.leads(10s));
}

TEST(LeaderElection, RenewsEveryRetryPeriodAndKeepsSinceWhenItLeads) {
  ElectionOfOne one;
  one.lead();
  EXPECT_EQ(one.next(1s).at, clockAt(2s));
  const LeaderElection::Action action = one.next(2s);
  EXPECT_EQ(action.step, Step::kUpdate);
  EXPECT_THAT(action.body,
              HasSubstr(R"("resourceVersion":"1"},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,)"
                        R"("acquireTime":"acquired","renewTime":")" +
                        std::string(kMicros) + R"(","leaseTransitions":0})"));
  one.election().written(heldBy("me", "2"), clockAt(2s));
  EXPECT_EQ(one.election().leaderUntil(), clockAt(12s));
  EXPECT_EQ(one.next(2s).at, clockAt(4s));
}

TEST(LeaderElection, WaitsForTheLeaseOfAnotherByItsOwnClock) {
  ElectionOfOne one;
  base::Duration time = one.readNext(heldBy("other", "1"), 0s);
  EXPECT_EQ(time, 0s);
  std::set<base::Duration> waits;
  while (one.next(time).step == Step::kWait) {
    const base::Duration before = time;
    time = one.readNext(heldBy("other", "1"), time);
    waits.insert(time - before);
    EXPECT_GE(time - before, 2s);
    EXPECT_LE(time - before, 4400ms + 10ms);
  }
  EXPECT_GE(time, 15s);
  EXPECT_LT(time, 20s);
  EXPECT_GT(waits.size(), 1u) << "candidates must not ask all at once";
  EXPECT_FALSE(one.leads(time));
}

TEST(LeaderElection, TakesAnExpiredLeaseAndCountsTheTransition) {
  ElectionOfOne one;
  one.readNext(heldBy("other", "1", 4), 0s);
  one.readNext(heldBy("other", "1", 4), 15s);
  const LeaderElection::Action action = one.next(15s);
  EXPECT_EQ(action.step, Step::kUpdate);
  EXPECT_THAT(action.body, HasSubstr(R"("resourceVersion":"1")"));
  EXPECT_THAT(action.body, HasSubstr(R"("leaseTransitions":5)"));
  EXPECT_THAT(action.body, Not(HasSubstr("acquired")));
}

TEST(LeaderElection, WaitsAnewAfterAnyChangeEvenIfTheHoldersClockStandsStill) {
  const LeaseRecord first = heldBy("other", "1");
  for (int change = 0; change < 3; ++change) {
    LeaseRecord second = first;
    if (change == 0) second.resourceVersion = "2";
    if (change == 1) second.renewTime = "1999-01-01T00:00:00.000000Z";
    if (change == 2) second.holderIdentity = "third";
    ElectionOfOne one;
    one.readNext(first, 0s);
    one.readNext(second, 14s);
    const base::Duration last = one.readNext(second, 28900ms - 2s);
    ASSERT_LT(last, 29s);
    EXPECT_EQ(one.step(last), Step::kWait);
    one.readNext(second, 29s);
    EXPECT_EQ(one.step(40s), Step::kUpdate);
  }
}

TEST(LeaderElection, HonoursHowLongTheHolderSaysThatItHoldsTheLease) {
  for (const auto& [duration, expires] : {std::pair<std::int64_t, base::Duration>(60, 60s), {0, 15s}, {-1, 15s}}) {
    LeaseRecord record = heldBy("other", "1");
    record.leaseDurationSeconds = duration;
    ElectionOfOne one;
    one.readNext(record, 0s);
    EXPECT_LT(one.readNext(record, expires - 100ms - 5s), expires);
    EXPECT_EQ(one.step(expires - 100ms - 5s), Step::kWait);
    const base::Duration time = one.readNext(record, expires);
    EXPECT_EQ(one.step(time), Step::kUpdate);
  }
  LeaseRecord endless = heldBy("other", "1");
  endless.leaseDurationSeconds = std::numeric_limits<std::int64_t>::max();
  ElectionOfOne one;
  one.readNext(endless, 0s);
  EXPECT_EQ(one.step(1s), Step::kWait);
}

TEST(LeaderElection, TakesAReleasedLeaseAtOnce) {
  ElectionOfOne one;
  one.readNext(heldBy("", "1", 1), 0s);
  EXPECT_THAT(one.next(0s).body, HasSubstr(R"("leaseTransitions":2)"));
}

TEST(LeaderElection, DoesNotLeadAfterAConflict) {
  ElectionOfOne one;
  one.readNext(heldBy("", "1"), 0s);
  EXPECT_EQ(one.step(0s), Step::kUpdate);
  one.election().conflicted(clockAt(0s));
  EXPECT_FALSE(one.leads(0s));
  EXPECT_EQ(one.step(1s), Step::kWait);
  one.readNext(heldBy("other", "2"), 2s);
  EXPECT_EQ(one.election().holder(), "other");
}

TEST(LeaderElection, ReadsBeforeItRenewsAfterALostAnswer) {
  ElectionOfOne one;
  one.lead();
  EXPECT_EQ(one.step(2s), Step::kUpdate);
  one.election().failed(clockAt(7s));
  EXPECT_TRUE(one.leads(7s));
  EXPECT_EQ(one.step(7s), Step::kRead) << "a leader has lost time enough";
  one.election().read(heldBy("me", "2"), clockAt(8s));
  EXPECT_THAT(one.next(9s).body, HasSubstr(R"("resourceVersion":"2")"));
  one.election().written(heldBy("me", "3"), clockAt(9500ms));
  EXPECT_EQ(one.election().leaderUntil(), clockAt(19s));
  EXPECT_EQ(one.step(11500ms), Step::kUpdate);
  one.election().failed(clockAt(11600ms));
  EXPECT_EQ(one.next(11600ms).at, clockAt(13500ms)) << "but it does not ask all the time";
}

TEST(LeaderElection, EndsAtOnceWhenAnotherHoldsTheLeaseOrItIsGone) {
  for (const bool gone : {false, true}) {
    ElectionOfOne one;
    one.lead();
    EXPECT_EQ(one.step(2s), Step::kUpdate);
    one.election().conflicted(clockAt(2s));
    EXPECT_TRUE(one.leads(4s));
    EXPECT_EQ(one.step(4s), Step::kRead);
    if (gone) {
      one.election().absent(clockAt(4s));
    } else {
      one.election().read(heldBy("other", "2"), clockAt(4s));
    }
    EXPECT_FALSE(one.leads(4s));
    EXPECT_EQ(one.step(4s), gone ? Step::kCreate : Step::kWait);
  }
}

TEST(LeaderElection, IsNotLedByALeaseWhoseAnswerNamesAnother) {
  ElectionOfOne one;
  one.readNext(heldBy("", "1"), 0s);
  EXPECT_EQ(one.step(0s), Step::kUpdate);
  one.election().written(heldBy("other", "2"), clockAt(0s));
  EXPECT_FALSE(one.leads(0s));
}

TEST(LeaderElection, GivesTheLeaseBack) {
  ElectionOfOne one;
  one.lead();
  one.election().release(clockAt(1s));
  EXPECT_FALSE(one.leads(1s));
  const LeaderElection::Action action = one.next(1s);
  EXPECT_EQ(action.step, Step::kUpdate);
  EXPECT_THAT(action.body,
              HasSubstr(R"("resourceVersion":"1"},"spec":{"holderIdentity":"","leaseDurationSeconds":1,)"));
  EXPECT_EQ(one.step(1s), Step::kWait);
  one.election().written(heldBy("", "2"), clockAt(1s));
  EXPECT_EQ(one.step(1s), Step::kDone);
}

TEST(LeaderElection, GivesTheLeaseBackAfterWhatIsUnderWay) {
  ElectionOfOne one;
  one.lead();
  EXPECT_EQ(one.step(2s), Step::kUpdate);
  one.election().release(clockAt(2s));
  EXPECT_EQ(one.step(2s), Step::kWait);
  one.election().failed(clockAt(3s));
  EXPECT_EQ(one.step(3s), Step::kRead);
  one.election().read(heldBy("me", "2"), clockAt(3s));
  EXPECT_THAT(one.next(3s).body, HasSubstr(R"("resourceVersion":"2"},"spec":{"holderIdentity":"")"));
  one.election().conflicted(clockAt(3s));
  EXPECT_FALSE(one.leads(3s));
  EXPECT_EQ(one.step(3s), Step::kDone);
}

TEST(LeaderElection, HasNothingToGiveBackWhatItDoesNotHold) {
  ElectionOfOne never;
  never.election().release(clockAt(0s));
  EXPECT_EQ(never.step(0s), Step::kDone);
  ElectionOfOne waiting;
  waiting.readNext(heldBy("other", "1"), 0s);
  waiting.election().release(clockAt(0s));
  EXPECT_EQ(waiting.step(0s), Step::kDone);
  ElectionOfOne reading;
  EXPECT_EQ(reading.step(0s), Step::kRead);
  reading.election().release(clockAt(0s));
  reading.election().read(heldBy("other", "1"), clockAt(0s));
  EXPECT_EQ(reading.step(0s), Step::kDone);
}

TEST(LeaderElection, ReadsALeaseOfTheServer) {
  const base::Result<content::Value> lease = content::parseJson(
      R"({"metadata":{"resourceVersion":"9"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,)"
      R"("acquireTime":"x","renewTime":"y","leaseTransitions":3}})");
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(readLeaseRecord(*lease), (LeaseRecord{"a", 15, "x", "y", 3, "9"}));
  EXPECT_EQ(readLeaseRecord(*content::parseJson("{}")), LeaseRecord());
}

}  // namespace
}  // namespace sluice::kubernetes
