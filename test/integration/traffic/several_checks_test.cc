// Tests several active checks of one Backend through the binary, their headers and what the log has about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// A Backend that answers 503 at the paths that fail, and 200 with its name at all others.
class ManyPaths {
 public:
  explicit ManyPaths(std::string name, std::set<std::string> failing = {})
      : name_(std::move(name)), failing_(std::move(failing)) {}

  std::uint16_t port() const { return origin_.port(); }
  void setFailing(std::set<std::string> failing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    failing_ = std::move(failing);
  }
  /// Returns how often it was asked for that path.
  std::size_t asked(const std::string& path) const {
    const std::vector<std::string> heads = origin_.heads();
    return static_cast<std::size_t>(std::count_if(
        heads.begin(), heads.end(), [&](const std::string& head) { return head.starts_with("GET " + path + " "); }));
  }
  std::vector<std::string> heads() const { return origin_.heads(); }

 private:
  void serve(BlockingSocket& socket, RawOrigin& self) const {
    while (true) {
      const std::string head = self.readHead(socket);
      if (head.empty()) return;
      socket.send(fails(head) ? "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n" : saying(name_));
    }
  }
  bool fails(const std::string& head) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::any_of(failing_.begin(), failing_.end(),
                       [&](const std::string& path) { return head.starts_with("GET " + path + " "); });
  }

  const std::string name_;
  mutable std::mutex mutex_;
  std::set<std::string> failing_;  // guarded by mutex_
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); }};
};

/// Returns one of a list of checks, in the spelling of a TrafficPolicy.
std::string checkAt(const std::string& path, const std::string& more = "interval: 1s") {
  return "{type: HTTP, unhealthyThreshold: 1, " + more + ", http: {path: " + path + "}}";
}
SpelledPolicy ownChecks(const std::string& checks) { return ownFields("healthCheck: {active: [" + checks + "]}"); }

/// The Backend "first", and "second", which gets the requests while "first" fails its checks.
class SeveralChecks : public testing::Test {
 protected:
  GatewaySpec specOf(const SpelledPolicy& policy) const {
    GatewaySpec spec;
    spec.backends = {{.name = "first", .hostname = "first.test", .port = first_.port()},
                     {.name = "second", .hostname = "second.test", .port = second_.port()}};
    spec.routes = routeOfRules("    - backendRefs: [" + backendRef("first") + ", " + backendRef("second") + "]\n") +
                  policy.forTarget("kind: HTTPRoute, name: all");
    return spec;
  }
  void start(const SpelledPolicy& policy) { gateway_ = std::make_unique<GatewayProcess>(specOf(policy)); }
  std::string healthLine(bool healthy) const {
    return "sluice_upstream_endpoint_healthy{backend=\"test/first\",endpoint=\"first.test:" +
           std::to_string(first_.port()) + "\"} " + (healthy ? "1" : "0");
  }
  /// Waits until the metric shows whether "first" is healthy.
  bool isFound(bool healthy) const {
    return eventually([&] { return gateway_->metrics().find(healthLine(healthy)) != std::string::npos; });
  }
  std::vector<std::string> ask(int count) const {
    std::vector<std::string> bodies;
    for (int i = 0; i < count; ++i) bodies.push_back(askRaw(gateway_->port()).body);
    return bodies;
  }

