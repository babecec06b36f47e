#include "proxy/routing/policy/endpoint_ejections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace sluice::routing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

class EndpointEjectionsTest : public testing::Test {
 protected:
  static Endpoint numbered(int number) { return {"10.0.0." + std::to_string(number), 80}; }
  bool fail(int number, bool isGatewayError = false) {
    last_ = ejections_.onError(numbered(number), {now_, at_, isGatewayError}, bounds_, current_);
    return last_.has_value();
  }
  void answer(int number) { ejections_.onAnswer(numbered(number), now_, bounds_, current_); }
  /// Returns the addresses of the ejected endpoints.
  std::vector<std::string> ejected() const {
    std::vector<std::string> addresses;
    const auto now = ejections_.ejectedAnd(nullptr, now_);
    if (now == nullptr) return addresses;
    for (const Endpoint& each : *now) addresses.push_back(each.ip);
    return addresses;
  }

  Endpoints service_{numbered(1), numbered(2), numbered(3), numbered(4)};
  CurrentEndpoints current_{&service_, 4};
  PassiveHealthBounds bounds_{.errors = 3, .baseEjection = minutes(1), .longestEjection = minutes(5)};
  base::MonotonicTime now_{hours(1)};
  base::WallTime at_{hours(100)};
  std::optional<Ejection> last_;
  EndpointEjections ejections_;
};

TEST_F(EndpointEjectionsTest, EjectAnEndpointThatFailsSoOftenInARow) {
  EXPECT_FALSE(fail(1));
  EXPECT_FALSE(fail(1));
  EXPECT_FALSE(fail(2));
  EXPECT_EQ(ejections_.ejectedAnd(nullptr, now_), nullptr);
  EXPECT_TRUE(fail(1));
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.1"));
  EXPECT_FALSE(fail(1)) << "an answer of a request that was in flight is no new evidence";
  now_ += minutes(1);
  EXPECT_EQ(ejections_.ejectedAnd(nullptr, now_), nullptr);
}

TEST_F(EndpointEjectionsTest, CountFromTheLastAnswerWithoutAFailure) {
  fail(1);
  fail(1);
  answer(1);
  EXPECT_FALSE(fail(1));
  EXPECT_FALSE(fail(1));
  EXPECT_TRUE(fail(1));
}

TEST_F(EndpointEjectionsTest, EjectForLongerAfterTheNextFailureUnlessItHasServedLong) {
  for (int i = 0; i < 3; ++i) fail(1);
  now_ += minutes(1);
  EXPECT_TRUE(fail(1)) << "it has not served since its ejection";
  now_ += minutes(1);
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.1")) << "two minutes this time";
  now_ += minutes(1);
  EXPECT_THAT(ejected(), testing::IsEmpty());
  answer(1);
  now_ += minutes(6);
  answer(1);
  for (int i = 0; i < 3; ++i) fail(1);
  now_ += minutes(1);
  EXPECT_THAT(ejected(), testing::IsEmpty()) << "it had served for longer than any ejection";
}

TEST_F(EndpointEjectionsTest, EjectNoMoreThanTheirShareButAlwaysOne) {
  bounds_.ejectedPercent = 50;
  for (int number = 1; number <= 4; ++number) {
    for (int i = 0; i < 3; ++i) fail(number);
  }
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.1", "10.0.0.2"));
  now_ += minutes(1);
  bounds_.ejectedPercent = 1;
  EXPECT_TRUE(fail(3));
  EXPECT_FALSE(fail(4));
  bounds_.ejectedPercent = 0;
  now_ += minutes(10);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(fail(2));
}

TEST_F(EndpointEjectionsTest, EjectByTheShareOfFailuresInAnInterval) {
  bounds_ = {.errors = 0, .baseEjection = minutes(1), .failurePercent = 50, .minimumRequests = 10};
  for (int i = 0; i < 6; ++i) answer(1);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(fail(1));
  ASSERT_TRUE(fail(1)) << "six of twelve";
  EXPECT_EQ(ejectionText(*last_), "for 1m: 6 of 12 requests have failed");
  EXPECT_FALSE(fail(2)) << "too few requests";
}

TEST_F(EndpointEjectionsTest, SayWhyAndForHowLong) {
  bounds_.gatewayErrors = 2;
  fail(1);
  fail(1, /*isGatewayError=*/true);
  ASSERT_TRUE(fail(1, /*isGatewayError=*/true));
  EXPECT_EQ(ejectionText(*last_), "for 1m: 3 failures in a row");
  now_ += minutes(1);
  ASSERT_TRUE(fail(1));
  EXPECT_EQ(ejectionText(*last_), "for 2m: it still fails after the last ejection");
  fail(2, /*isGatewayError=*/true);
  ASSERT_TRUE(fail(2, /*isGatewayError=*/true));
  EXPECT_EQ(ejectionText(*last_), "for 1m: 2 gateway errors in a row");
}

