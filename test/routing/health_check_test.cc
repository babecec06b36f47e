#include "proxy/routing/policy/health_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice::routing {
namespace {

using ::testing::ElementsAre;

const Endpoint kOne{"10.0.0.1", 8080};
const Endpoint kTwo{"10.0.0.2", 8080};

TEST(HealthCheck, OfAServiceFailsIfAllItsEndpointsDo) {
  const HealthCheck check({});
  EXPECT_EQ(check.failing(), nullptr);
  check.set({{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kUnknown}});
  EXPECT_EQ(check.state(), CheckedState::kUnknown);
  EXPECT_THAT(*check.failing(), ElementsAre(kOne));
  check.set({{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kHealthy}});
  EXPECT_EQ(check.state(), CheckedState::kHealthy);
  check.set({{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kUnhealthy}});
  EXPECT_TRUE(check.fails());
  EXPECT_THAT(*check.failing(), ElementsAre(kOne, kTwo));
  EXPECT_EQ(check.endpoints().size(), 2U);
}

TEST(HealthCheck, OfAServiceForgetsTheEndpointsThatAreGone) {
  const HealthCheck check({});
  check.set({{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kHealthy}});
  check.set({{kTwo, CheckedState::kHealthy}});
  EXPECT_EQ(check.failing(), nullptr);
  check.set(std::map<Endpoint, CheckedState>());
  EXPECT_EQ(check.state(), CheckedState::kUnknown);
}

TEST(HealthCheckThreads, ReadWhatTheMainThreadFinds) {
  const HealthCheck check({});
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    while (!ended) {
      const auto failing = check.failing();
      EXPECT_TRUE(failing == nullptr || *failing == Endpoints{kOne});
    }
  });
  for (int i = 0; i < 2000; ++i) {
    check.set({{kOne, i % 2 == 0 ? CheckedState::kUnhealthy : CheckedState::kHealthy}, {kTwo, CheckedState::kHealthy}});
  }
  ended = true;
  reader.join();
  EXPECT_EQ(check.state(), CheckedState::kHealthy);
}

}  // namespace
}  // namespace sluice::routing