  ManyPaths first_{"first"};
  ManyPaths second_{"second"};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(SeveralChecks, MustAllPass) {
  const std::string proposed =
      "healthyCheckInterval: 1s, unhealthyCheckInterval: 1s, unhealthyThreshold: 1, http: {path: ";
  const SpelledPolicy both[] = {ownChecks(checkAt("/live") + ", " + checkAt("/ready")),
                                envoyFields("healthChecking: {activeChecks: [{type: http, " + proposed +
                                            "/live}}, {type: http, " + proposed + "/ready}}]}")};
  for (const SpelledPolicy& policy : both) {
    first_.setFailing({"/ready"});
    start(policy);
    ASSERT_TRUE(isFound(false)) << policy.fields;
    EXPECT_TRUE(eventually([&] { return first_.asked("/live") > 0; })) << policy.fields;
    EXPECT_THAT(ask(20), Each("second")) << policy.fields;
    first_.setFailing({});
    ASSERT_TRUE(isFound(true)) << policy.fields;
    EXPECT_THAT(ask(50), testing::Contains("first")) << policy.fields;
    first_.setFailing({"/live"});
    ASSERT_TRUE(isFound(false)) << policy.fields;
    EXPECT_THAT(ask(20), Each("second")) << policy.fields;
  }
}

TEST_F(SeveralChecks, KeepTheirStateWhenOthersOfTheListChange) {
  first_.setFailing({"/seldom"});
  const std::string seldom = checkAt("/seldom", "interval: 99999h");
  start(ownChecks(seldom + ", " + checkAt("/old")));
  ASSERT_TRUE(isFound(false));
  first_.setFailing({});
  gateway_->reload(specOf(ownChecks(seldom + ", " + checkAt("/new"))));
  ASSERT_TRUE(eventually([&] { return first_.asked("/new") >= 2; }));
  EXPECT_THAT(gateway_->metrics(), HasSubstr(healthLine(false)));
  EXPECT_EQ(first_.asked("/seldom"), 1U) << "it goes on at its own pace";
  gateway_->reload(specOf(ownChecks(checkAt("/new"))));
  EXPECT_TRUE(isFound(true)) << "the check that failed is gone";
}

constexpr const char* kAddedFields = "{name: Authorization, value: Bearer t0ken}, {name: X-A, value: one}";
constexpr const char* kAgentField = "{name: User-Agent, value: checker}";

class HeadersOfChecks : public SeveralChecks {
 protected:
  /// Expects the header fields above in the checks of a policy that logs all of them, and their values nowhere else.
  void expectThem(const SpelledPolicy& policy) {
    first_.setFailing({"/checked"});
    start(policy);
    ASSERT_TRUE(isFound(false));
    const std::string head = first_.heads().at(0);
    EXPECT_THAT(head, HasSubstr("GET /checked HTTP/1.1\r\n"));
    EXPECT_THAT(head, HasSubstr("host: first.test"));
    EXPECT_THAT(head, HasSubstr("\r\nauthorization: Bearer t0ken\r\n"));
    EXPECT_THAT(head, HasSubstr("\r\nx-a: one\r\n"));
    EXPECT_THAT(head, HasSubstr("\r\nuser-agent: checker\r\n"));
    EXPECT_EQ(countOf(head, "user-agent: "), 1U);
    EXPECT_TRUE(gateway_->process().waitUntilSaid("health check failed", 2));
    EXPECT_THAT(gateway_->process().errors(), Not(HasSubstr("t0ken")));
    for (const char* page : {"/status", "/metrics", "/events", "/explain"}) {
      EXPECT_THAT(gateway_->adminGet(page), Not(HasSubstr("t0ken"))) << page;
    }
  }
};

TEST_F(HeadersOfChecks, ArriveAndAreShownNowhere) {
  expectThem(ownFields("healthCheck: {active: {type: HTTP, interval: 1s, log: All, http: {path: /checked, headers: [" +
                       std::string(kAddedFields) + ", " + kAgentField + "]}}}"));
}

TEST_F(HeadersOfChecks, AreThoseThatAreSetAndAdded) {
  expectThem(envoyFields(
      "healthChecking: {activeChecks: [{type: http, healthyCheckInterval: 1s, unhealthyCheckInterval: 1s, "
      "logging: {enabled: true, alwaysLogFailures: true}, http: {path: /checked, addRequestHeaders: {set: [" +
      std::string(kAgentField) + "], add: [" + kAddedFields + "]}}}]}"));
}

/// Three Backends with a route each, whose checks fail and are logged in different ways.
class LogOfChecks : public testing::Test {
 protected:
  void start(const SpelledPolicy& quiet, const SpelledPolicy& usual, const SpelledPolicy& verbose) {
    gateway_.reset();
    GatewaySpec spec;
    for (const auto& [name, policy] :
         {std::pair("quiet", quiet), std::pair("usual", usual), std::pair("verbose", verbose)}) {
      spec.backends.push_back({.name = name, .hostname = std::string(name) + ".test", .port = origin_.port()});
      spec.routes += "---\n" + routeOfRules(ruleOfPrefix("/" + std::string(name), name), name) +
                     policy.forTarget("kind: HTTPRoute, name: " + std::string(name), name);
    }
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Returns how often the log says that about the Backend.
  std::size_t said(const std::string& message, const std::string& backend) const {
    return countOf(gateway_->process().errors(),
                   "\"message\":\"" + message + "\",\"attributes\":{\"backend\":\"test/" + backend + "\"");
  }

  ManyPaths origin_{"origin", {"/quiet", "/usual", "/verbose"}};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(LogOfChecks, HasWhatThePolicySays) {
  const auto own = [](const std::string& name, const std::string& log) {
    return ownChecks(checkAt("/" + name, "interval: 1s" + log));
  };
  const auto proposed = [](const std::string& name, const std::string& logging) {
    return envoyFields(
        "healthChecking: {activeChecks: [{type: http, healthyCheckInterval: 1s, unhealthyCheckInterval: 1s" + logging +
        ", http: {path: /" + name + "}}]}");
  };
  for (const bool isOwn : {true, false}) {
    if (isOwn) {
      start(own("quiet", ", log: \"Off\""), own("usual", ""), own("verbose", ", log: All"));
    } else {
      start(proposed("quiet", ""), proposed("usual", ", logging: {enabled: true}"),
            proposed("verbose", ", logging: {enabled: true, alwaysLogFailures: true}"));
    }
    const std::size_t before = origin_.asked("/quiet");
    ASSERT_TRUE(eventually([&] { return said("health check failed", "verbose") >= 2; })) << isOwn;
    ASSERT_TRUE(eventually([&] { return said("backend is unhealthy", "usual") == 1; })) << isOwn;
    ASSERT_TRUE(eventually([&] { return origin_.asked("/quiet") > before; })) << isOwn;
    EXPECT_EQ(said("backend is unhealthy", "verbose"), 1U) << isOwn;
    EXPECT_EQ(said("health check failed", "usual"), 0U) << isOwn;
    EXPECT_EQ(said("backend is unhealthy", "quiet") + said("health check failed", "quiet"), 0U) << isOwn;
    EXPECT_THAT(gateway_->process().errors(),
                HasSubstr("\"check\":\"HTTP /usual\",\"reason\":\"it answered with status 503\""));
    EXPECT_THAT(gateway_->adminGet("/events"), HasSubstr("health checks of quiet.test:")) << "events have all changes";
  }
}

}  // namespace
}  // namespace sluice::test
