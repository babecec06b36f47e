#include "filters/qos_controller.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

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
  EXPECT_EQ(verdict.reply().error.limit, "qosController");
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

TEST_F(QosControllerTest, KeepsOneBudgetPerServiceAccountAndOneForCallersWithoutOne) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100, key: ServiceAccount}"), "");
  EXPECT_EQ(passing(), 10);
  rig_.peer.nameSpace = "other";
  EXPECT_EQ(passing(), 10) << "an account of that name in another namespace";
  rig_.peer.principal = "spiffe://b.test/else";
  EXPECT_EQ(passing(), 0);
  rig_.peer.serviceAccount = "";
  EXPECT_EQ(passing(), 10);
  rig_.peer = {"192.0.2.77", {}, {}};
  EXPECT_EQ(passing(), 0);
}

TEST_F(QosControllerTest, KeepsOneBudgetPerPrincipal) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100, key: Principal}"), "");
  EXPECT_EQ(passing(), 10);
  rig_.peer.principal = "spiffe://b.test/else";
  EXPECT_EQ(passing(), 10);
  rig_.peer.nameSpace = "other";
  EXPECT_EQ(passing(), 0);
}

TEST_F(QosControllerTest, GivesAKeyTheNumbersOfItsOverride) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 100, concurrency: 9, key: ServiceAccount, overrides: ["
                      "{key: apps/worker, requestsPerMinute: 200}, {key: apps/few, concurrency: 3},"
                      "{key: apps/once, requestsPerMinute: 200, burst: 1}, {key: '', requestsPerMinute: 1}]}"),
            "");
  const auto passingAs = [this](std::string_view account) {
    rig_.peer.serviceAccount = account;
    return passing();
  };
  EXPECT_EQ(passingAs("worker"), 20) << "no concurrency is given, so there is no limit of it";
  EXPECT_EQ(passingAs("few"), 3);
  EXPECT_EQ(passingAs("once"), 1);
  EXPECT_EQ(passingAs("other"), 9) << "the numbers of the use";
  EXPECT_EQ(passingAs(""), 1) << "callers without an account";
  rig_.end();
  EXPECT_EQ(passingAs("few"), 3);
  EXPECT_EQ(passingAs("worker"), 0);
}

TEST_F(QosControllerTest, TakesTheTextThatTheKeyGivesForAnOverride) {
  const auto overriding = [](const std::string& key, const std::string& of) {
    return "{requestsPerMinute: 100, " + key + ", overrides: [{key: '" + of + "', requestsPerMinute: 300}]}";
  };
  ASSERT_EQ(rig_.make(overriding("key: Namespace", "apps")), "");
  EXPECT_EQ(passing(), 30);
  ASSERT_EQ(rig_.make(overriding("key: Principal", "spiffe://a.test/ns/apps/sa/worker")), "");
  EXPECT_EQ(passing(), 30);
  ASSERT_EQ(rig_.make(overriding("key: Backend", "demo/api")), "");
  EXPECT_EQ(passing(), 30) << "the Backend that has the use";
  rig_.owner = "HTTPRoute demo/route";
  ASSERT_EQ(rig_.make(overriding("key: Backend", "demo/api")), "");
  EXPECT_EQ(passing(), 30);
  rig_.place.backend = "demo/other";
  EXPECT_EQ(passing(), 10);
  rig_.request({{"x-user", "a"}});
  ASSERT_EQ(rig_.make(overriding("key: Header, header: X-User", "a")), "");
  EXPECT_EQ(passing(), 30);
}

TEST_F(QosControllerTest, GivesTwoAccountsUnderLoadExactlyTheirBudgets) {
  ASSERT_EQ(rig_.make("{requestsPerMinute: 60, key: ServiceAccount, overrides: ["
                      "{key: apps/large, requestsPerMinute: 600}, {key: apps/small, requestsPerMinute: 120}]}"),
            "");
  std::map<std::string, int> passed;
  for (int step = 0; step <= 240; ++step) {
    for (const char* account : {"large", "small", "other", "another"}) {
      rig_.peer.serviceAccount = account;
      for (int i = 0; i < 70; ++i) passed[account] += passes() ? 1 : 0;
    }
    rig_.clock.advance(std::chrono::milliseconds(250));
  }
  // The burst, and a minute of the rate.
  EXPECT_EQ(passed["large"], 60 + 600);
  EXPECT_EQ(passed["small"], 12 + 120);
  EXPECT_EQ(passed["other"], 6 + 60);
  EXPECT_EQ(passed["another"], 6 + 60);
}

TEST_F(QosControllerTest, KeepsTheBudgetOfAnOverrideOverAReload) {
  const auto config = [](const std::string& perMinute) {
    return "{requestsPerMinute: 1, key: Namespace, overrides: [{key: apps, requestsPerMinute: " + perMinute + "}]}";
  };
  ASSERT_EQ(rig_.make(config("100")), "");
  EXPECT_EQ(passing(), 10);
  ASSERT_EQ(rig_.remake(config("100")), "");
  EXPECT_EQ(passing(), 0);
  ASSERT_EQ(rig_.remake(config("200")), "");
  EXPECT_EQ(passing(), 10) << "of the burst of twenty, ten are used";
}

TEST_F(QosControllerTest, RefusesOverridesThatCannotApply) {
  const auto refusal = [this](const std::string& overrides) {
    return rig_.make("{requestsPerMinute: 1, key: Namespace, overrides: [" + overrides + "]}");
  };
  EXPECT_EQ(refusal("{key: a, concurrency: 1}, {key: b, concurrency: 1}, {key: a, requestsPerMinute: 2}"),
            "InvalidConfig: overrides[2].key: has an override already");
  EXPECT_EQ(refusal("{key: a, requestsPerMinute: 10000001}"),
            "InvalidConfig: overrides[0].requestsPerMinute: is no integer from 1 to 10000000");
  EXPECT_EQ(refusal("{key: a, burst: 5}"),
            "InvalidConfig: overrides[0].requestsPerMinute: is required unless there is a concurrency");
  EXPECT_EQ(refusal("{concurrency: 1}"), "InvalidConfig: overrides[0].key: is required");
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
  EXPECT_EQ(rig_.make("{}"), "InvalidConfig: requestsPerMinute: is required unless there is a concurrency");
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
