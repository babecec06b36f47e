// Tests active health checks of TrafficPolicies through the binary: by HTTP, gRPC and TCP, of Backends that fail, hang,
// go and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;

std::string checkedAnswer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A Backend whose health is checked at its paths /healthz and /hang; its other paths serve independently of its
/// health.
class CheckedProvider {
 public:
  explicit CheckedProvider(std::string name) : name_(std::move(name)) {}

  std::uint16_t port() const { return origin_.port(); }
  void setHealthy(bool healthy) { healthy_ = healthy; }
  void setServing(bool serving) { serving_ = serving; }
  int probes() const { return probes_; }
  int requests() const { return requests_; }
  std::string probe() const {
    for (const std::string& head : origin_.heads()) {
      if (head.starts_with("GET /healthz")) return head;
    }
    return {};
  }

 private:
  void serve(BlockingSocket& socket, RawOrigin& self) {
    while (true) {
      const std::string head = self.readHead(socket);
      if (head.empty()) return;
      if (head.starts_with("GET /hang")) return self.waitUntilItStops();
      if (head.starts_with("GET /healthz")) {
        ++probes_;
        socket.send(healthy_ ? checkedAnswer("204 No Content", "") : checkedAnswer("503 Service Unavailable", "no"));
      } else {
        ++requests_;
        socket.send(serving_ ? checkedAnswer("200 OK", name_) : checkedAnswer("500 Internal Server Error", "broken"));
      }
    }
  }

  const std::string name_;
  std::atomic<bool> healthy_ = true;
  std::atomic<bool> serving_ = true;
  std::atomic<int> probes_ = 0;
  std::atomic<int> requests_ = 0;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); }};
};

class ActiveHealth : public testing::Test {
 protected:
  /// `active` has the fields of healthCheck.active, `more` other fields of the policy.
  void start(const std::string& active, const std::string& more = {}) {
    spec_.backends = {{.name = "first", .hostname = "first.test", .port = firstPort_ != 0 ? firstPort_ : first_.port()},
                      {.name = "second", .hostname = "second.test", .port = second_.port()}};
    spec_.routes =
        routeOfRules("    - backendRefs: [" + backendRef("first") + ", " + backendRef("second", ", weight: 0") +
                     "]\n") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: checked}\nspec:\n"
        "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
        "  failover: {priorities: [{backendRef: " +
        backendRef("second") +
        ", priority: 1}]}\n"
        "  healthCheck: {active: {" +
        active + "}" + more + "}\n";
    gateway_ = std::make_unique<GatewayProcess>(spec_);
  }
  std::vector<std::string> ask(int count) const {
    std::vector<std::string> bodies;
    for (int i = 0; i < count; ++i) {
      const ReceivedResponse answer = askRaw(gateway_->port(), "GET / HTTP/1.1\r\nHost: any.test\r\n\r\n");
      bodies.push_back(answer.status == 200 ? answer.body : std::to_string(answer.status));
    }
    return bodies;
  }
  /// Waits until the metric of the Backend shows that.
  bool isFound(const std::string& backend, bool healthy) const {
    return eventually([&] {
      const std::string metrics = gateway_->metrics();
      const std::size_t at = metrics.find("sluice_upstream_endpoint_healthy{backend=\"test/" + backend + "\"");
      return at != std::string::npos && metrics.substr(metrics.find("} ", at) + 2, 1) == (healthy ? "1" : "0");
    });
  }

  CheckedProvider first_{"first"};
  CheckedProvider second_{"second"};
  std::uint16_t firstPort_ = 0;  // in the place of that of first_
  GatewaySpec spec_;
  std::unique_ptr<GatewayProcess> gateway_;
};

constexpr const char* kByHttp = "type: HTTP, interval: 1s, http: {path: \"/healthz?deep=1\", expectedStatuses: [204]}";

TEST_F(ActiveHealth, TakeNoRequestToABackendThatFailsThem) {
  first_.setHealthy(false);
  start(kByHttp);
  ASSERT_TRUE(isFound("first", false));
  ASSERT_TRUE(isFound("second", true));
  const int before = first_.requests();
  EXPECT_THAT(ask(20), Each("second"));
  EXPECT_EQ(first_.requests(), before);
  first_.setHealthy(true);
  ASSERT_TRUE(isFound("first", true));
  EXPECT_THAT(ask(20), Each("first"));
}

TEST_F(ActiveHealth, AskForThePathAtTheBackendsOwnHost) {
  start(kByHttp);
  ASSERT_TRUE(isFound("first", true));
  EXPECT_THAT(first_.probe(), HasSubstr("GET /healthz?deep=1 HTTP/1.1\r\n"));
  EXPECT_THAT(first_.probe(), HasSubstr("host: first.test"));
}

