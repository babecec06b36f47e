// Tests active health checks of the endpoints of Services through the binary: each endpoint is checked by itself, and
// one that fails gets no request as long as another one serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// An endpoint that serves requests independently of its health at /healthz.
class CheckedEndpoint {
 public:
  explicit CheckedEndpoint(std::string name) : name_(std::move(name)) {}

  std::uint16_t port() const { return origin_.port(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
  void setHealthy(bool healthy) { healthy_ = healthy; }

 private:
  void serve(BlockingSocket& socket, RawOrigin& self) const {
    while (true) {
      const std::string head = self.readHead(socket);
      if (head.empty()) return;
      const bool fails = head.starts_with("GET /healthz") && !healthy_;
      const std::string body = fails ? "no" : name_;
      socket.send("HTTP/1.1 " + std::string(fails ? "503 Service Unavailable" : "200 OK") +
                  "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
  }

  const std::string name_;
  std::atomic<bool> healthy_ = true;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); }};
};

class EndpointChecks : public testing::Test {
 protected:
  /// `backendRef` is the rule's, `target` the policy's.
  void start(const std::string& backendRef, const std::string& target, const std::string& more = {}) {
    GatewaySpec spec;
    spec.workers = 2;
    spec.routes =
        "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: shop}\nspec: {ports: [{name: web, port: "
        "80}]}\n"
        "---\n" +
        slice("one", one_) + slice("two", two_) + more + routeOfRules("    - backendRefs: [{" + backendRef + "}]\n") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: checked}\nspec:\n"
        "  targetRefs: [{" +
        target + "}]\n  healthCheck: {active: {type: HTTP, interval: 1s, http: {path: /healthz}}}\n";
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static std::string slice(const std::string& name, const CheckedEndpoint& endpoint) {
    return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: " + name +
           ", labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " +
           std::to_string(endpoint.port()) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n---\n";
  }
  std::vector<std::string> ask(int count) const {
    std::vector<std::string> bodies;
    for (int i = 0; i < count; ++i) {
      bodies.push_back(askRaw(gateway_->port(), "GET / HTTP/1.1\r\nHost: any.test\r\n\r\n").body);
    }
    return bodies;
  }
  /// Waits until the metric of the endpoint shows that.
  bool isFound(const std::string& backend, const CheckedEndpoint& endpoint, bool healthy) const {
    return eventually([&] {
      return gateway_->metrics().find("sluice_upstream_endpoint_healthy{backend=\"test/" + backend + "\",endpoint=\"" +
                                      endpoint.address() + "\"} " + (healthy ? "1" : "0")) != std::string::npos;
    });
  }

  CheckedEndpoint one_{"one"};
  CheckedEndpoint two_{"two"};
  std::unique_ptr<GatewayProcess> gateway_;
};

constexpr const char* kShopService = "group: '', kind: Service, name: shop";

TEST_F(EndpointChecks, KeepRequestsFromAnEndpointThatFailsWhileAnotherServes) {
  one_.setHealthy(false);
  start("name: shop, port: 80", kShopService);
  ASSERT_TRUE(isFound("shop", one_, false));
  ASSERT_TRUE(isFound("shop", two_, true));
  EXPECT_THAT(ask(30), Each("two"));
  one_.setHealthy(true);
  two_.setHealthy(false);
  ASSERT_TRUE(isFound("shop", one_, true));
  ASSERT_TRUE(isFound("shop", two_, false));
  EXPECT_THAT(ask(30), Each("one"));
}

TEST_F(EndpointChecks, LetAllEndpointsServeIfAllFail) {
  one_.setHealthy(false);
  two_.setHealthy(false);
  start("name: shop, port: 80", kShopService);
  ASSERT_TRUE(isFound("shop", one_, false));
  ASSERT_TRUE(isFound("shop", two_, false));
  EXPECT_THAT(ask(10), Each(Not("")));
}

TEST_F(EndpointChecks, DegradeABackendThatLeadsToTheServiceUntilAllFail) {
  const std::string backend =
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: models}\nspec: {destination: "
      "{type: Service, service: {name: shop}, ports: [{number: 80}]}}\n---\n";
  one_.setHealthy(false);
  start("group: sluice.dev, kind: Backend, name: models", "group: sluice.dev, kind: Backend, name: models", backend);
  ASSERT_TRUE(isFound("models", one_, false));
  EXPECT_THAT(ask(30), Each("two"));
  const auto says = [&](const std::string& condition) {
    return eventually([&] { return gateway_->adminGet("/status").find(condition) != std::string::npos; });
  };
  EXPECT_TRUE(says("{\"object\":\"Backend.sluice.dev/test/models\",\"endpoint\":\"" + one_.address() +
                   "\",\"healthy\":false,\"address\":\"" + one_.address() +
                   "\",\"weight\":1,\"state\":\"unhealthy\",\"since\":\""));
  EXPECT_TRUE(says("the health checks of " + one_.address() + " fail"));
  EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr("\"Degraded\""));
  two_.setHealthy(false);
  EXPECT_TRUE(says("\"Unhealthy\""));
}

}  // namespace
}  // namespace sluice::test
