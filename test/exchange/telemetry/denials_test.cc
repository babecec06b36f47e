// Tests that a denial is told at the object whose rule or limit it is.
#include "proxy/exchange/telemetry/denials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/exchange/telemetry/told_events.h"

namespace sluice::exchange {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Denials : public EventsOfSteps {
 protected:
  void SetUp() override {
    EventsOfSteps::SetUp();
    options_.listener = [](routing::ServedListener& listener) { listener.object = "EgressGateway demo/egress"; };
  }
  /// The rule's Backend is that of the settings, or an object.
  Rig& towards(const std::string& object, bool ofSettings = false) {
    return with({}, {}, [=](routing::Rule& rule) {
      auto plan = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
      plan->object = object;
      plan->ofSettings = ofSettings;
      rule.backends[0].backend = std::move(plan);
      rule.retry.reset();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, Denials, ::testing::Values(std::tuple(Version::kHttp11, Version::kHttp11)));

TEST_P(Denials, OfAProcessorBelongToTheObjectOfItsUse) {
  with({ofObject(step("limits", Phase::kRequestHeaders, replies(429)), "TrafficPolicy demo/slow")});
  get();
  get();
  EXPECT_THAT(toldEvents(*rig_),
              ElementsAre("Warning RequestDenied TrafficPolicy demo/slow x2: rate_limited: slow down, by limits"));
  with({answering()});
  get();
  EXPECT_THAT(toldEvents(*rig_), IsEmpty()) << "a mistake of the client is no denial";
}

TEST_P(Denials, OfAProcessorsLimitNameAndCountIt) {
  with({ofObject(step("limits", Phase::kRequestHeaders,
                      [](Call&) {
                        return Verdict::reply(
                            {base::Error(base::ErrorType::kRateLimited, base::ErrorOrigin::kProcessor, "slow down")
                                 .ofLimit("qosController"),
                             {}});
                      }),
                 "PayloadProcessor demo/limits")});
  for (int i = 0; i < 3; ++i) get();
  EXPECT_THAT(toldEvents(*rig_), ElementsAre("Warning RequestDenied PayloadProcessor demo/limits x3: rate_limited: "
                                             "slow down (qosController), by limits"));
  EXPECT_NE(rig_->metricsText().find("sluice_limit_hits_total{limit=\"qosController\"} 3\n"), std::string::npos);
}

TEST_P(Denials, OfADestinationBelongToTheBackendOrService) {
  for (const auto& [object, title] : std::vector<std::pair<std::string, std::string>>{
           {"Backend.sluice.dev/demo/api", "Backend demo/api"}, {"Service/demo/web", "Service demo/web"}}) {
    Rig& rig = towards(object);
    rig.resolver.know(Rig::kHost, {"10.0.0.9"});
    get();
    EXPECT_THAT(toldEvents(rig), ElementsAre("Warning RequestDenied " + title +
                                             " x1: destination_ip_prohibited: the backend's address is not allowed"))
        << "it does not name the address, because each one would be another event";
  }
}

TEST_P(Denials, OfALimitBelongToTheBackendThatItBounds) {
  options_.maxRequests = 0;
  const std::string message =
      " x1: connection_limit_reached: too many requests to the backend at once (backendRequests)";
  Rig& rig = towards("Backend.sluice.dev/demo/api");
  get();
  EXPECT_THAT(toldEvents(rig), ElementsAre("Warning RequestDenied Backend demo/api" + message));
  Rig& other = towards("GatewayClass.gateway.networking.k8s.io/auth", /*ofSettings=*/true);
  get();
  EXPECT_THAT(toldEvents(other), ElementsAre("Warning RequestDenied EgressGateway demo/egress" + message))
      << "a server of the settings is no object";
}

}  // namespace
}  // namespace sluice::exchange