TEST_F(ActiveHealth, AskOnceForTheWholeProcess) {
  spec_.workers = 4;
  start("type: HTTP, interval: 1h, http: {path: /healthz, expectedStatuses: [204]}");
  ASSERT_TRUE(eventually([&] { return first_.probes() > 0 && second_.probes() > 0; }));
  EXPECT_THAT(ask(20), Each("first"));
  EXPECT_EQ(first_.probes(), 1);
  EXPECT_EQ(second_.probes(), 1);
}

TEST_F(ActiveHealth, WaitForSeveralFailuresInARow) {
  start(std::string(kByHttp) + ", unhealthyThreshold: 2");
  ASSERT_TRUE(isFound("first", true));
  const int before = first_.probes();
  first_.setHealthy(false);
  ASSERT_TRUE(isFound("first", false));
  EXPECT_GE(first_.probes(), before + 2);
}

TEST_F(ActiveHealth, FailIfTheBackendHangs) {
  start("type: HTTP, interval: 1s, timeout: 200ms, http: {path: /hang}");
  EXPECT_TRUE(isFound("first", false));
  EXPECT_TRUE(isFound("second", false));
  EXPECT_THAT(ask(5), Each("first")) << "if nobody is healthy, requests go where they would go";
}

TEST_F(ActiveHealth, ConnectByTcp) {
  firstPort_ = freePort();
  start("type: TCP, interval: 1s");
  ASSERT_TRUE(isFound("first", false));
  EXPECT_TRUE(isFound("second", true));
  EXPECT_THAT(ask(20), Each("second"));
  EXPECT_TRUE(gateway_->process().waitUntilSaid("backend is unhealthy", 1));
}

/// Answers PONG to PING, as long as it is to.
class PingedOrigin {
 public:
  std::uint16_t port() const { return origin_.port(); }
  void setAnswering(bool answering) { answering_ = answering; }

 private:
  void serve(BlockingSocket& socket) const {
    if (socket.readExactly(4) == "PING" && answering_) socket.send("PONG");
  }

  std::atomic<bool> answering_ = true;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& /*self*/) { serve(socket); }};
};

TEST_F(ActiveHealth, MayExpectBytesOverTcp) {
  PingedOrigin pinged;
  firstPort_ = pinged.port();
  start(
      "type: TCP, interval: 1s, unhealthyThreshold: 1, tcp: {send: {type: Text, text: PING}, receive: {type: Text, "
      "text: PONG}}");
  EXPECT_TRUE(isFound("first", true));
  EXPECT_TRUE(isFound("second", false)) << "it answers nothing to that";
  pinged.setAnswering(false);
  EXPECT_TRUE(isFound("first", false));
}

/// Returns the status of the condition Available of a Backend, with its reason.
std::string availabilityOf(const GatewayProcess& gateway, const std::string& backend) {
  const std::string status = gateway.adminGet("/status");
  const std::string object = "\"kind\":\"Backend\",\"namespace\":\"test\",\"name\":\"" + backend + "\"";
  const std::size_t at = status.find("\"type\":\"Available\"", status.find(object));
  if (at == std::string::npos) return "none";
  const auto member = [&](const std::string& name) {
    const std::size_t from = status.find("\"" + name + "\":\"", at) + name.size() + 4;
    return status.substr(from, status.find('"', from) - from);
  };
  return member("status") + "/" + member("reason");
}

TEST_F(ActiveHealth, MakeABackendUnavailableThatFailsThem) {
  first_.setHealthy(false);
  start(kByHttp);
  ASSERT_TRUE(eventually([&] { return availabilityOf(*gateway_, "first") == "False/Unhealthy"; }));
  EXPECT_EQ(availabilityOf(*gateway_, "second"), "True/Available");
  EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr("\"healthy\":false"));
  first_.setHealthy(true);
  EXPECT_TRUE(eventually([&] { return availabilityOf(*gateway_, "first") == "True/Available"; }));
}

TEST_F(ActiveHealth, AreNotNeededToFindOutThatABackendTakesNoConnections) {
  const std::uint16_t port = freePort();
  spec_.backends = {{.name = "gone", .hostname = "gone.test", .port = port}};
  spec_.routes = routeOfRules("    - backendRefs: [" + backendRef("gone") + "]\n");
  gateway_ = std::make_unique<GatewayProcess>(spec_);
  EXPECT_EQ(availabilityOf(*gateway_, "gone"), "True/Available") << "nobody has asked yet";
  EXPECT_THAT(ask(1), Each("503"));
  ASSERT_TRUE(eventually([&] { return availabilityOf(*gateway_, "gone") == "False/Unreachable"; }));
  RawOrigin back(
      [](BlockingSocket& socket, RawOrigin& self) {
        if (!self.readHead(socket).empty()) socket.send(checkedAnswer("200 OK", "back"));
      },
      port);
  EXPECT_TRUE(eventually([&] { return ask(1) == std::vector<std::string>{"back"}; }));
  EXPECT_TRUE(eventually([&] { return availabilityOf(*gateway_, "gone") == "True/Available"; }));
}

