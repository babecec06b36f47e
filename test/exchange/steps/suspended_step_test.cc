// Tests that operators see which step delays an exchange: its state, the name of the step and its phase.
#include <gmock/gmock.h>

#include "proxy/exchange/exchange_list.h"
#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

using testing::HasSubstr;

class SuspendedStep : public ProcessWait {
 protected:
  std::string listed() {
    const net::Worker::Turn turn(rig_->worker);
    const ExchangeList list = listExchanges(rig_->exchanges, 0, 10);
    return list.oldest.size() == 1 ? list.oldest[0].json : std::to_string(list.oldest.size()) + " exchanges";
  }
  static std::string stateAt(const Spot& spot) {
    switch (spot.phase) {
      case Phase::kRequestHeaders:
      case Phase::kRequestBody:
        return R"("requestState":"second-round","responseState":"waiting")";
      case Phase::kConnect:
        return R"("requestState":"connecting","responseState":"waiting")";
      case Phase::kBackendRequest:
        return R"("requestState":"postponed","responseState":"waiting")";
      case Phase::kBackendResponse:
        return R"("requestState":"sent","responseState":"backend-response")";
      case Phase::kResponseHeaders:
      case Phase::kResponseBody:
        return R"("requestState":"sent","responseState":"response-headers")";
    }
    return {};
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, SuspendedStep,
                         ::testing::Combine(::testing::Values(Version::kHttp11), ::testing::Values(Version::kHttp11)));

TEST_P(SuspendedStep, IsListedWithItsExchange) {
  atEach([&](const Spot& spot) {
    with({stepAt(spot, waits())});
    askFor(*client_);
    serve();
    const std::string seen = listed();
    EXPECT_THAT(seen, HasSubstr(stateAt(spot)));
    const std::string phase(processing::phaseName(spot.phase));
    EXPECT_THAT(seen, HasSubstr(R"("step":"step","phase":")" + phase + "\""));
    EXPECT_THAT(seen, HasSubstr(R"("waitingFor":"processor")"));
    resume();
    serve();
    expectOver(1);
  });
}

TEST_P(SuspendedStep, BeforeAuthenticationShowsTheRoundItRunsIn) {
  for (const auto& [scope, state] : {std::pair{Scope::kRoute, "first-round"}, {Scope::kBackend, "tentative"}}) {
    forget();
    SetUp();
    Step early = stepAt({Phase::kRequestHeaders, BodyMode::kNone}, waits(), 0, scope);
    early.preAuth = true;
    const Step passing = stepAt({Phase::kRequestHeaders, BodyMode::kNone}, goesOn());
    scope == Scope::kRoute ? with({early}) : with({passing}, {early});
    askFor(*client_);
    EXPECT_THAT(listed(), HasSubstr(std::string(R"("requestState":")") + state + "\""));
    resume();
    serve();
    expectOver(1);
  }
}

}  // namespace
}  // namespace sluice::exchange
