// Tests each field of passive health checks through the binary, in every kind and form of policy: how many requests a
// failing Backend gets until it is ejected, and when it gets another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr const char* kBusyAnswer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kBrokenAnswer = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

/// "failing" gets all requests until it is ejected, and then "spare" gets them.
class EjectionFields : public testing::Test {
 protected:
  void start(const SpelledPolicy& policy) {
    GatewaySpec spec;
    spec.backends = {{.name = "failing", .hostname = "failing.test", .port = failing_.port()},
                     {.name = "spare", .hostname = "spare.test", .port = spare_.port()}};
    spec.settings = onlyTimeouts("connect: 24h");
    spec.startedBy = time_.startedBy();
    spec.routes = routeOfRules("    - backendRefs: [" + backendRef("failing", ", weight: 1000000") + ", " +
                               backendRef("spare", ", weight: 1") + "]\n") +
                  policy.forTarget("kind: HTTPRoute, name: all");
    gateway_ = std::make_unique<GatewayProcess>(spec);
    before_ = failing_.heads().size();
  }
  /// Sends so many requests, and returns how many of all since the start went to the Backend that fails.
  std::size_t failingAfter(int requests) const {
    for (int i = 0; i < requests; ++i) askRaw(gateway_->port());
    return failing_.heads().size() - before_;
  }
  void pass(int time) { time_.pass(*gateway_, seconds(time)); }

  std::atomic<bool> isBroken_ = false;     // answers 500 instead of 503
  std::atomic<bool> isFaltering_ = false;  // answers every other request well
  RecordingOrigin failing_{[this](std::size_t number) {
    if (isFaltering_ && number % 2 != 0) return kOk;
    return isBroken_ ? kBrokenAnswer : kBusyAnswer;
  }};
  RecordingOrigin spare_{[](std::size_t) { return kOk; }};
  PassedTime time_;
  std::size_t before_ = 0;
  std::unique_ptr<GatewayProcess> gateway_;
};

/// Returns policies in each spelling that eject by the share of failures only.
std::vector<SpelledPolicy> bySharesOf(int percent, const std::string& interval, int requests) {
  const std::string threshold = std::to_string(percent);
  const std::string minimum = ", minimumRequests: " + std::to_string(requests) + "}";
  return {
      ownFields("healthCheck: {passive: {consecutive5XxErrors: 0, baseEjectionTime: 24h, failurePercentage: "
                "{threshold: " +
                threshold + minimum + ", interval: " + interval + "}}"),
      envoyFields("healthCheck: {passive: {consecutive5XxErrors: 0, baseEjectionTime: 24h, maxEjectionPercent: 100, "
                  "failurePercentageThreshold: " +
                  threshold + ", interval: " + interval + "}}"),
      envoyFields("healthChecking: {outlierDetection: {consecutive5XX: {threshold: 0}, failurePercentage: "
                  "{threshold: " +
                  threshold + minimum + ", checkInterval: " + interval + "}}")};
}

TEST_F(EjectionFields, SetTheShareOfFailuresThatEjects) {
  isFaltering_ = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const int requests = i == 1 ? 50 : 20;  // Envoy Gateway's form has no field for the smallest number
    const auto least = static_cast<std::size_t>(requests);
    const SpelledPolicy half = bySharesOf(50, "24h", requests)[i];
    start(half);
    EXPECT_THAT(failingAfter(requests + 20), AllOf(Ge(least - 1), Le(least + 1))) << half.fields;
    const SpelledPolicy more = bySharesOf(60, "24h", requests)[i];
    start(more);
    EXPECT_EQ(failingAfter(requests + 20), least + 20) << more.fields;
  }
}

TEST_F(EjectionFields, SetTheIntervalOfTheShare) {
  for (const SpelledPolicy& policy : bySharesOf(100, "1000s", 50)) {
    start(policy);
    EXPECT_EQ(failingAfter(30), 30U);
    pass(500);
    EXPECT_EQ(failingAfter(30), 50U) << policy.fields << ": they are within an interval";
    start(policy);
    EXPECT_EQ(failingAfter(30), 30U);
    pass(1500);
    EXPECT_EQ(failingAfter(30), 60U) << policy.fields << ": they are of two intervals";
  }
}