TEST_F(EndpointEjectionsTest, ReportThoseOfThisMomentWithTheirTimes) {
  EXPECT_FALSE(ejections_.haveEjected());
  for (int i = 0; i < 3; ++i) fail(2);
  EXPECT_TRUE(ejections_.haveEjected());
  now_ += seconds(10);
  at_ += seconds(10);
  for (int i = 0; i < 3; ++i) fail(1);
  fail(3);
  const EjectedEndpoints both = *ejections_.report(now_);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].endpoint, numbered(1));
  EXPECT_EQ(both[0].since, at_);
  EXPECT_EQ(both[1].endpoint, numbered(2));
  EXPECT_EQ(both[1].since, at_ - seconds(10));
  now_ += seconds(50);
  EXPECT_EQ(ejections_.report(now_)->size(), 1U);
  now_ += minutes(10);
  EXPECT_EQ(ejections_.report(now_), nullptr);
  EXPECT_TRUE(ejections_.haveEjected()) << "before";
}

TEST_F(EndpointEjectionsTest, HeedAnswersOnlyIfTheyMayMatter) {
  EXPECT_FALSE(ejections_.heedsAnswers(bounds_));
  fail(1);
  EXPECT_TRUE(ejections_.heedsAnswers(bounds_));
  answer(1);
  EXPECT_FALSE(ejections_.heedsAnswers(bounds_));
  bounds_.failurePercent = 50;
  EXPECT_TRUE(ejections_.heedsAnswers(bounds_));
}

TEST_F(EndpointEjectionsTest, EndWhenAHealthCheckPasses) {
  for (int i = 0; i < 3; ++i) fail(1);
  ejections_.endEjection(numbered(2), now_);
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.1"));
  ejections_.endEjection(numbered(1), now_);
  EXPECT_THAT(ejected(), testing::IsEmpty());
  EXPECT_FALSE(fail(1));
}

TEST_F(EndpointEjectionsTest, ForgetEndpointsThatHaveGone) {
  bounds_.ejectedPercent = 50;
  service_ = {numbered(1), numbered(2)};
  current_.count = 2;
  for (int i = 0; i < 3; ++i) fail(1);
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.1"));
  service_ = {numbered(3), numbered(4)};
  for (int i = 0; i < 3; ++i) fail(3);
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.1", "10.0.0.3")) << "one of two; the other one has gone";
  now_ += seconds(10);
  answer(4);
  EXPECT_THAT(ejected(), ElementsAre("10.0.0.3"));
}

TEST_F(EndpointEjectionsTest, HeedAnswersNoMoreOnceNothingWasHeardOfAFailureForLong) {
  fail(1);
  now_ += minutes(5) + seconds(1);
  answer(2);
  EXPECT_FALSE(ejections_.heedsAnswers(bounds_));
}

TEST_F(EndpointEjectionsTest, AreRememberedAfterTheirEndThoughNothingWasHeardMeanwhile) {
  bounds_.baseEjection = bounds_.longestEjection;
  for (int i = 0; i < 3; ++i) fail(1);
  now_ += bounds_.longestEjection;
  answer(2);
  EXPECT_TRUE(fail(1)) << "it still fails";
}

TEST_F(EndpointEjectionsTest, AreToldTogetherWithThoseThatFailTheirChecks) {
  const auto failing = std::make_shared<const Endpoints>(Endpoints{numbered(2)});
  EXPECT_EQ(ejections_.ejectedAnd(failing, now_), failing);
  for (int i = 0; i < 3; ++i) fail(1);
  const auto both = ejections_.ejectedAnd(failing, now_);
  EXPECT_THAT(*both, ElementsAre(numbered(1), numbered(2)));
  EXPECT_EQ(ejections_.ejectedAnd(failing, now_), both) << "requests share it";
  for (int i = 0; i < 3; ++i) fail(3);
  EXPECT_EQ(ejections_.ejectedAnd(failing, now_)->size(), 3u);
}

TEST_F(EndpointEjectionsTest, RememberABoundedNumber) {
  bounds_.errors = 1;
  bounds_.baseEjection = bounds_.longestEjection = seconds(1);
  for (int i = 0; i < 10000; ++i) {
    ejections_.onError({"fd00::" + std::to_string(i), 80}, {now_, at_, false}, bounds_, {nullptr, 1'000'000});
  }
  EXPECT_EQ(ejections_.ejectedAnd(nullptr, now_)->size(), 4096u);
}

}  // namespace
}  // namespace sluice::routing
