// Tests that gateways in a row do not multiply their attempts: the first gateway does not retry a request for which the
// second one has used up its attempts.
#include <string>

#include "test/exchange/attempt/rule_retry_fixture.h"

namespace sluice::exchange {
namespace {

using http::Version;
using test::BackendPeer;

constexpr const char* kOtherGateway = "1.1 sluice-other";
constexpr const char* kFinalWord = "sluice-behind; received-status=503";

class RuleRetryChain : public RuleRetry {
 protected:
  /// Answers the last request with a status and a Proxy-Status.
  void respondMarked(BackendPeer& backend, std::uint16_t status, const std::string& mark) {
    const std::size_t index = backend.requests() - 1;
    backend.request(index).response.finish();
    backend.head(index, {.fields = {{"proxy-status", mark}}, .status = status});
    ASSERT_TRUE(rig_->settle());
  }
  std::size_t getFromGateway(const std::string& target = "/ok") {
    return ask({.target = target, .fields = {{"via", kOtherGateway}}});
  }
  /// Returns the Proxy-Status of the client's response; "none" if it has none.
  std::string told(std::size_t index) {
    const http::Field* field = client_->answer(index).message.head.headers.find("proxy-status");
    return field != nullptr ? std::string(field->value) : "none";
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, RuleRetryChain,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(RuleRetryChain, DoesNotRetryWhatAGatewayBehindHasMarkedAsFinal) {
  make();
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respondMarked(backend, 503, kFinalWord);
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(told(index), "none") << "the client is no gateway";
  passBackoff();
  EXPECT_EQ(backend.requests(), 1U);
  expectTold(503, 1);
}

TEST_P(RuleRetryChain, RetriesAnErrorThatAnotherProxyReports) {
  make(1);
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respondMarked(backend, 503, "cache.example; received-status=503");
  EXPECT_FALSE(client_->answer(index).answered);
  passBackoff();
  respondMarked(backend, 503, "cache.example; received-status=503");
  EXPECT_EQ(told(index), "cache.example; received-status=503") << "it is not of this gateway's making";
  expectTold(503, 2);
}

TEST_P(RuleRetryChain, MarksAFailureAfterAllAttemptsAsFinal) {
  make(1);
  const std::size_t index = getFromGateway();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "busy");
  EXPECT_FALSE(client_->answer(index).answered);
  passBackoff();
  respond(backend, 503, "busy");
  EXPECT_EQ(told(index), "sluice-rig; received-status=503");
  expectTold(503, 2);
}

TEST_P(RuleRetryChain, MarksALastFailureOfAnotherKindAsFinal) {
  make();
  const std::size_t index = getFromGateway();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "busy");
  passBackoff();
  respond(backend, 500, "broken");
  EXPECT_EQ(told(index), "sluice-rig; received-status=500") << "it has been tried twice, whatever the last answer is";
}

TEST_P(RuleRetryChain, LeavesTheAttemptsToTheGatewayBeforeItIfItMakesNone) {
  make(speaking(backendVersion()));
  const std::size_t index = getFromGateway();
  respond(accept(0), 503, "busy");
  EXPECT_EQ(told(index), "none");
}

TEST_P(RuleRetryChain, MarksNoSuccess) {
  make();
  const std::size_t index = getFromGateway();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "busy");
  passBackoff();
  respond(backend, 200, "hello");
  EXPECT_EQ(told(index), "none");
}

TEST_P(RuleRetryChain, MarksItsOwnErrorsAsFinal) {
  make(0);
  const std::size_t index = getFromGateway();
  rig_->wire(0).refuse();
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(told(index), "sluice-rig; error=connection_refused");
  EXPECT_EQ(told(getFromGateway("/broken")), "sluice-rig; error=proxy_configuration_error");
  EXPECT_EQ(told(ask({.target = "/broken"})), "none") << "the client is no gateway";
}

TEST_P(RuleRetryChain, RefusesARequestInALoop) {
  make();
  const std::size_t index = ask({.target = "/ok", .fields = {{"via", "1.1 sluice-rig, 1.1 sluice-other"}}});
  EXPECT_EQ(status(index), 508);
  EXPECT_EQ(told(index), "sluice-rig; error=proxy_loop_detected") << "so that nobody tries it again";
  EXPECT_EQ(rig_->dialled(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