TEST_F(EjectionFields, SetHowManyFailuresInARowEject) {
  const SpelledPolicy cases[] = {
      ownFields("healthCheck: {passive: {consecutive5XxErrors: 7, baseEjectionTime: 24h}}"),
      envoyFields("healthCheck: {passive: {consecutive5XxErrors: 7, baseEjectionTime: 24h}}"),
      envoyFields("healthChecking: {outlierDetection: {consecutive5XX: {threshold: 7}}}")};
  for (const SpelledPolicy& policy : cases) {
    start(policy);
    EXPECT_EQ(failingAfter(20), 7U) << policy.fields;
    EXPECT_EQ(gateway_->metric("sluice_upstream_ejections_total{route=\"test/all\",backend=\"test/failing\",ejected="
                               "\"backend\"}"),
              1);
    EXPECT_THAT(gateway_->adminGet("/status"),
                HasSubstr("\"endpoint\":\"failing.test:" + std::to_string(failing_.port()) +
                          "\",\"reachable\":true,\"weight\":1,\"state\":\"ejected\",\"since\":\""));
  }
}

TEST_F(EjectionFields, CountGatewayErrorsByThemselves) {
  for (const SpelledPolicy& policy : bothKinds(
           "healthCheck: {passive: {consecutive5XxErrors: 0, consecutiveGatewayErrors: 3, baseEjectionTime: 24h}}")) {
    isBroken_ = true;
    start(policy);
    EXPECT_EQ(failingAfter(10), 10U) << policy.fields << ": 500 is none";
    isBroken_ = false;
    EXPECT_EQ(failingAfter(10), 13U) << policy.fields;
  }
}

TEST_F(EjectionFields, BoundHowManyBackendsAreEjected) {
  const std::string head =
      "healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 24h, maxEjectionPercent: ";
  for (const SpelledPolicy& policy : bothKinds(head + "0}}")) {
    start(policy);
    EXPECT_EQ(failingAfter(10), 10U) << policy.fields;
  }
  for (const SpelledPolicy& policy :
       {ownFields(head + "1}}"), envoyFields(head + "1}}"), envoyFields(head + "0, alwaysEjectOneEndpoint: true}}")}) {
    start(policy);
    EXPECT_EQ(failingAfter(10), 3U) << policy.fields;
  }
}

TEST_F(EjectionFields, SetTheTimeOfAnEjection) {
  for (const SpelledPolicy& policy :
       bothKinds("healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 140s}}")) {
    start(policy);
    EXPECT_EQ(failingAfter(10), 3U) << policy.fields;
    pass(70);
    EXPECT_EQ(failingAfter(10), 3U) << policy.fields;
    pass(140);
    EXPECT_EQ(failingAfter(10), 4U) << policy.fields << ": one request has found out that it still fails";
    pass(210);
    EXPECT_EQ(failingAfter(10), 4U) << policy.fields << ": it rests for twice as long";
    pass(140);
    EXPECT_EQ(failingAfter(10), 5U) << policy.fields;
  }
}

TEST_F(EjectionFields, BoundTheTimeOfAnEjection) {
  start(
      ownFields("healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1000s, maxEjectionTime: 1200s}}"));
  EXPECT_EQ(failingAfter(10), 3U);
  pass(1100);
  EXPECT_EQ(failingAfter(10), 4U);
  pass(1100);
  EXPECT_EQ(failingAfter(10), 4U);
  pass(200);
  EXPECT_EQ(failingAfter(10), 5U) << "and not after 2000s";
}

// Of the first priority are two Backends, of which one is down; "spare" is of the second.
TEST_F(EjectionFields, SetTheOverprovisioning) {
  const RecordingOrigin serving([](std::size_t) { return kOk; });
  for (const bool isAmple : {true, false}) {
    const std::size_t before = spare_.heads().size();
    GatewaySpec spec;
    spec.backends = {{.name = "failing", .hostname = "failing.test", .port = freePort()},
                     {.name = "serving", .hostname = "serving.test", .port = serving.port()},
                     {.name = "spare", .hostname = "spare.test", .port = spare_.port()}};
    spec.routes =
        routeOfRules("    - retry: {attempts: 1, backoff: 1ms}\n      backendRefs: [" + backendRef("failing") + ", " +
                     backendRef("serving") + ", " + backendRef("spare") + "]\n") +
        ownFields("failover: {overprovisioningFactor: " + std::string(isAmple ? "200" : "100") +
                  ", priorities: [{backendRef: " + backendRef("spare") +
                  ", priority: 1}]}, healthCheck: {passive: {consecutive5XxErrors: 1, baseEjectionTime: 24h}}")
            .forTarget("kind: HTTPRoute, name: all");
    gateway_ = std::make_unique<GatewayProcess>(spec);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(askRaw(gateway_->port()).status, 200);
    const std::size_t spared = spare_.heads().size() - before;
    if (isAmple) {
      EXPECT_LE(spared, 1U) << "the half that serves has enough to spare";
    } else {
      EXPECT_THAT(spared, AllOf(Ge(10U), Le(50U))) << "the half that does not serve has its share there";
    }
  }
}

}  // namespace
}  // namespace sluice::test
