// Tests each field of retries through the binary, in every kind and form of policy: which failures are retried, how
// often and how soon, and the targets of a policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// Answers as the last segment of the path asks: a status, "grpc-14" for that status of gRPC, or "reset".
RawOrigin::Script answeringAsAsked() {
  return [](BlockingSocket& socket, RawOrigin& self) {
    for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
      const std::string target = head.substr(4, head.find(' ', 4) - 4);
      const std::string wanted = target.substr(target.rfind('/') + 1);
      if (wanted == "reset") return socket.reset();
      const bool isGrpc = wanted.starts_with("grpc-");
      socket.send("HTTP/1.1 " + (isGrpc ? "200" : wanted) + " As Asked\r\nContent-Length: 0\r\nConnection: close\r\n" +
                  (isGrpc ? "grpc-status: " + wanted.substr(5) + "\r\n" : "") + "\r\n");
    }
  };
}

/// A policy for the route of that name, and the failures that it retries.
struct TriggerCase {
  const char* route;
  SpelledPolicy policy;
  const char* repeated;
  const char* left;
};

SpelledPolicy shippedTrigger(const std::string& retryOn) {
  return envoyFields("retry: {numRetries: 3, perRetry: {backOff: {baseInterval: 1ms}}" + retryOn + "}");
}
SpelledPolicy proposedTrigger(const std::string& fields) {
  return envoyFields("retryStrategy: {numRetries: 3, perRetry: {backoff: {baseInterval: 1ms}}, " + fields + "}");
}
std::vector<TriggerCase> triggerCases() {
  const auto shipped = [](const std::string& word) { return shippedTrigger(", retryOn: {triggers: [" + word + "]}"); };
  const auto proposed = [](const std::string& word) {
    return proposedTrigger("type: http, http: {retryOn: " + word + "}");
  };
  return {
      {"own-codes", ownFields("retry: {codes: [418], attempts: 3, backoff: 1ms}"), "418", "503"},
      {"own-grpc", ownFields("retry: {grpcCodes: [DATA_LOSS], attempts: 3, backoff: 1ms}"), "grpc-15", "grpc-14"},
      {"own-failure", ownFields("retry: {attempts: 3, backoff: 1ms}"), "reset", "503"},
      {"usual", shippedTrigger(""), "503", "500"},
      {"usual-grpc", shippedTrigger(""), "grpc-14", "grpc-13"},
      {"codes", shippedTrigger(", retryOn: {httpStatusCodes: [429]}"), "429", "503"},
      {"s-5xx", shipped("5xx"), "507", "429"},
      {"s-gateway", shipped("gateway-error"), "504", "500"},
      {"s-4xx", shipped("retriable-4xx"), "409", "503"},
      {"s-listed", shippedTrigger(", retryOn: {triggers: [retriable-status-codes], httpStatusCodes: [420]}"), "420",
       "503"},
      {"s-reset", shipped("reset"), "reset", "503"},
      {"s-refused", shipped("refused-stream"), "reset", "503"},
      {"s-connect", shipped("connect-failure"), "reset", "503"},
      {"s-cancelled", shipped("cancelled"), "grpc-1", "grpc-14"},
      {"s-deadline", shipped("deadline-exceeded"), "grpc-4", "grpc-14"},
      {"s-internal", shipped("internal"), "grpc-13", "grpc-14"},
      {"s-exhausted", shipped("resource-exhausted"), "grpc-8", "grpc-14"},
      {"s-unavailable", shipped("unavailable"), "grpc-14", "grpc-1"},
      {"p-5xx", proposed("5xx"), "507", "429"},
      {"p-gateway", proposed("gateway-error"), "502", "500"},
      {"p-4xx", proposed("retriable-4xx"), "409", "503"},
      {"p-listed", proposed("retriable-status-codes, retriableStatusCodes: [420]"), "420", "503"},
      {"p-reset", proposed("disconnect-reset"), "reset", "503"},
      {"p-connect", proposed("connect-fail"), "reset", "503"},
      {"p-refused", proposed("refused-stream"), "reset", "503"},
      {"p-cancelled", proposedTrigger("type: grpc, grpc: {retryOn: cancelled}"), "grpc-1", "grpc-14"},
      {"p-deadline", proposedTrigger("type: grpc, grpc: {retryOn: deadline-exceeded}"), "grpc-4", "grpc-14"},
      {"p-internal", proposedTrigger("type: grpc, grpc: {retryOn: internal}"), "grpc-13", "grpc-14"},
      {"p-exhausted", proposedTrigger("type: grpc, grpc: {retryOn: resource-exhausted}"), "grpc-8", "grpc-14"},
      {"p-unavailable", proposedTrigger("type: grpc, grpc: {retryOn: unavailable}"), "grpc-14", "503"},
  };
}

