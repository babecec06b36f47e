#include "filters/qos_controller.h"

#include <gtest/gtest.h>

#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using processing::Phase;
using processing::Verdict;
using std::chrono::seconds;
using test::FilterRig;

class QosControllerTest : public ::testing::Test {
 protected:
  QosControllerTest() { rig_.request({}); }

  /// Returns how many of a hundred requests pass at once.
  int passing() {
    int passed = 0;
    for (int i = 0; i < 100; ++i) passed += passes() ? 1 : 0;
    return passed;
  }
  bool passes() { return rig_.run(Phase::kBackendRequest).kind() == Verdict::Kind::kContinue; }

  FilterRig rig_{qosController()};
};

TEST_F(QosControllerTest, AllowsATenthOfAMinutesRequestsAtOnce) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100}"), "");
  EXPECT_EQ(passing(), 10);
  ASSERT_EQ(rig_.make("{requestsPerMinute: 9}"), "");
  EXPECT_EQ(passing(), 1);
  ASSERT_EQ(rig_.make("{requestsPerMinute: 9, burst: 5}"), "");
  EXPECT_EQ(passing(), 5);
}

TEST_F(QosControllerTest, AnswersWith429AndRetryAfterOverTheRate) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 4}"), "");
  EXPECT_TRUE(passes());
  rig_.clock.advance(std::chrono::milliseconds(2500));
  const Verdict verdict = rig_.run(Phase::kBackendRequest);
  ASSERT_EQ(verdict.kind(), Verdict::Kind::kReply);
  EXPECT_EQ(verdict.reply().error.type, base::ErrorType::kRateLimited);
  EXPECT_EQ(verdict.reply().error.status, 429);
  ASSERT_EQ(verdict.reply().fields.size(), 1u);
  EXPECT_EQ(verdict.reply().fields[0].first + ": " + verdict.reply().fields[0].second, "retry-after: 13");
  rig_.clock.advance(seconds(13));
  EXPECT_TRUE(passes());
}

TEST_F(QosControllerTest, CountsARequestInFlightUntilTheExchangeEnds) {
  ASSERT_EQ(rig_.make("{concurrency: 2}"), "");
  EXPECT_EQ(passing(), 2);
  rig_.clock.advance(std::chrono::hours(1));
  EXPECT_EQ(passing(), 0);
  rig_.end();
  EXPECT_EQ(passing(), 2);
}

TEST_F(QosControllerTest, IsNotRefilledByAReload) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100, concurrency: 12}"), "");
  EXPECT_EQ(passing(), 10);
  ASSERT_EQ(rig_.remake("{requestsPerMinute: 100, concurrency: 12}"), "");
  EXPECT_EQ(passing(), 0);
  ASSERT_EQ(rig_.remake("{requestsPerMinute: 200, concurrency: 12}"), "");
  EXPECT_EQ(passing(), 2) << "of the places, ten are taken";
  rig_.end();
  EXPECT_EQ(passing(), 8) << "of the burst of twenty, twelve are used";
}

TEST_F(QosControllerTest, KeepsSeparateBudgetsForOtherUses) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100}"), "");
  EXPECT_EQ(passing(), 10);
  rig_.owner = "Backend demo/other";
  ASSERT_EQ(rig_.remake("{requestsPerMinute: 100}"), "");
  EXPECT_EQ(passing(), 10);
}

TEST_F(QosControllerTest, KeepsOneBudgetPerNamespaceAndOneForUnknownCallers) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100, key: Namespace}"), "");
  rig_.peer.nameSpace = "a";
  EXPECT_EQ(passing(), 10);
  rig_.peer.nameSpace = "b";
  EXPECT_EQ(passing(), 10);
  rig_.peer.nameSpace = "";
  EXPECT_EQ(passing(), 10);
  rig_.peer.address = "192.0.2.77";
  EXPECT_EQ(passing(), 0);
}

TEST_F(QosControllerTest, KeepsOneBudgetPerValueOfAHeader) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100, key: Header, header: X-User}"), "");
  rig_.request({{"x-user", "a"}});
  EXPECT_EQ(passing(), 10);
  rig_.request({{"x-user", "b"}});
  EXPECT_EQ(passing(), 10);
  rig_.request({});
  EXPECT_EQ(passing(), 10);
  EXPECT_EQ(passing(), 0);
}

TEST_F(QosControllerTest, KeepsOneBudgetPerBackendOfARoute) {
  rig_.owner = "HTTPRoute demo/route";
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100}"), "");
  EXPECT_EQ(passing(), 10);
  rig_.place.backend = "demo/other";
  EXPECT_EQ(passing(), 10);
}

TEST_F(QosControllerTest, RefusesInvalidNumbers) {
  EXPECT_EQ(rig_.make("{}"), "InvalidConfig: requestsPerMinute or concurrency is required");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 0}"), "InvalidConfig: requestsPerMinute: is no integer from 1 to 10000000");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 10000000}"), "");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 10000001}"),
            "InvalidConfig: requestsPerMinute: is no integer from 1 to 10000000");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 1, burst: 1000001}"),
            "InvalidConfig: burst: is no integer from 1 to 1000000");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 1, burst: 1000000}"), "");
  EXPECT_EQ(rig_.make("{concurrency: -1}"), "InvalidConfig: concurrency: is no integer from 1 to 1000000");
}

TEST_F(QosControllerTest, RequiresAHeaderForKeyHeaderOnly) {
  EXPECT_EQ(rig_.make("{requestsPerMinute: 1, key: Header}"),
            "InvalidConfig: header: belongs to key Header, which needs it");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 1, header: a}"),
            "InvalidConfig: header: belongs to key Header, which needs it");
  EXPECT_EQ(rig_.make("{requestsPerMinute: 1, key: Header, header: 'a b'}"),
            "InvalidConfig: header: is not the name of a header field");
}

}  // namespace
}  // namespace sluice::filters
