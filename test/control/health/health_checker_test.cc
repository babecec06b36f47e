#include "proxy/control/health/health_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/control/health/checked_network.h"

namespace sluice::control {
namespace {

using routing::CheckedState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

using HealthCheckerTest = CheckedNetwork;

TEST_F(HealthCheckerTest, TakesTheFirstResultAtOnceAndLaterOnesWhenEnoughAgree) {
  const routing::CheckedBackend checked = backend(byHttp());
  adopt({checked});
  EXPECT_EQ(checked.check->state(), CheckedState::kUnknown);
  answer(503);
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
  answer(200);
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  answer(503);
  answer(503);
  answer(200);
  answer(503);
  answer(503);
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  answer(503);
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
  EXPECT_THAT(told_, ElementsAre("demo/backend: it answered with status 503", "demo/backend serves",
                                 "demo/backend: it answered with status 503"));
}

TEST_F(HealthCheckerTest, UsesOneConnectionAsLongAsItServesAndAnotherOneAfterAFailure) {
  adopt({backend(byHttp())});
  for (int i = 0; i < 3; ++i) answer(200);
  EXPECT_EQ(dialer_.wires.size(), 1u);
  answer(503);
  answer(200);
  EXPECT_EQ(dialer_.wires.size(), 2u);
}

TEST_F(HealthCheckerTest, FindsThatABackendIsReachableAgainIfRequestsGoThere) {
  const auto reach = std::make_shared<const routing::BackendReach>();
  auto known = std::make_shared<routing::BackendPlan>(*plan());
  known->reach = reach;
  routing::HealthCheckSettings elsewhere = byHttp();
  elsewhere.port = 9090;
  for (const bool isSamePort : {false, true}) {
    reach->onFailure(base::Error::upstream(base::ErrorType::kConnectionRefused, "connection refused"), {});
    adopt({{known, sluice::test::checkedBy(isSamePort ? byHttp() : elsewhere), {}}});
    answer(503);
    EXPECT_GT(reach->failures().count, 0u);
    answer(200);
    EXPECT_EQ(reach->failures().count > 0, !isSamePort);
  }
}

TEST_F(HealthCheckerTest, SaysWhyABackendIsUnhealthy) {
  const routing::CheckedBackend checked = backend(byHttp());
  adopt({checked});
  answer(503);
  EXPECT_EQ(checked.check->checks().front()->why(), "it answered with status 503");
  answer(200);
  EXPECT_EQ(checked.check->checks().front()->why(), "");
}

TEST_F(HealthCheckerTest, FailsWhenTheTimeIsUp) {
  const routing::CheckedBackend checked = backend(byHttp());
  adopt({checked});
  for (int i = 0; i < 10 && probes() == 0; ++i) advance(milliseconds(100));
  ASSERT_EQ(probes(), 1u);
  advance(milliseconds(900));
  EXPECT_EQ(checked.check->state(), CheckedState::kUnknown);
  advance(milliseconds(200));
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
}

TEST_F(HealthCheckerTest, ConnectsAndHangsUpByTcp) {
  const routing::CheckedBackend checked = backend(byTcp());
  adopt({checked});
  advance(seconds(1));
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  EXPECT_EQ(dialer_.wires.size(), 1u);
  refuses_ = true;
  for (int i = 0; i < 3; ++i) advance(seconds(4));
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
  EXPECT_EQ(dialer_.wires.size(), 4u);
}

TEST_F(HealthCheckerTest, ExpectsBytesOfTheBody) {
  routing::HealthCheckSettings settings = byHttp();
  settings.expected = "fine";
  const routing::CheckedBackend checked = backend(settings);
  adopt({checked});
  answer(200, "all is fine here");
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  for (int i = 0; i < 3; ++i) answer(200, "overloaded");
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
  EXPECT_THAT(told_.back(), testing::HasSubstr("its answer lacks what is expected"));
}

TEST_F(HealthCheckerTest, AsksLessOftenWhileABackendFailsIfTheSettingsSaySo) {
  routing::HealthCheckSettings settings = byHttp();
  settings.unhealthyInterval = seconds(60);
  const routing::CheckedBackend checked = backend(settings);
  adopt({checked});
  answer(503);
  const std::size_t before = probes();
  advance(seconds(30));
  EXPECT_EQ(probes(), before);
  advance(seconds(40));
  EXPECT_EQ(probes(), before + 1);
}

TEST_F(HealthCheckerTest, TriesEachAddressByTcp) {
  resolver_.know("backend.test", {"192.0.2.1", "192.0.2.2"});
  refused_ = 1;
  const routing::CheckedBackend checked = backend(byTcp());
  adopt({checked});
  advance(seconds(1));
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  EXPECT_EQ(dialer_.wires.size(), 2u);
}

TEST_F(HealthCheckerTest, AsksEachEndpointOfAServiceByItself) {
  refused_ = 1;
  routing::CheckedBackend checked = backend(byTcp());
  const auto leadTo = [&](const std::vector<routing::Endpoint>& endpoints) {
    auto plan = std::make_shared<routing::BackendPlan>(*checked.backend);
    plan->endpoints = endpoints;
    checked.backend = plan;
    adopt({checked});
  };
  const routing::Endpoint one{"192.0.2.7", 8080};
  const routing::Endpoint two{"192.0.2.8", 8080};
  leadTo({one, two});
  advance(seconds(1));
  ASSERT_EQ(dialer_.wires.size(), 2U);
  const std::string failed = dialer_.wires.at(0)->address().ip();
  const routing::Endpoint& failing = failed == one.ip ? one : two;
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  EXPECT_THAT(*checked.check->failing(), ElementsAre(failing));
  EXPECT_THAT(told_, testing::Contains(testing::StartsWith("demo/backend at " + failed + ": ")));
  leadTo({failing});
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy) << "the other one is gone";
  advance(seconds(4));
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  EXPECT_EQ(checked.check->failing(), nullptr);
  leadTo({});
  EXPECT_EQ(checked.check->state(), CheckedState::kUnknown);
}

TEST_F(HealthCheckerTest, AsksNoMoreThan256EndpointsOfAService) {
  routing::CheckedBackend checked = backend(byTcp());
  auto plan = std::make_shared<routing::BackendPlan>(*checked.backend);
  plan->endpoints.emplace();
  for (std::uint16_t port = 1; port <= 300; ++port) plan->endpoints->push_back({"192.0.2.7", port});
  checked.backend = plan;
  adopt({checked});
  advance(seconds(1));
  EXPECT_EQ(dialer_.wires.size(), 256U);
  EXPECT_EQ(checked.check->endpoints().size(), 256U);
}

TEST_F(HealthCheckerTest, AsksNoMoreOftenIfAProbeFailsAtOnce) {
  resolver_.know("backend.test", base::Error::upstream(base::ErrorType::kDnsError, "backend.test: not found"));
  const routing::CheckedBackend checked = backend(byTcp());
  adopt({checked});
  advance(seconds(1));
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
  resolver_.know("backend.test", {"192.0.2.1"});
  advance(seconds(1));
  EXPECT_EQ(dialer_.wires.size(), 0u) << "it was found a second ago";
  advance(seconds(3));
  EXPECT_EQ(dialer_.wires.size(), 1u);
}

TEST_F(HealthCheckerTest, EndsTheEjectionOfABackendWhoseChecksFailedAndPassAgain) {
  routing::CheckedBackend checked = backend(byHttp());
  const auto health = std::make_shared<routing::AnswerHealth>();
  checked.answers = {health};
  adopt({checked});
  answer(503);
  const base::MonotonicTime now{std::chrono::hours(1)};
  const auto eject = [&] {
    health->eject(now, {.baseEjection = std::chrono::hours(1), .longestEjection = std::chrono::hours(1)});
  };
  eject();
  answer(200);
  EXPECT_EQ(health->state(now), routing::AnswerHealth::State::kServes);
  eject();
  answer(200);
  EXPECT_EQ(health->state(now), routing::AnswerHealth::State::kEjected) << "it was healthy all the time";
  answer(503);
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy) << "one failure is too few";
  answer(200);
  EXPECT_EQ(health->state(now), routing::AnswerHealth::State::kServes);
}