/// Returns a route of that name for the paths below it, with these members of its metadata.
std::string routeNamed(const std::string& name, const std::string& metadata = {}) {
  const std::string route = routeOfRules(ruleOfPrefix("/" + name, "origin"));
  return "---\n" + std::string(route).replace(route.find("name: all"), 9, "name: " + name + metadata);
}

class RetryFields : public testing::Test {
 protected:
  /// `documents` are the routes and policies.
  void start(std::uint16_t port, const std::string& documents, const std::string& settings = {}) {
    GatewaySpec spec;
    spec.backends = {{.port = port}};
    spec.settings = onlyTimeouts("connect: 24h, request: 24h") + settings;
    spec.startedBy = time_.startedBy();
    spec.routes = documents;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Sends one request, and returns how many attempts the origin got.
  std::size_t attemptsAt(const std::string& path) const {
    const std::size_t before = origin_.heads().size();
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    readResponse(client);
    return origin_.heads().size() - before;
  }
  /// Waits until that many attempts have been made, and the request waits for its next one.
  bool waitsAfter(std::size_t attempts, const RecordingOrigin& origin) const {
    return origin.hears(attempts) &&
           eventually([&] { return countOf(gateway_->adminGet("/exchanges"), R"("waitingFor":"backoff")") == 1; });
  }

  PassedTime time_;
  RawOrigin origin_{answeringAsAsked()};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(RetryFields, SetWhichFailuresAreRetriedAndHowOften) {
  std::string documents;
  for (const TriggerCase& each : triggerCases()) {
    documents +=
        routeNamed(each.route) + each.policy.forTarget("kind: HTTPRoute, name: " + std::string(each.route), each.route);
  }
  start(origin_.port(), documents);
  for (const TriggerCase& each : triggerCases()) {
    const std::string path = "/" + std::string(each.route) + "/";
    EXPECT_EQ(attemptsAt(path + each.repeated), 4U) << each.policy.fields;
    EXPECT_EQ(attemptsAt(path + each.left), 1U) << each.policy.fields;
  }
}

TEST_F(RetryFields, ApplyToTheTargetsOfThePolicy) {
  const std::string group = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ";
  const SpelledPolicy once = envoyFields("retry: {numRetries: 1, perRetry: {backOff: {baseInterval: 1ms}}}");
  const SpelledPolicy proposed = envoyFields("retryStrategy: {type: http, http: {retryOn: 5xx}}");
  start(origin_.port(),
        routeNamed("older") + once.named("older", "targetRef: " + group + "older}") + routeNamed("several") +
            routeNamed("more") + once.named("several", "targetRefs: [" + group + "several}, " + group + "more}]") +
            routeNamed("labelled", ", labels: {tier: gold}") +
            once.named("labelled", "targetSelectors: [{kind: HTTPRoute, matchLabels: {tier: gold}}]") +
            routeNamed("expressed", ", labels: {tier: tin}") +
            once.named("expressed",
                       "targetSelectors: [{kind: HTTPRoute, matchExpressions: [{key: tier, operator: In, values: "
                       "[tin]}]}]") +
            routeNamed("proposed") + proposed.named("proposed", "targetRef: " + group + "proposed}") +
            routeNamed("none", ", labels: {tier: iron}"));
  for (const char* path : {"/older", "/several", "/more", "/labelled", "/expressed", "/proposed"}) {
    EXPECT_EQ(attemptsAt(std::string(path) + "/503"), 2U) << path;
  }
  EXPECT_EQ(attemptsAt("/none/503"), 1U);
}

TEST_F(RetryFields, SetThePauseBeforeARetry) {
  const SpelledPolicy cases[] = {
      ownFields("retry: {codes: [503], attempts: 3, backoff: 1000s, maxBackoff: 1500s}"),
      envoyFields("retry: {numRetries: 3, perRetry: {backOff: {baseInterval: 1000s, maxInterval: 1500s}}}"),
      envoyFields("retryStrategy: {type: http, http: {retryOn: 5xx}, numRetries: 3, perRetry: {backoff: {baseInterval: "
                  "1000s, maxInterval: 1500s}}}")};
  for (const SpelledPolicy& policy : cases) {
    const RecordingOrigin failing([](std::size_t) { return "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"; });
    start(failing.port(), routeNamed("all") + policy.forTarget("kind: HTTPRoute, name: all"), "drainTimeout: 100ms\n");
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET /all HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(waitsAfter(1, failing)) << policy.fields;
    time_.pass(*gateway_, seconds(900));
    ASSERT_TRUE(waitsAfter(1, failing)) << policy.fields;
    EXPECT_EQ(failing.heads().size(), 1U) << policy.fields;
    time_.pass(*gateway_, seconds(400));
    ASSERT_TRUE(waitsAfter(2, failing)) << policy.fields << ": after 1250s at most";
    time_.pass(*gateway_, seconds(1400));
    ASSERT_TRUE(waitsAfter(2, failing)) << policy.fields << ": the pause doubles";
    EXPECT_EQ(failing.heads().size(), 2U) << policy.fields;
    time_.pass(*gateway_, seconds(500));
    EXPECT_TRUE(waitsAfter(3, failing)) << policy.fields << ": after 1875s at most";
  }
}

TEST_F(RetryFields, SetTheTimeoutOfAnAttempt) {
  const SpelledPolicy cases[] = {
      ownFields("retry: {codes: [504], backoff: 1ms, attemptTimeout: 1000s}"),
      ownFields("retry: {codes: [504], backoff: 1ms, attemptIdleTimeout: 1000s}"),
      envoyFields("retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {idleTimeout: 1000s, backoff: "
                  "{baseInterval: 1ms}}}"),
      envoyFields("retry: {retryOn: {triggers: [5xx]}, perRetry: {timeout: 1000s, backOff: {baseInterval: 1ms}}}"),
      envoyFields(
          "retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {timeout: 1000s, backoff: {baseInterval: "
          "1ms}}}")};
  for (const SpelledPolicy& policy : cases) {
    std::atomic<int> asked = 0;
    const RawOrigin silent([&](BlockingSocket& socket, RawOrigin& self) {
      self.readHead(socket);
      if (++asked == 1) return self.waitUntilItStops();
      socket.send(kOk);
    });
    start(silent.port(), routeNamed("all") + policy.forTarget("kind: HTTPRoute, name: all"));
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET /all HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return asked == 1; })) << policy.fields;
    time_.pass(*gateway_, seconds(500));
    EXPECT_EQ(asked, 1) << policy.fields;
    time_.pass(*gateway_, seconds(600));
    EXPECT_EQ(readResponse(client).status, 200) << policy.fields;
    EXPECT_EQ(asked, 2) << policy.fields;
  }
}

