// Tests XBackendTrafficPolicies through the binary: over their budget of retries the client gets 503, and their
// sessions keep a client with its Backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// Returns a policy for the Backends of these names; `fields` are lines of its spec.
std::string experimentalPolicy(const std::string& targets, const std::string& fields) {
  return "---\napiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\nmetadata: {namespace: "
         "test, name: p}\nspec:\n  targetRefs: [" +
         targets + "]\n" + fields;
}
std::string backendTarget(const std::string& name) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name + "}";
}

TEST(XBackendTrafficPolicyOnTheWire, AnswersWith503OverTheBudgetOfTheBackend) {
  const RawOrigin failing(RawOrigin::answering("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"));
  const RawOrigin serving(RawOrigin::answering(saying("served")));
  const std::string retry = "retry: {codes: [500], attempts: 1, backoff: 1ms}\n      backendRefs: [";
  GatewaySpec spec;
  spec.backends = {{.name = "failing", .hostname = "failing.test", .port = failing.port()},
                   {.name = "serving", .hostname = "serving.test", .port = serving.port()}};
  spec.routes =
      routeOfRules("    - matches: [{path: {type: PathPrefix, value: /both}}]\n      " + retry +
                   backendRef("failing", ", weight: 1000000") + ", " + backendRef("serving") + "]\n    - " + retry +
                   backendRef("failing") + "]\n") +
      experimentalPolicy(backendTarget("failing"),
                         "  retryConstraint: {budget: {percent: 0}, minRetryRate: {count: 1, interval: 1h}}\n");
  const GatewayProcess gateway(spec);
  EXPECT_EQ(askRaw(gateway.port()).body, "oops") << "the only retry that there is";
  EXPECT_EQ(failing.heads().size(), 2U);
  const ReceivedResponse over = askRaw(gateway.port());
  EXPECT_EQ(over.status, 503);
  EXPECT_THAT(over.body, HasSubstr("\"code\":\"destination_unavailable\",\"limit\":\"retryBudget\""));
  EXPECT_EQ(failing.heads().size(), 3U);
  EXPECT_TRUE(gateway.limitWasHit("retryBudget"));
  EXPECT_EQ(askRaw(gateway.port(), "GET /both HTTP/1.1\r\nHost: a\r\n\r\n").body, "served")
      << "another Backend is not constrained";
}

/// A Backend whose requests are retried once, within the budget of a policy.
class ConstrainedRetries : public testing::Test {
 protected:
  /// `constraint` has the fields of retryConstraint.
  void start(const std::string& constraint) {
    GatewaySpec spec;
    spec.backends = {{.name = "origin", .port = origin_.port()}};
    spec.settings = onlyTimeouts("connect: 24h");
    spec.startedBy = time_.startedBy();
    spec.routes = routeOfRules("    - retry: {codes: [500], attempts: 1, backoff: 1ms}\n" + backendRefs()) +
                  experimentalPolicy(backendTarget("origin"), "  retryConstraint: {" + constraint + "}\n");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Sends so many requests, and returns how many of them were tried again.
  std::size_t retriesOf(std::size_t requests) const {
    const std::size_t before = origin_.heads().size();
    for (std::size_t i = 0; i < requests; ++i) askRaw(gateway_->port());
    return origin_.heads().size() - before - requests;
  }

  std::atomic<bool> isFailing_ = true;
  RecordingOrigin origin_{
      [this](std::size_t) { return isFailing_ ? "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n" : kOk; }};
  PassedTime time_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(ConstrainedRetries, AreAShareOfTheRequests) {
  start("budget: {percent: 100, interval: 1h}, minRetryRate: {count: 1, interval: 1h}");
  EXPECT_EQ(retriesOf(20), 20U);
  start("budget: {percent: 50, interval: 1h}, minRetryRate: {count: 1, interval: 1h}");
  EXPECT_EQ(retriesOf(20), 10U);
}

TEST_F(ConstrainedRetries, AreAShareOfTheRequestsOfAnInterval) {
  for (const bool isLong : {true, false}) {
    isFailing_ = false;
    start("budget: {percent: 50, interval: " + std::string(isLong ? "1h" : "1000s") +
          "}, minRetryRate: {count: 1, interval: 1h}");
    EXPECT_EQ(retriesOf(20), 0U);
    isFailing_ = true;
    EXPECT_EQ(retriesOf(1), 1U);
    time_.pass(*gateway_, seconds(2000));
    const std::size_t retries = retriesOf(10);
    if (isLong) {
      EXPECT_EQ(retries, 10U) << "the earlier requests count too";
    } else {
      EXPECT_LE(retries, 5U) << "the earlier requests do not count any more";
    }
  }
}

TEST_F(ConstrainedRetries, AreSomeInEachOfTheirIntervals) {
  start("budget: {percent: 0}, minRetryRate: {count: 3, interval: 1000s}");
  EXPECT_EQ(retriesOf(10), 3U);
  time_.pass(*gateway_, seconds(500));
  EXPECT_EQ(retriesOf(10), 0U) << "it is the same interval";
  time_.pass(*gateway_, seconds(600));
  EXPECT_EQ(retriesOf(10), 3U);
}

TEST(XBackendTrafficPolicyOnTheWire, KeepsAClientWithItsBackend) {
  const RawOrigin first(RawOrigin::answering(saying("first")));
  const RawOrigin second(RawOrigin::answering(saying("second")));
  GatewaySpec spec;
  spec.backends = {{.name = "first", .hostname = "first.test", .port = first.port()},
                   {.name = "second", .hostname = "second.test", .port = second.port()}};
  spec.routes = routeOfRules("    - backendRefs: [" + backendRef("first") + ", " + backendRef("second") + "]\n") +
                experimentalPolicy(backendTarget("first") + ", " + backendTarget("second"),
                                   "  sessionPersistence: {sessionName: sid, type: Header}\n");
  const GatewayProcess gateway(spec);
  const ReceivedResponse begun = askRaw(gateway.port());
  const std::string session = begun.field("sid").value_or("none");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(askRaw(gateway.port(), "GET / HTTP/1.1\r\nHost: a\r\nsid: " + session + "\r\n\r\n").body, begun.body);
  }
}

}  // namespace
}  // namespace sluice::test