TEST_F(HealthCheckerTest, GoesOnOverReloadsAndEndsWithTheCheck) {
  const routing::CheckedBackend checked = backend(byHttp());
  adopt({checked});
  answer(200);
  adopt({checked, backend(byTcp())});
  EXPECT_EQ(checker_.checked().size(), 2u);
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  const std::size_t before = probes();
  adopt({});
  for (int i = 0; i < 20; ++i) advance(seconds(1));
  EXPECT_EQ(probes(), before);
  EXPECT_THAT(checker_.checked(), IsEmpty());
}

TEST_F(HealthCheckerTest, EndsAProbeThatIsUnderWayWithItsCheck) {
  adopt({backend(byHttp())});
  for (int i = 0; i < 10 && probes() == 0; ++i) advance(milliseconds(100));
  ASSERT_EQ(probes(), 1u);
  adopt({});
  advance(seconds(10));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(HealthCheckerTest, TellsOfEachFailureAndEachChange) {
  adopt({backend(byHttp())});
  for (const std::uint16_t status : std::vector<std::uint16_t>{200, 503, 503, 503, 503, 200, 200}) answer(status);
  EXPECT_THAT(results_,
              ElementsAre("/healthz passes, a change, all pass", "/healthz fails", "/healthz fails",
                          "/healthz fails, a change", "/healthz fails", "/healthz passes, a change, all pass"));
}

TEST_F(HealthCheckerTest, FindsABackendHealthyIfAllItsChecksPass) {
  const routing::CheckedBackend checked = backend(patient("/a"), patient("/b"));
  adopt({checked});
  answerAt("/a", 200);
  EXPECT_EQ(checked.check->state(), CheckedState::kUnknown);
  answerAt("/b", 200);
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  for (int i = 0; i < 3; ++i) answerAt("/a", 503);
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
  for (int i = 0; i < 3; ++i) answerAt("/b", 404);
  answerAt("/a", 200);
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy) << "the other one fails";
  answerAt("/b", 200);
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy);
  EXPECT_THAT(told_,
              ElementsAre("demo/backend serves", "demo/backend: it answered with status 503", "demo/backend serves"));
  EXPECT_THAT(results_,
              testing::IsSupersetOf({"/a passes, a change", "/b passes, a change, all pass", "/b fails, a change"}));
}