TEST_F(RetryFields, SetTheIdleTimeoutOfAnAttempt) {
  const SpelledPolicy cases[] = {
      ownFields("retry: {codes: [504], backoff: 1ms, attemptIdleTimeout: 1000s}"),
      envoyFields("retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {idleTimeout: 1000s, backoff: "
                  "{baseInterval: 1ms}}}")};
  for (const SpelledPolicy& policy : cases) {
    std::counting_semaphore<> pieces{0};
    const RawOrigin slow([&](BlockingSocket& socket, RawOrigin& self) {
      self.readHead(socket);
      socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na");
      for (const char* piece : {"b", "c", "d", "e"}) {
        if (!pieces.try_acquire_for(kPatience)) return;
        socket.send(piece);
      }
    });
    start(slow.port(), routeNamed("all") + policy.forTarget("kind: HTTPRoute, name: all"));
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET /all HTTP/1.1\r\nHost: a\r\n\r\n");
    client.readUntil("\r\n\r\na");
    for (const char* piece : {"b", "c"}) {
      time_.pass(*gateway_, seconds(700));
      pieces.release();
      EXPECT_EQ(client.readUntil(piece), piece) << policy.fields;
    }
    EXPECT_EQ(gateway_->limitHits("attemptIdle"), 0) << policy.fields << ": it moves";
    time_.pass(*gateway_, seconds(1100));
    EXPECT_TRUE(gateway_->limitWasHit("attemptIdle")) << policy.fields;
    EXPECT_EQ(client.readAll(), "") << policy.fields << ": the response is cut off";
    pieces.release(2);
  }
}

TEST_F(RetryFields, SetTheRetryBudget) {
  const auto shareOf = [](const std::string& percent) {
    return std::vector<SpelledPolicy>{
        ownFields("retry: {codes: [503], backoff: 1ms, budget: {percent: " + percent + "}}"),
        proposedTrigger("type: http, http: {retryOn: 5xx}, retryLimits: {type: budget, retryBudget: "
                        "{minConcurrent: 0, activeRequestPercent: " +
                        percent + "}}")};
  };
  // The settings allow no retries at all, and fields that the policy leaves out are as in the settings.
  const std::string none = "retry: {budget: {percent: 0, minPerSecond: 0}}\n";
  for (std::size_t i = 0; i < 2; ++i) {
    start(origin_.port(), routeNamed("all") + shareOf("100")[i].forTarget("kind: HTTPRoute, name: all"), none);
    EXPECT_EQ(attemptsAt("/all/503"), 2U) << i << ": the only request is one retry's worth";
    start(origin_.port(), routeNamed("all") + shareOf("1")[i].forTarget("kind: HTTPRoute, name: all"), none);
    EXPECT_EQ(attemptsAt("/all/503"), 1U) << i;
    EXPECT_TRUE(gateway_->limitWasHit("retryBudget")) << i;
  }
}

}  // namespace
}  // namespace sluice::test
