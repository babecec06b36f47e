#include "proxy/control/report/backend_events.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace sluice::control {
namespace {

const auto kReach = std::make_shared<const routing::BackendReach>();

compile::BackendHealths stateOf(const std::string& why) {
  compile::BackendHealth health;
  health.object = "Backend.sluice.dev/demo/api";
  health.endpoint = "api.test:443";
  health.reach = kReach;
  health.serves = why.empty();
  health.why = why;
  return {health};
}

std::vector<std::string> toldBetween(const compile::BackendHealths& before, const compile::BackendHealths& now) {
  observe::EventBatch batch;
  noteBackends(before, now, {}, batch);
  std::vector<std::string> told;
  for (const observe::Event& each : batch.take()) {
    told.push_back(each.reason + ", " + each.object + ", " + each.message + ", " + each.matter);
  }
  return told;
}

using Told = std::vector<std::string>;

TEST(BackendEvents, TellOfOutagesTheirReasonsAndTheirEnds) {
  const std::string lost = "BackendUnreachable, Backend demo/api, api.test:443 takes no connections: ";
  EXPECT_EQ(toldBetween(stateOf(""), stateOf("")), Told());
  EXPECT_EQ(toldBetween(stateOf(""), stateOf("refused")), Told{lost + "refused, api.test:443"});
  EXPECT_EQ(toldBetween({}, stateOf("refused")), Told{lost + "refused, api.test:443"}) << "it is new";
  EXPECT_EQ(toldBetween(stateOf("refused"), stateOf("refused")), Told());
  EXPECT_EQ(toldBetween(stateOf("refused"), stateOf("no such name")), Told{lost + "no such name, api.test:443"});
  EXPECT_EQ(toldBetween(stateOf("refused"), stateOf("")),
            Told{"BackendReachable, Backend demo/api, api.test:443 takes connections again, api.test:443"});
}

TEST(BackendEvents, CountFailures) {
  for (int i = 0; i < 4; ++i) {
    kReach->onFailure(base::Error::upstream(base::ErrorType::kConnectionRefused, "refused"), {});
  }
  EXPECT_EQ(toldBetween(stateOf(""), stateOf("refused")),
            Told{"BackendUnreachable, Backend demo/api, api.test:443 takes no connections: refused; 4 failures in a "
                 "row, api.test:443"});
  kReach->onAnswer();
}

}  // namespace
}  // namespace sluice::control
