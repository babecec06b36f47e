// Tests fail-over by TrafficPolicies through the binary: a primary Backend that fails in each way, and comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::string answerOf(const std::string& status, const std::string& body, const std::string& fields = {}) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
}

/// The behaviour of a provider for a request.
enum class ProviderMood : std::uint8_t {
  kGood,
  kBusy,
  kFaltering,
  kPausing,
  kOverloaded,
  kPausingByMilliseconds,
  kBroken,
  kResetting
};

/// Three providers: "first", "second" and "third", in the order of their priorities.
class Failover : public testing::Test {
 protected:
  /// `policy` has the fields of the TrafficPolicy beside its priorities, `more` other members of failover.
  void start(const std::string& policy = {}, const std::string& more = {}) {
    GatewaySpec& spec = spec_;
    spec.workers = 2;
    spec.backends = {{.name = "first", .hostname = "first.test", .port = firstPort_ != 0 ? firstPort_ : first_.port()},
                     {.name = "second", .hostname = "second.test", .port = second_.port()},
                     {.name = "third", .hostname = "third.test", .port = third_.port()}};
    spec.routes =
        routeOfRules("    - backendRefs: [" + backendRef("first") + ", " + backendRef("second", ", weight: 0") + ", " +
                     backendRef("third", ", weight: 0") + "]\n") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: "
        "failover}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
        "  retry: {codes: [429, 500, 503, 529], attempts: 3, backoff: 1ms}\n  failover: {priorities: [" +
        priority("first", 0) + ", " + priority("second", 1) + ", " + priority("third", 2) + "]" + more + "}\n" + policy;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static std::string priority(const std::string& name, int level) {
    return "{backendRef: " + backendRef(name) + ", priority: " + std::to_string(level) + "}";
  }
  /// Returns the bodies of the answers to that many requests, one behind the other.
  std::vector<std::string> ask(int count) const {
    std::vector<std::string> bodies;
    for (int i = 0; i < count; ++i) {
      const ReceivedResponse answer = askRaw(gateway_->port(), "GET / HTTP/1.1\r\nHost: any.test\r\n\r\n");
      bodies.push_back(answer.status == 200 ? answer.body : std::to_string(answer.status));
    }
    return bodies;
  }
  /// `index` counts the requests from 0.
  static std::string behave(ProviderMood mood, const std::string& name, std::size_t index) {
    switch (mood) {
      case ProviderMood::kFaltering:
        return index % 2 == 0 ? answerOf("503 Service Unavailable", "busy") : answerOf("200 OK", name);
      case ProviderMood::kGood:
        return answerOf("200 OK", name);
      case ProviderMood::kBusy:
        return answerOf("503 Service Unavailable", "busy");
      case ProviderMood::kPausing:
        return answerOf("429 Too Many Requests", "pause", "Retry-After: 1000\r\n");
      case ProviderMood::kOverloaded:
        return answerOf("529 Overloaded", "overloaded", "Retry-After: 1000\r\n");
      case ProviderMood::kPausingByMilliseconds:
        return answerOf("429 Too Many Requests", "pause", "x-ms-retry-after-ms: 1000000\r\nRetry-After: 0\r\n");
      case ProviderMood::kBroken:
        return answerOf("500 Internal Server Error", "broken");
      case ProviderMood::kResetting:
        return {};
    }
    return {};
  }

  std::atomic<ProviderMood> mood_ = ProviderMood::kGood;  // of the first
  std::atomic<ProviderMood> moodOfOthers_ = ProviderMood::kGood;
  RecordingOrigin first_{[this](std::size_t index) { return behave(mood_, "first", index); }};
  RecordingOrigin second_{[this](std::size_t index) { return behave(moodOfOthers_, "second", index); }};
  RecordingOrigin third_{[this](std::size_t index) { return behave(moodOfOthers_, "third", index); }};
  std::uint16_t firstPort_ = 0;  // in the place of that of first_
  GatewaySpec spec_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(Failover, LeavesStandbysAloneAsLongAsThePrimaryServes) {
  start();
  EXPECT_THAT(ask(20), Each("first"));
  EXPECT_TRUE(second_.heads().empty());
}

TEST_F(Failover, TakesNoRequestToAPrimaryThatFailsSeveralTimesInARow) {
  for (const ProviderMood mood : {ProviderMood::kBusy, ProviderMood::kBroken, ProviderMood::kResetting}) {
    mood_ = mood;
    const std::size_t before = first_.heads().size();
    start("  healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1h, maxEjectionTime: 1h}}\n");
    EXPECT_THAT(ask(50), Each("second"));
    EXPECT_EQ(first_.heads().size(), before + 3) << static_cast<int>(mood) << ": of all workers together";
  }
  EXPECT_TRUE(third_.heads().empty());
}

TEST_F(Failover, TakesNoRequestToAPrimaryThatFailsTooOften) {
  mood_ = ProviderMood::kFaltering;
  start(
      "  healthCheck: {passive: {consecutive5XxErrors: 0, failurePercentage: {threshold: 50, minimumRequests: 10}, "
      "interval: 1h, baseEjectionTime: 1h}}\n");
  ask(8);
  EXPECT_EQ(first_.heads().size(), 8u) << "that is too few";
  ask(20);
  EXPECT_LE(first_.heads().size(), 11u);
}

TEST_F(Failover, CountsGatewayErrorsByThemselvesIfThePolicySaysSo) {
  mood_ = ProviderMood::kBroken;
  start(
      "  healthCheck: {passive: {consecutive5XxErrors: 0, consecutiveGatewayErrors: 3, baseEjectionTime: 1h, "
      "maxEjectionTime: 1h}}\n");
  ask(5);
  EXPECT_EQ(first_.heads().size(), 5u) << "500 is none";
  mood_ = ProviderMood::kBusy;
  ask(8);
  EXPECT_EQ(first_.heads().size(), 8u);
}

TEST_F(Failover, EjectsNoMoreProvidersThanThePolicyAllows) {
  mood_ = ProviderMood::kBusy;
  moodOfOthers_ = ProviderMood::kBusy;
  start(
      "  healthCheck: {passive: {consecutive5XxErrors: 2, maxEjectionPercent: 33, baseEjectionTime: 1h, "
      "maxEjectionTime: 1h}}\n");
  ask(4);
  const std::size_t before = second_.heads().size();
  ask(6);
  EXPECT_EQ(first_.heads().size(), 2u);
  EXPECT_GE(second_.heads().size(), before + 6) << "one of three rests already";
}

TEST_F(Failover, TakesNoRequestToAPrimaryThatIsDown) {
  firstPort_ = freePort();
  start();
  EXPECT_THAT(ask(50), Each("second"));
}

TEST_F(Failover, EjectsAPrimaryForAsLongAsItAsks) {
  for (const ProviderMood mood :
       {ProviderMood::kPausing, ProviderMood::kOverloaded, ProviderMood::kPausingByMilliseconds}) {
    mood_ = mood;
    const std::size_t before = first_.heads().size();
    start({}, ", maxRetryAfter: 1h");
    EXPECT_THAT(ask(50), Each("second"));
    EXPECT_EQ(first_.heads().size(), before + 1) << static_cast<int>(mood);
  }
}

TEST_F(Failover, PrefersAPrimaryThatFailedOnceToEjectedProviders) {
  mood_ = ProviderMood::kFaltering;
  moodOfOthers_ = ProviderMood::kPausing;
  start("  healthCheck: {passive: {consecutive5XxErrors: 1000}}\n", ", maxRetryAfter: 1h");
  ask(1);
  ASSERT_EQ(second_.heads().size() + third_.heads().size(), 2u) << "they have asked for a rest";
  EXPECT_THAT(ask(5), Each("first"));
  EXPECT_EQ(second_.heads().size() + third_.heads().size(), 2u);
}

TEST_F(Failover, EjectsNoPrimaryIfThatIsTurnedOff) {
  mood_ = ProviderMood::kPausing;
  start({}, ", maxRetryAfter: 0s");
  EXPECT_THAT(ask(20), Each("second"));
  EXPECT_EQ(first_.heads().size(), 20u) << "each request asks it first";
}

TEST_F(Failover, BoundsHowLongAPrimaryIsEjected) {
  mood_ = ProviderMood::kPausing;
  start({}, ", maxRetryAfter: 100ms");
  EXPECT_THAT(ask(1), Each("second"));
  mood_ = ProviderMood::kGood;
  EXPECT_TRUE(eventually([&] { return ask(1).front() == "first"; }));
  EXPECT_THAT(ask(20), Each("first"));
}

TEST_F(Failover, ReturnsToThePrimaryByOneRequest) {
  mood_ = ProviderMood::kBroken;
  start("  healthCheck: {passive: {consecutive5XxErrors: 1, baseEjectionTime: 50ms, maxEjectionTime: 50ms}}\n");
  // Each time that the ejection ends, one request probes the first, and is answered by the second all the same.
  EXPECT_TRUE(eventually([&] {
    EXPECT_THAT(ask(1), Each("second"));
    return first_.heads().size() >= 3;
  }));
  mood_ = ProviderMood::kGood;
  EXPECT_TRUE(eventually([&] { return ask(1).front() == "first"; }));
  EXPECT_THAT(ask(20), Each("first"));
}

TEST_F(Failover, KeepsItsStateOverAReload) {
  mood_ = ProviderMood::kBroken;
  start("  healthCheck: {passive: {consecutive5XxErrors: 2, baseEjectionTime: 1h, maxEjectionTime: 1h}}\n");
  EXPECT_THAT(ask(5), Each("second"));
  spec_.backends.push_back({.name = "fourth", .hostname = "fourth.test", .port = third_.port()});
  gateway_->reload(spec_);
  EXPECT_THAT(ask(5), Each("second"));
  EXPECT_EQ(first_.heads().size(), 2u);
}

TEST_F(Failover, ServesEveryRequestOfManyClientsWhileThePrimaryFailsGoesAndComesBack) {
  start("  healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 100ms, maxEjectionTime: 100ms}}\n");
  std::atomic<bool> isOver = false;
  std::atomic<int> failed = 0;
  std::atomic<int> served = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back([&] {
      while (!isOver) {
        for (const std::string& body : ask(5)) ++(body == "first" || body == "second" ? served : failed);
      }
    });
  }
  const auto goOnFor = [&](int count) {
    const int before = served;
    EXPECT_TRUE(eventually([&] { return served >= before + count; }));
  };
  goOnFor(100);
  for (const ProviderMood mood :
       {ProviderMood::kBusy, ProviderMood::kResetting, ProviderMood::kGood, ProviderMood::kPausing}) {
    mood_ = mood;
    goOnFor(300);
  }
  isOver = true;
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(third_.heads().empty());
}

TEST(FailoverOfGrpc, RetriesCallsByTheirStatusAndEjectsTheBackend) {
  const GrpcOrigin lacking(std::nullopt, "health_origin.mjs");  // it does not implement the service
  const GrpcOrigin origin;
  const GatewayProcess gateway(
      {.backends = {{.name = "first", .hostname = "first.test", .port = lacking.port()},
                    {.name = "second", .hostname = "second.test", .port = origin.port()}},
       .routes =
           "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: calls}\n"
           "spec:\n  parentRefs: [{name: egress}]\n  rules: [{backendRefs: [" +
           backendRef("first") + ", " + backendRef("second", ", weight: 0") +
           "]}]\n---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\n"
           "metadata: {namespace: test, name: calls}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, "
           "kind: GRPCRoute, name: calls}]\n  retry: {grpcCodes: [UNIMPLEMENTED], backoff: 1ms}\n  failover: "
           "{priorities: [{backendRef: " +
           backendRef("second") +
           ", priority: 1}]}\n  healthCheck: {passive: "
           "{consecutive5XxErrors: 2, baseEjectionTime: 1h, maxEjectionTime: 1h}}\n"});
  std::vector<std::string> calls{"127.0.0.1:" + std::to_string(gateway.port())};
  for (int i = 0; i < 5; ++i) calls.emplace_back("/sluice.test.Echo/Unary,x-client=a");
  const ProgramOutcome got = runNode("grpc_call.mjs", calls);
  EXPECT_EQ(got.output, "0 OK first\n0 OK first\n0 OK first\n0 OK first\n0 OK first\n") << got.errors;
  EXPECT_EQ(gateway.metric("http_client_request_duration_seconds_count{gateway=\"test/egress\",route=\"test/"
                           "calls\",backend=\"test/first\""),
            2)
      << "then it rests";
}

TEST_F(Failover, SendsNoProviderTheCredentialsOfAnother) {
  mood_ = ProviderMood::kBusy;
  start();
  const ReceivedResponse answer =
      askRaw(gateway_->port(), "GET / HTTP/1.1\r\nHost: any.test\r\nX-Only: client\r\n\r\n");
  EXPECT_EQ(answer.body, "second");
  EXPECT_THAT(first_.heads().back(), HasSubstr("host: first.test"));
  EXPECT_THAT(second_.heads().back(), Not(HasSubstr("first.test")));
}

}  // namespace
}  // namespace sluice::test
