#include "proxy/processing/server_health.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice::processing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::WallTime kBegin{seconds(1'000'000)};

ServerReach reachAt(const ServerHealth& health, base::WallTime now) { return health.announce(now).reach; }

TEST(ServerHealth, IsPendingUntilTheServerAnswers) {
  const ServerHealth health;
  EXPECT_EQ(health.announced(), ServerReport());
  EXPECT_EQ(reachAt(health, kBegin), ServerReach::kPending);
  health.onAnswer();
  EXPECT_EQ(health.announced().reach, ServerReach::kPending) << "nobody has announced it";
  EXPECT_EQ(reachAt(health, kBegin), ServerReach::kActive);
  EXPECT_EQ(health.announced().reach, ServerReach::kActive);
}

TEST(ServerHealth, IsDegradedAfterThreeFailuresInARow) {
  const ServerHealth health;
  for (int i = 0; i < 10; ++i) {
    health.onFailure(Cause::kError, kBegin);
    health.onFailure(Cause::kError, kBegin);
    EXPECT_EQ(reachAt(health, kBegin), i == 0 ? ServerReach::kPending : ServerReach::kActive);
    health.onAnswer();
  }
  for (int i = 0; i < 3; ++i) health.onFailure(i == 2 ? Cause::kTimeout : Cause::kError, kBegin + milliseconds(i));
  const ServerReport state = health.announce(kBegin + milliseconds(3));
  EXPECT_EQ(state, (ServerReport{ServerReach::kDegraded, kBegin, 3, Cause::kTimeout})) << "since the first of them";
}

TEST(ServerHealth, IsDegradedWhenOneFailureHasStoodForASecond) {
  const ServerHealth health;
  health.onAnswer();
  health.onFailure(Cause::kError, kBegin);
  EXPECT_EQ(reachAt(health, kBegin + milliseconds(999)), ServerReach::kActive);
  EXPECT_EQ(reachAt(health, kBegin + milliseconds(1000)), ServerReach::kDegraded);
  health.onAnswer();
  EXPECT_EQ(reachAt(health, kBegin + seconds(2)), ServerReach::kActive);
}

TEST(ServerHealth, DoesNotAnnounceHigherCountsAnew) {
  const ServerHealth health;
  for (int i = 0; i < 3; ++i) health.onFailure(Cause::kError, kBegin);
  const ServerReport first = health.announce(kBegin);
  health.onFailure(Cause::kTimeout, kBegin + seconds(5));
  EXPECT_EQ(health.announce(kBegin + seconds(5)), first);
}

TEST(ServerHealthThreads, MayRecordWhileItIsAsked) {
  const ServerHealth health;
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&health] {
      for (int round = 0; round < 1000; ++round) {
        health.onFailure(Cause::kError, kBegin + seconds(round));
        if (round % 7 == 0) health.onAnswer();
      }
    });
  }
  for (int round = 0; round < 1000; ++round) {
    const ServerReport state = health.announce(kBegin + seconds(round));
    EXPECT_TRUE(state.reach != ServerReach::kDegraded || state.since >= kBegin);
  }
  for (std::thread& each : workers) each.join();
  for (int i = 0; i < 3; ++i) health.onFailure(Cause::kError, kBegin);
  EXPECT_EQ(health.announce(kBegin + seconds(10'000)).reach, ServerReach::kDegraded);
}

}  // namespace
}  // namespace sluice::processing