TEST_F(ActiveHealth, EndTheEjectionOfABackendThatServesAgain) {
  start(kByHttp, ", passive: {consecutive5XxErrors: 1, baseEjectionTime: 1h, maxEjectionTime: 1h}");
  ASSERT_TRUE(isFound("first", true));
  first_.setServing(false);
  first_.setHealthy(false);
  EXPECT_THAT(ask(1), Each("500"));
  ASSERT_TRUE(isFound("first", false));
  EXPECT_THAT(ask(5), Each("second"));
  first_.setServing(true);
  first_.setHealthy(true);
  ASSERT_TRUE(isFound("first", true));
  EXPECT_THAT(ask(5), Each("first"));
}

TEST_F(ActiveHealth, SurviveAReloadAndEndWithTheirPolicy) {
  first_.setHealthy(false);
  start(kByHttp);
  ASSERT_TRUE(isFound("first", false));
  spec_.backends.push_back({.name = "third", .hostname = "third.test", .port = second_.port()});
  gateway_->reload(spec_);
  EXPECT_THAT(ask(5), Each("second")) << "what was found counts from the first request on";
  const int before = first_.probes();
  EXPECT_TRUE(eventually([&] { return first_.probes() > before + 1; }));
  spec_.routes = spec_.routes.substr(0, spec_.routes.find("---\napiVersion: sluice.dev"));
  gateway_->reload(spec_);
  EXPECT_THAT(ask(5), Each("first"));
  EXPECT_TRUE(eventually([&] { return gateway_->metrics().find("endpoint_healthy{") == std::string::npos; }));
}

TEST_F(ActiveHealth, CallGrpcsHealthService) {
  GrpcOrigin origin(std::nullopt, "health_origin.mjs");
  const auto health = [&](const std::string& service) {
    spec_.backends = {{.name = "grpc", .hostname = "grpc.test", .port = origin.port()}};
    spec_.routes =
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: "
        "calls}\nspec:\n  parentRefs: [{name: egress}]\n  rules: [{backendRefs: [" +
        backendRef("grpc") +
        "]}]\n---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: "
        "checked}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: GRPCRoute, name: calls}]\n"
        "  healthCheck: {active: {type: GRPC, interval: 1s, timeout: 10s" +
        service + "}}\n";
    gateway_ = std::make_unique<GatewayProcess>(spec_);
  };
  health("");
  EXPECT_TRUE(isFound("grpc", true)) << gateway_->process().errors();
  health(", grpc: {service: down}");
  EXPECT_TRUE(isFound("grpc", false));
  EXPECT_TRUE(gateway_->process().waitUntilSaid("it answered that it does not serve", 1));
  health(", grpc: {service: missing}");
  EXPECT_TRUE(isFound("grpc", false));
  EXPECT_TRUE(gateway_->process().waitUntilSaid("it answered with gRPC status 5", 1));
}

/// A Backend with TLS, and a port of its machine where its health is checked without TLS.
class ChecksOfTls : public testing::Test {
 protected:
  /// Returns whether checks with these fields pass.
  bool pass(const std::string& fields) {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port(), .ca = root_.certificate}};
    spec.routes =
        routeOfRules("    - backendRefs: [" + backendRef("origin") + "]\n") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: checked}\nspec:\n"
        "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
        "  healthCheck: {active: {type: HTTP, interval: 1s, http: {path: /healthz, expectedStatuses: [200, 204]}, " +
        fields + "}}\n";
    const GatewayProcess gateway(spec);
    const std::string series = "sluice_upstream_endpoint_healthy{backend=\"test/origin\"";
    EXPECT_TRUE(eventually([&] { return gateway.metrics().find(series) != std::string::npos; }));
    const std::string metrics = gateway.metrics();
    return metrics.substr(metrics.find("} ", metrics.find(series)) + 2, 1) == "1";
  }
  std::string healthPort() const { return "port: " + std::to_string(health_.port()); }

  CertifiedKey root_ = makeAuthority();
  EchoOrigin origin_{issueServer(root_, "origin.test")};
  CheckedProvider health_{"health"};
};

TEST_F(ChecksOfTls, AreThatOfTheBackendUnlessTheySayOtherwise) {
  EXPECT_TRUE(pass("timeout: 2s"));
  EXPECT_FALSE(pass("tls: {mode: None}"));
  EXPECT_FALSE(pass("tls: {sni: other.test}"));
  EXPECT_TRUE(pass("tls: {sni: other.test, insecureSkipVerify: true}"));
}

TEST_F(ChecksOfTls, MayGoToAnotherPortWithoutIt) {
  EXPECT_FALSE(pass(healthPort()));
  EXPECT_TRUE(pass(healthPort() + ", tls: {mode: None}"));
  EXPECT_THAT(health_.probe(), HasSubstr("host: origin.test:" + std::to_string(health_.port())));
}

}  // namespace
}  // namespace sluice::test
