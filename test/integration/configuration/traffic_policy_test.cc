// Tests policies for Backend traffic through the binary: where each of them applies, and that a policy in any spelling
// retries a request and ejects a failing Backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::Each;

std::string plainAnswer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Returns a policy for one target; `fields` are lines of its spec.
std::string policyFor(const std::string& apiVersion, const std::string& kind, const std::string& name,
                      const std::string& target, const std::string& fields) {
  return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, " + target + "}]\n" + fields;
}
std::string ownPolicy(const std::string& name, const std::string& target, const std::string& fields) {
  return policyFor("sluice.dev/v1alpha1", "TrafficPolicy", name, target, fields);
}

/// A Backend that fails, and one that serves.
class BackendTrafficOnTheWire : public testing::Test {
 protected:
  void start(const std::string& documents) {
    GatewaySpec spec;
    spec.workers = 2;
    spec.backends = {{.name = "failing", .hostname = "failing.test", .port = failing_.port()},
                     {.name = "serving", .hostname = "serving.test", .port = serving_.port()}};
    spec.routes = documents;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Returns a route to both Backends for requests below that path.
  static std::string routeBelow(const std::string& name, const std::string& path) {
    return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
           "}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n    - matches: [{path: {type: PathPrefix, value: " +
           path + "}}]\n      backendRefs: [" + backendRef("failing") + ", " + backendRef("serving") + "]\n";
  }
  std::vector<std::string> ask(const std::string& path, int count) const {
    std::vector<std::string> answers;
    for (int i = 0; i < count; ++i) {
      answers.push_back(
          std::to_string(askRaw(gateway_->port(), "GET " + path + " HTTP/1.1\r\nHost: any.test\r\n\r\n").status));
    }
    return answers;
  }
  /// Returns whether every request below the path is answered well, although every other one meets a Backend that
  /// fails.
  bool isRetried(const std::string& path) const {
    const std::vector<std::string> answers = ask(path, 30);
    return std::all_of(answers.begin(), answers.end(), [](const std::string& each) { return each == "200"; });
  }

  RecordingOrigin failing_{[](std::size_t) { return plainAnswer("503 Service Unavailable", "busy"); }};
  RecordingOrigin serving_{[](std::size_t) { return plainAnswer("200 OK", "good"); }};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(BackendTrafficOnTheWire, IsGovernedByTheGatewaysPolicyUnlessTheRouteHasItsOwn) {
  start(routeBelow("open", "/open") + routeBelow("own", "/own") +
        ownPolicy("gateway", "kind: Gateway, name: egress", "  retry: {codes: [503], attempts: 3, backoff: 1ms}\n") +
        ownPolicy("route", "kind: HTTPRoute, name: own", "  retry: {codes: [429]}\n"));
  EXPECT_TRUE(isRetried("/open"));
  EXPECT_FALSE(isRetried("/own"));
}

TEST_F(BackendTrafficOnTheWire, IsGovernedByBothPoliciesIfTheyAreMerged) {
  const auto policy = [](const std::string& name, const std::string& target, const std::string& fields) {
    return policyFor("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", name, target, fields);
  };
  start(routeOfRules("    - backendRefs: [" + backendRef("failing") + "]\n") +
        policy("gateway", "kind: Gateway, name: egress",
               "  retry: {numRetries: 4, perRetry: {backOff: {baseInterval: 1ms}}}\n") +
        policy("route", "kind: HTTPRoute, name: all",
               "  mergeType: StrategicMerge\n  retry: {retryOn: {triggers: [gateway-error]}}\n"));
  EXPECT_THAT(ask("/", 1), Each("503"));
  EXPECT_EQ(failing_.heads().size(), 5U) << "the Gateway's number of retries, at the statuses of the route's";
}

TEST_F(BackendTrafficOnTheWire, IsRetriedAsFarAsTheBudgetOfThePolicyAllows) {
  const std::string retry = "  retry: {codes: [503], attempts: 2, backoff: 1ms, budget: ";
  start(
      routeOfRules("    - name: none\n      matches: [{path: {type: PathPrefix, value: /none}}]\n      backendRefs: [" +
                   backendRef("failing") + "]\n    - backendRefs: [" + backendRef("failing") + "]\n") +
      ownPolicy("all", "kind: HTTPRoute, name: all", retry + "{percent: 0, minPerSecond: 1000000}}\n") +
      ownPolicy("none", "kind: HTTPRoute, name: all, sectionName: none", retry + "{percent: 0, minPerSecond: 0}}\n"));
  EXPECT_THAT(ask("/all", 20), Each("503"));
  EXPECT_EQ(failing_.heads().size(), 60U) << "more than the settings allow";
  EXPECT_EQ(gateway_->limitHits("retryBudget"), 0);
  EXPECT_THAT(ask("/none", 20), Each("503"));
  EXPECT_EQ(failing_.heads().size(), 80U);
  EXPECT_TRUE(gateway_->limitWasHit("retryBudget"));
}

TEST_F(BackendTrafficOnTheWire, IsGovernedByAListenersPolicyThereAlone) {
  const std::uint16_t port = freePort();
  GatewaySpec spec;
  spec.backends = {{.name = "failing", .hostname = "failing.test", .port = failing_.port()},
                   {.name = "serving", .hostname = "serving.test", .port = serving_.port()}};
  spec.listeners = "    - {name: more, protocol: HTTP, port: " + std::to_string(port) + "}\n";
  spec.routes = routeBelow("open", "/") + ownPolicy("listener", "kind: Gateway, name: egress, sectionName: more",
                                                    "  retry: {codes: [503], attempts: 3, backoff: 1ms}\n");
  gateway_ = std::make_unique<GatewayProcess>(spec);
  EXPECT_FALSE(isRetried("/"));
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(askRaw(port, "GET / HTTP/1.1\r\nHost: any.test\r\n\r\n").status, 200);
  }
}

TEST_F(BackendTrafficOnTheWire, AvoidsAFailingBackendByTheGatewaysPolicy) {
  start(routeBelow("open", "/") +
        ownPolicy("gateway", "kind: Gateway, name: egress",
                  "  healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1h}}\n"));
  ask("/", 60);
  EXPECT_EQ(failing_.heads().size(), 3u) << "of all workers together";
  EXPECT_THAT(ask("/", 20), Each("200"));
}

/// A policy in one of its spellings: the kind, with fields that retry for 503, and others that eject a Backend after
/// three failures.
struct PolicySpelling {
  const char* name;
  const char* apiVersion;
  const char* kind;
  const char* retries;
  const char* rests;
};
const PolicySpelling kSpellings[] = {
    {"own", "sluice.dev/v1alpha1", "TrafficPolicy", "  retry: {codes: [503], attempts: 3, backoff: 1ms}\n",
     "  healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1h}}\n"},
    {"shipped", "gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy",
     "  retry: {numRetries: 3, retryOn: {httpStatusCodes: [503], triggers: [retriable-status-codes]}, perRetry: "
     "{backOff: {baseInterval: 1ms}}}\n",
     "  healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1h, interval: 3s}}\n"},
    {"proposed", "gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy",
     "  retryStrategy: {type: http, numRetries: 3, http: {retryOn: gateway-error}, perRetry: {backoff: {baseInterval: "
     "1ms}}}\n",
     "  healthChecking: {outlierDetection: {checkInterval: 10s, consecutive5XX: {threshold: 3}}}\n"}};

TEST_F(BackendTrafficOnTheWire, IsRetriedByAPolicyInEverySpelling) {
  for (const PolicySpelling& each : kSpellings) {
    SCOPED_TRACE(each.name);
    start(routeBelow("named", "/named") + routeBelow("other", "/other") +
          policyFor(each.apiVersion, each.kind, "policy", "kind: HTTPRoute, name: named", each.retries));
    EXPECT_TRUE(isRetried("/named"));
    EXPECT_FALSE(isRetried("/other"));
  }
}

TEST_F(BackendTrafficOnTheWire, AvoidsAFailingBackendByAPolicyInEverySpelling) {
  for (const PolicySpelling& each : kSpellings) {
    SCOPED_TRACE(each.name);
    const std::size_t before = failing_.heads().size();
    start(routeBelow("named", "/") +
          policyFor(each.apiVersion, each.kind, "policy", "kind: HTTPRoute, name: named", each.rests));
    ask("/", 60);
    EXPECT_EQ(failing_.heads().size(), before + 3);
  }
}

TEST_F(BackendTrafficOnTheWire, IsGovernedByAGatewaysPolicyInEnvoyGatewaysSpelling) {
  const PolicySpelling& shipped = kSpellings[1];
  const auto policy = [&](const std::string& name, const std::string& target, const std::string& fields) {
    return policyFor(shipped.apiVersion, shipped.kind, name, target, fields);
  };
  start(routeBelow("open", "/open") + routeBelow("own", "/own") +
        policy("gateway", "kind: Gateway, name: egress", shipped.retries) +
        policy("route", "kind: HTTPRoute, name: own", "  retry: {numRetries: 0}\n"));
  EXPECT_TRUE(isRetried("/open"));
  EXPECT_FALSE(isRetried("/own"));
}

}  // namespace
}  // namespace sluice::test
