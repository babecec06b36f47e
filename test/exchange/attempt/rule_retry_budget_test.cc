// A Backend that fails for all requests is not buried under the retries of a rule (retry storm).
#include "test/exchange/attempt/rule_retry_fixture.h"

namespace sluice::exchange {
namespace {

using http::Version;
using test::BackendPeer;
using test::RigOptions;

class RuleRetryBudget : public RuleRetry {
 protected:
  /// Makes the rule retry at once, so that no time passes.
  test::Rig& makeImpatient(std::uint32_t attempts, const routing::RetryBudgetBounds& bounds = {}) {
    RigOptions options = retrying(backendVersion(), attempts);
    options.rule = [bounds, retries = options.rule](routing::Rule& rule) {
      retries(rule);
      rule.retry->bounds = bounds;
      rule.retry->backoff = base::Duration::zero();
    };
    return make(options);
  }
  /// Sends one request, whose attempts all fail.
  void fail() {
    const std::size_t index = get();
    if (backend_ == nullptr) backend_ = &accept(0);
    for (int i = 0; i < 10 && !client_->answer(index).answered; ++i) respond(*backend_, 503, "busy");
    EXPECT_EQ(status(index), 503);
    EXPECT_EQ(client_->answer(index).body, "busy") << "what the backend says, not the gateway";
  }

  BackendPeer* backend_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Versions, RuleRetryBudget,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(RuleRetryBudget, HasRoomForTheRetriesOfAFewRequests) {
  makeImpatient(3);
  for (int i = 0; i < 3; ++i) fail();
  EXPECT_EQ(backend_->requests(), 12U);
  EXPECT_FALSE(limited("retryBudget"));
}

TEST_P(RuleRetryBudget, KeepsARetryForFiveRequestsWhenAllFail) {
  makeImpatient(3);
  for (int i = 0; i < 100; ++i) fail();
  EXPECT_EQ(backend_->requests(), 120U);
  EXPECT_TRUE(limited("retryBudget"));
  EXPECT_EQ(rig_->budget().requests.count(), 0U);
}

TEST_P(RuleRetryBudget, IsThatOfTheRuleIfItHasOne) {
  makeImpatient(3, {.percent = 50, .minPerSecond = 0});
  for (int i = 0; i < 100; ++i) fail();
  EXPECT_EQ(backend_->requests(), 150U);
  EXPECT_TRUE(limited("retryBudget"));
}

/// Constrains the Backend to one retry in an hour.
class ConstrainedRetry : public RuleRetryBudget {
 protected:
  test::Rig& makeConstrained() {
    RigOptions options = retrying(backendVersion(), 1, [](routing::Rule& rule) {
      rule.retry->backoff = base::Duration::zero();
      rule.backends[0].retryConstraint = routing::RetryConstraint{
          0, 1, std::make_shared<const routing::RetryBudget>(std::chrono::seconds(10), std::chrono::hours(1))};
    });
    return make(options);
  }
  void expectConstrained(std::size_t index) {
    EXPECT_EQ(status(index), 503);
    EXPECT_NE(client_->answer(index).body.find("\"limit\":\"retryBudget\""), std::string::npos);
    EXPECT_TRUE(limited("retryBudget"));
    EXPECT_EQ(rig_->told.back().error->type, base::ErrorType::kDestinationUnavailable);
    EXPECT_TRUE(rig_->quiet());
    EXPECT_EQ(rig_->budget().requests.count(), 0U);
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, ConstrainedRetry,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ConstrainedRetry, AnswersForTheBackendOverItsBudget) {
  makeConstrained();
  fail();
  EXPECT_EQ(backend_->requests(), 2U);
  EXPECT_FALSE(limited("retryBudget"));
  const std::size_t index = get();
  respond(*backend_, 503, "busy");
  EXPECT_EQ(client_->answer(index).body.find("busy"), std::string::npos) << "the gateway says it, not the backend";
  expectConstrained(index);
  EXPECT_EQ(backend_->requests(), 3U);
}

TEST_P(ConstrainedRetry, AnswersForABackendThatIsGoneOverItsBudget) {
  test::Rig& rig = makeConstrained();
  const std::size_t first = get();
  for (std::size_t i = 0; i < 2; ++i) {
    rig.wire(i).refuse();
    rig.advancePast();
  }
  EXPECT_EQ(status(first), 503);
  EXPECT_EQ(rig.told.back().error->type, base::ErrorType::kConnectionRefused);
  rig.advance(std::chrono::minutes(1));
  const std::size_t index = get();
  rig.wire(2).refuse();
  ASSERT_TRUE(rig.settle());
  expectConstrained(index);
  EXPECT_EQ(rig.dialled(), 3U);
}

TEST_P(RuleRetryBudget, HasRoomAgainAfterAWhile) {
  makeImpatient(1);
  for (int i = 0; i < 20; ++i) fail();
  ASSERT_EQ(backend_->requests(), 30U);
  rig_->advance(std::chrono::seconds(1));
  fail();
  EXPECT_EQ(backend_->requests(), 32U);
}

}  // namespace
}  // namespace sluice::exchange