TEST_F(HealthCheckerTest, CountsTheResultsOfEachCheckByItself) {
  const routing::CheckedBackend checked = backend(patient("/a"), patient("/b"));
  adopt({checked});
  answerAt("/a", 200);
  answerAt("/b", 200);
  for (int i = 0; i < 2; ++i) {
    answerAt("/a", 503);
    answerAt("/b", 503);
  }
  EXPECT_EQ(checked.check->state(), CheckedState::kHealthy) << "four failures, but two of each";
  answerAt("/b", 503);
  EXPECT_EQ(checked.check->state(), CheckedState::kUnhealthy);
}

TEST_F(HealthCheckerTest, ChecksAtThePaceOfEachCheck) {
  adopt({backend(patient("/seldom", std::chrono::hours(1)), patient("/often"))});
  answerAt("/seldom", 200);
  for (int i = 0; i < 5; ++i) answerAt("/often", 200);
  EXPECT_EQ(probes(), 6u);
  EXPECT_EQ(dialer_.wires.size(), 2u) << "each has connections of its own";
}

TEST_F(HealthCheckerTest, KeepsTheStateOfACheckIfAnotherOneComes) {
  const routing::CheckedBackend before = backend(patient("/a"), patient("/b"));
  adopt({before});
  answerAt("/b", 200);
  answerAt("/a", 503);
  routing::HealthCheck::Checks checks = backend(patient("/c")).check->checks();
  checks.push_back(before.check->checks().front());
  const routing::CheckedBackend after{before.backend, std::make_shared<const routing::HealthCheck>(checks), {}};
  EXPECT_TRUE(after.check->fails());
  adopt({after});
  answerAt("/c", 200);
  EXPECT_TRUE(after.check->fails());
  answerAt("/a", 200);
  EXPECT_EQ(after.check->state(), CheckedState::kHealthy);
}

TEST_F(HealthCheckerTest, AsksOnceForAllThatShareACheck) {
  const routing::CheckedBackend two = backend(patient("/a"), patient("/b"));
  const routing::CheckedBackend one{
      two.backend,
      std::make_shared<const routing::HealthCheck>(routing::HealthCheck::Checks{two.check->checks()[0]}),
      {}};
  adopt({one, two});
  answerAt("/b", 503);
  answerAt("/a", 200);
  EXPECT_EQ(one.check->state(), CheckedState::kHealthy);
  EXPECT_TRUE(two.check->fails());
  EXPECT_EQ(dialer_.wires.size(), 2u);
  answerAt("/b", 200);
  EXPECT_EQ(two.check->state(), CheckedState::kHealthy);
  EXPECT_THAT(told_, ElementsAre("demo/backend: it answered with status 503", "demo/backend serves"));
}

TEST_F(HealthCheckerTest, EndsEjectionsWhenNoCheckFailsAnyMore) {
  routing::CheckedBackend checked = backend(patient("/a"), patient("/b"));
  const auto health = std::make_shared<routing::AnswerHealth>();
  checked.answers = {health};
  adopt({checked});
  answerAt("/a", 503);
  answerAt("/b", 503);
  const base::MonotonicTime now{std::chrono::hours(1)};
  health->eject(now, {.baseEjection = std::chrono::hours(1), .longestEjection = std::chrono::hours(1)});
  answerAt("/a", 200);
  EXPECT_EQ(health->state(now), routing::AnswerHealth::State::kEjected);
  answerAt("/b", 200);
  EXPECT_EQ(health->state(now), routing::AnswerHealth::State::kServes);
}

TEST_F(HealthCheckerTest, SendsTheHeadersOfACheck) {
  routing::HealthCheckSettings settings = byHttp();
  settings.headers = {{"authorization", "Bearer abc"}, {"x-a", "1"}, {"x-a", "2"}, {"user-agent", "checker"}};
  adopt({backend(settings)});
  answer(200);
  const http::RequestHead& head = peers_.at(0)->request(0).message.head;
  std::vector<std::string> fields;
  for (const http::Field& each : head.headers)
    fields.push_back(std::string(each.name) + ": " + std::string(each.value));
  EXPECT_THAT(fields, testing::IsSupersetOf({"authorization: Bearer abc", "x-a: 1", "x-a: 2", "user-agent: checker"}));
  EXPECT_THAT(fields, testing::Not(testing::Contains("user-agent: sluice")));
  EXPECT_EQ(head.authority, "backend.test:8080");
}

}  // namespace
}  // namespace sluice::control
