#include "proxy/exchange/transaction/deadlines.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::exchange {
namespace {

using std::chrono::seconds;

class Deadlines : public ::testing::Test {
 protected:
  static base::MonotonicTime at(int after) { return base::MonotonicTime{} + seconds(1000 + after); }
  Timeline line() const {
    return {.timeouts = timeouts_,
            .lastProgress = at(0),
            .answering = false,
            .tunnel = http::Tunnel::kNone,
            .clientStalls = false};
  }

  base::TimeoutSettings timeouts_ = [] {
    base::TimeoutSettings made;
    made.clientIdle = seconds(5);
    made.bodyIdle = seconds(10);
    made.streamIdle = seconds(30);
    return made;
  }();
};

TEST_F(Deadlines, AnExchangeInWhichNothingMovesEndsByStreamIdle) {
  EXPECT_EQ(firstDeadline(line()), at(30));
  EXPECT_EQ(expiredAt(line(), at(29)), Expiry::kNone);
  EXPECT_EQ(expiredAt(line(), at(30)), Expiry::kIdle);
}

TEST_F(Deadlines, ARuleMayHaveAnotherStreamIdle) {
  for (const int idle : {3, 300}) {
    Timeline ruled = line();
    ruled.ruleStreamIdle = seconds(idle);
    EXPECT_EQ(firstDeadline(ruled), at(idle));
    EXPECT_EQ(expiredAt(ruled, at(idle - 1)), Expiry::kNone);
    EXPECT_EQ(expiredAt(ruled, at(idle)), Expiry::kIdle);
  }
}

TEST_F(Deadlines, AClientThatOwesItsBodyHasLessTime) {
  Timeline stalled = line();
  stalled.clientStalls = true;
  EXPECT_EQ(firstDeadline(stalled), at(10));
  EXPECT_EQ(expiredAt(stalled, at(10)), Expiry::kBody);
  EXPECT_EQ(expiredAt(stalled, at(9)), Expiry::kNone);
}

TEST_F(Deadlines, ALocalReplyHasOneTimeWhateverElseIsDue) {
  Timeline reply = line();
  reply.answering = true;
  reply.request = reply.step = reply.withheld = at(1);
  EXPECT_EQ(firstDeadline(reply), at(5));
  EXPECT_EQ(expiredAt(reply, at(4)), Expiry::kNone);
  EXPECT_EQ(expiredAt(reply, at(5)), Expiry::kReply);
}

TEST_F(Deadlines, ATunnelEndsWhenNothingMovesInItAndByTheClientsMemory) {
  Timeline tunnel = line();
  tunnel.tunnel = http::Tunnel::kWebSocket;
  tunnel.request = tunnel.attempt = at(1);
  EXPECT_EQ(firstDeadline(tunnel), at(30));
  EXPECT_EQ(expiredAt(tunnel, at(30)), Expiry::kIdle);
  tunnel.unclaimed = at(7);
  EXPECT_EQ(firstDeadline(tunnel), at(7));
  EXPECT_EQ(expiredAt(tunnel, at(7)), Expiry::kUnclaimed);
}

TEST_F(Deadlines, EachBoundExpiresAtItsOwnTime) {
  const struct {
    base::MonotonicTime Timeline::*bound;
    Expiry expiry;
  } rows[] = {{&Timeline::request, Expiry::kRequest},
              {&Timeline::attempt, Expiry::kAttempt},
              {&Timeline::attemptIdle, Expiry::kAttemptIdle},
              {&Timeline::retry, Expiry::kRetry},
              {&Timeline::step, Expiry::kStep},
              {&Timeline::proceed, Expiry::kProceed},
              {&Timeline::withheld, Expiry::kWithheld},
              {&Timeline::unclaimed, Expiry::kUnclaimed}};
  for (const auto& row : rows) {
    Timeline bounded = line();
    bounded.*row.bound = at(3);
    EXPECT_EQ(firstDeadline(bounded), at(3));
    EXPECT_EQ(expiredAt(bounded, at(2)), Expiry::kNone);
    EXPECT_EQ(expiredAt(bounded, at(3)), row.expiry);
  }
}

// An expiry that ends the exchange comes before one that lets it go on: a late step, or an attempt that is due.
TEST_F(Deadlines, SimultaneousExpiriesHaveAnOrder) {
  Timeline both = line();
  both.request = both.attempt = both.step = both.retry = both.proceed = at(3);
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kAttempt);
  both.attempt = base::MonotonicTime::max();
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kRequest);
  both.request = base::MonotonicTime::max();
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kStep);
  both.step = base::MonotonicTime::max();
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kRetry);
  both.retry = base::MonotonicTime::max();
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kProceed);
  both.withheld = at(3);
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kWithheld);
  both.withheld = base::MonotonicTime::max();
  both.lastProgress = at(-40);
  EXPECT_EQ(expiredAt(both, at(3)), Expiry::kIdle);
}

TEST_F(Deadlines, ARuleBoundsTheRequestInPlaceOfTheSettings) {
  timeouts_.request = seconds(60);
  const auto rule = std::make_shared<routing::Rule>();
  EXPECT_EQ(requestDeadline(at(0), nullptr, timeouts_), at(60));
  EXPECT_EQ(requestDeadline(at(0), rule.get(), timeouts_), at(60));
  rule->requestTimeout = seconds(2);
  EXPECT_EQ(requestDeadline(at(0), rule.get(), timeouts_), at(2));
  rule->requestTimeout = seconds(0);
  EXPECT_EQ(requestDeadline(at(0), rule.get(), timeouts_), base::MonotonicTime::max());
}

}  // namespace
}  // namespace sluice::exchange
