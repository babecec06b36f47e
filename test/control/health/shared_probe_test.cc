// Health checks that share their probes, and those that wait for their turns.
#include "proxy/control/health/shared_probe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "test/control/health/checked_network.h"

namespace sluice::control {
namespace {

using routing::CheckedState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using SharedProbes = CheckedNetwork;

TEST_F(SharedProbes, AsksADestinationOnceForAllBackendsThatLeadToIt) {
  routing::HealthCheckSettings impatient = byHttp();
  impatient.unhealthyThreshold = 1;
  const routing::CheckedBackend one = backendOf("a", 8080, byHttp());
  const routing::CheckedBackend other = backendOf("b", 8080, impatient);
  adopt({one, other});
  answer(200);
  EXPECT_EQ(one.check->state(), CheckedState::kHealthy);
  EXPECT_EQ(other.check->state(), CheckedState::kHealthy);
  answer(503);
  advance(milliseconds(400));  // until the other one is due, too
  EXPECT_EQ(one.check->state(), CheckedState::kHealthy) << "each judges by its own threshold";
  EXPECT_EQ(other.check->state(), CheckedState::kUnhealthy);
  for (int i = 0; i < 2; ++i) answer(503);
  advance(milliseconds(400));
  EXPECT_EQ(one.check->state(), CheckedState::kUnhealthy);
  EXPECT_EQ(probes(), 4U);
  adopt({other});
  answer(200);
  EXPECT_EQ(other.check->state(), CheckedState::kHealthy) << "it goes on without the one that began it";
}

TEST_F(SharedProbes, AsksADestinationOnceASecondHoweverManyChecksThereAre) {
  std::vector<routing::CheckedBackend> checked;
  for (int i = 0; i < 200; ++i) {
    routing::HealthCheckSettings settings = byTcp();
    settings.interval = seconds(1);
    settings.initialJitter = seconds(1);
    settings.unhealthyThreshold = static_cast<std::uint32_t>(1 + i);
    checked.push_back(backendOf("a", 8080, settings));
  }
  adopt(checked);
  for (int i = 0; i < 100; ++i) advance(milliseconds(100));
  EXPECT_GE(dialer_.wires.size(), 8U);
  EXPECT_LE(dialer_.wires.size(), 11U);
  for (const routing::CheckedBackend& each : checked) EXPECT_EQ(each.check->state(), CheckedState::kHealthy);
}

TEST_F(SharedProbes, AsksByItselfIfTheQuestionDiffers) {
  routing::HealthCheckSettings withToken = byHttp();
  withToken.headers = {{"authorization", "Bearer abc"}};
  adopt({backendOf("a", 8080, byHttp()), backendOf("b", 8080, withToken), backendOf("c", 9090, byHttp())});
  advance(seconds(1));
  EXPECT_EQ(probes(), 3U);
  EXPECT_EQ(dialer_.wires.size(), 3U);
}

TEST_F(SharedProbes, AsksNoMoreOftenThanTheRateAllowsAndInTurnsOfTheNamespaces) {
  perSecond_ = 20;
  std::vector<routing::CheckedBackend> checked;
  for (std::uint16_t port = 1; port <= 60; ++port) checked.push_back(backendOf("crowd", port, byTcp()));
  const routing::CheckedBackend victim = backendOf("single", 8080, byTcp());
  checked.push_back(victim);
  adopt(checked);
  const auto pass = [this](int ticks) {
    for (int i = 0; i < ticks; ++i) advance(net::TimerWheel::kTick);
  };
  pass(20);  // a third of a second: all are due after a tenth
  EXPECT_EQ(victim.check->state(), CheckedState::kHealthy) << "one of the others is before it, or none";
  pass(42);
  EXPECT_LE(dialer_.wires.size(), 20U);
  EXPECT_GE(dialer_.wires.size(), 10U);
  EXPECT_GE(hits(), 55);
  pass(330);
  for (const routing::CheckedBackend& each : checked) {
    EXPECT_EQ(each.check->state(), CheckedState::kHealthy) << each.backend->name << " waits, and is not left out";
  }
}

TEST_F(SharedProbes, LetsNoCheckWaitBelowTheRate) {
  perSecond_ = 20;
  adopt({backendOf("a", 1, byTcp()), backendOf("a", 1, byTcp())});
  for (int i = 0; i < 100; ++i) advance(milliseconds(100));
  EXPECT_EQ(hits(), 0);
}

TEST_F(SharedProbes, AsksNothingForACheckThatEndsWhileItWaits) {
  perSecond_ = 1;
  std::vector<routing::CheckedBackend> checked;
  for (std::uint16_t port = 1; port <= 100; ++port) checked.push_back(backendOf("crowd", port, byTcp()));
  adopt(checked);
  advance(milliseconds(200));
  ASSERT_EQ(dialer_.wires.size(), 1U);
  adopt({});
  for (int i = 0; i < 20; ++i) advance(seconds(1));
  EXPECT_EQ(dialer_.wires.size(), 1U);
}

}  // namespace
}  // namespace sluice::control
