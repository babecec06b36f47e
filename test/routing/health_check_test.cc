#include "proxy/routing/policy/health_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace sluice::routing {
namespace {

using ::testing::ElementsAre;

const Endpoint kOne{"10.0.0.1", 8080};
const Endpoint kTwo{"10.0.0.2", 8080};

class HealthCheckTest : public testing::Test {
 protected:
  static HealthCheck::Checks made(std::size_t count) {
    HealthCheck::Checks checks;
    for (std::size_t i = 0; i < count; ++i)
      checks.push_back(std::make_shared<const ActiveCheck>(HealthCheckSettings()));
    return checks;
  }
  void set(std::size_t index, EndpointStates states) const {
    two_.checks().at(index)->set(std::move(states));
    two_.update();
  }
  void set(std::size_t index, CheckedState state) const {
    two_.checks().at(index)->set(state);
    two_.update();
  }

  const HealthCheck two_{made(2)};
};

void setEndpoints(const HealthCheck& check, EndpointStates states) {
  check.checks().front()->set(std::move(states));
  check.update();
}

TEST_F(HealthCheckTest, KnowsWhenABackendBeganOrCeasedToFail) {
  const HealthCheck check(made(1));
  const base::WallTime first{std::chrono::seconds(1)};
  const auto found = [&check](CheckedState state, base::WallTime at) {
    check.checks().front()->set(state);
    check.update(at);
    return check.changedAt(std::nullopt);
  };
  EXPECT_EQ(found(CheckedState::kHealthy, first), base::WallTime{}) << "it has not failed before";
  EXPECT_EQ(found(CheckedState::kUnhealthy, first), first);
  EXPECT_EQ(found(CheckedState::kUnhealthy, first + std::chrono::seconds(1)), first);
  EXPECT_EQ(found(CheckedState::kHealthy, first + std::chrono::seconds(2)), first + std::chrono::seconds(2));
}

TEST_F(HealthCheckTest, KnowsWhenAnEndpointBeganOrCeasedToFail) {
  const HealthCheck check(made(1));
  const base::WallTime first{std::chrono::seconds(1)};
  const auto found = [&check](EndpointStates states, base::WallTime at) {
    check.checks().front()->set(std::move(states));
    check.update(at);
  };
  found({{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kUnknown}}, first);
  EXPECT_EQ(check.changedAt(kOne), first);
  EXPECT_EQ(check.changedAt(kTwo), base::WallTime{});
  const base::WallTime second = first + std::chrono::seconds(1);
  found({{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kUnhealthy}}, second);
  EXPECT_EQ(check.changedAt(kOne), first);
  EXPECT_EQ(check.changedAt(kTwo), second);
  found({{kOne, CheckedState::kHealthy}}, second + std::chrono::seconds(1));
  EXPECT_EQ(check.changedAt(kOne), second + std::chrono::seconds(1));
  EXPECT_EQ(check.changedAt(kTwo), base::WallTime{}) << "it has gone";
}

TEST_F(HealthCheckTest, OfAServiceFailsIfAllItsEndpointsDo) {
  const HealthCheck check(made(1));
  EXPECT_EQ(check.failing(), nullptr);
  setEndpoints(check, {{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kUnknown}});
  EXPECT_EQ(check.state(), CheckedState::kUnknown);
  EXPECT_THAT(*check.failing(), ElementsAre(kOne));
  EXPECT_EQ(check.stateOf(kOne), CheckedState::kUnhealthy);
  setEndpoints(check, {{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kHealthy}});
  EXPECT_EQ(check.state(), CheckedState::kHealthy);
  setEndpoints(check, {{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kUnhealthy}});
  EXPECT_TRUE(check.fails());
  EXPECT_THAT(*check.failing(), ElementsAre(kOne, kTwo));
  EXPECT_EQ(check.endpoints().size(), 2U);
}

TEST_F(HealthCheckTest, OfAServiceForgetsTheEndpointsThatAreGone) {
  const HealthCheck check(made(1));
  setEndpoints(check, {{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kHealthy}});
  setEndpoints(check, {{kTwo, CheckedState::kHealthy}});
  EXPECT_EQ(check.failing(), nullptr);
  EXPECT_EQ(check.stateOf(kOne), CheckedState::kUnknown);
  setEndpoints(check, {});
  EXPECT_EQ(check.state(), CheckedState::kUnknown);
}

TEST_F(HealthCheckTest, OfABackendPassesIfAllItsChecksDo) {
  EXPECT_EQ(two_.state(), CheckedState::kUnknown);
  set(0, CheckedState::kHealthy);
  EXPECT_EQ(two_.state(), CheckedState::kUnknown) << "the other one has no result yet";
  EXPECT_EQ(two_.stateOf(std::nullopt), CheckedState::kUnknown);
  set(1, CheckedState::kHealthy);
  EXPECT_EQ(two_.state(), CheckedState::kHealthy);
  set(0, CheckedState::kUnhealthy);
  EXPECT_TRUE(two_.fails());
  set(1, CheckedState::kUnhealthy);
  set(0, CheckedState::kHealthy);
  EXPECT_TRUE(two_.fails());
}

TEST_F(HealthCheckTest, OfAnEndpointPassesIfAllItsChecksDo) {
  set(0, {{kOne, CheckedState::kHealthy}, {kTwo, CheckedState::kUnhealthy}});
  EXPECT_EQ(two_.stateOf(kOne), CheckedState::kUnknown) << "the other one does not know it yet";
  EXPECT_THAT(*two_.failing(), ElementsAre(kTwo));
  set(1, {{kOne, CheckedState::kHealthy}, {kTwo, CheckedState::kHealthy}});
  EXPECT_EQ(two_.stateOf(kOne), CheckedState::kHealthy);
  EXPECT_THAT(*two_.failing(), ElementsAre(kTwo));
  EXPECT_EQ(two_.state(), CheckedState::kHealthy);
  set(1, {{kOne, CheckedState::kUnhealthy}, {kTwo, CheckedState::kHealthy}});
  EXPECT_THAT(*two_.failing(), ElementsAre(kOne, kTwo)) << "each fails one of the checks";
  EXPECT_TRUE(two_.fails());
  set(0, EndpointStates());
  EXPECT_THAT(*two_.failing(), ElementsAre(kOne));
}

TEST_F(HealthCheckTest, BeginsWithWhatItsChecksHaveFound) {
  set(0, CheckedState::kUnhealthy);
  HealthCheck::Checks others = made(1);
  others.push_back(two_.checks().front());
  EXPECT_TRUE(HealthCheck(others).fails());
  set(0, CheckedState::kUnknown);
  set(0, {{kOne, CheckedState::kUnhealthy}});
  EXPECT_THAT(*HealthCheck(others).failing(), ElementsAre(kOne));
}

class HealthCheckThreads : public HealthCheckTest {};

TEST_F(HealthCheckThreads, ReadWhatTheMainThreadFinds) {
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    while (!ended) {
      const auto failing = two_.failing();
      EXPECT_TRUE(failing == nullptr || *failing == Endpoints{kOne});
      EXPECT_NE(two_.checks().front()->endpoints().size(), 1U);
    }
  });
  set(1, {{kOne, CheckedState::kHealthy}, {kTwo, CheckedState::kHealthy}});
  for (int i = 0; i < 2000; ++i) {
    const CheckedState one = i % 2 == 0 ? CheckedState::kUnhealthy : CheckedState::kHealthy;
    set(0, {{kOne, one}, {kTwo, CheckedState::kHealthy}});
  }
  ended = true;
  reader.join();
  EXPECT_EQ(two_.state(), CheckedState::kHealthy);
}

}  // namespace
}  // namespace sluice::routing
