// Tests that faults of the traffic become Event objects of the objects whose processor, Backend or limit it is, and
// their recoveries too, with a real API server and real requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/events_fixture.h"
#include "test/integration/support/switched_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A Gateway in namespace demo. Its routes lead to a Backend in namespace team, which is checked.
class KubeTrafficEvents : public KubeEventsTest {
 protected:
  void SetUp() override {
    KubeEventsTest::SetUp();
    if (IsSkipped()) return;
    startServer(InstalledKinds::kGatewayApiAndOurs);
    kubectl->apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    kubectl->apply(gateway() + backendOfTeam() + external("auth", auth.port()) + kGrant +
                   guardedRoute("all", "/", processorFor("all", "guard", kAsksServer)) +
                   guardedRoute("slow", "/slow", processorFor("slow", "limit", kSlow)) +
                   "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: team, name: checks}\n"
                   "spec:\n  targetRefs: [{group: sluice.dev, kind: Backend, name: far}]\n"
                   "  healthCheck: {active: {type: HTTP, interval: 1s, unhealthyThreshold: 1, healthyThreshold: 1, "
                   "http: {path: /healthz}}}\n");
    startGateway({"--gateway", "demo/egress"}, "", {"POD_NAME=pod-1"});
    EXPECT_TRUE(answers("/", "far"));
  }

  SwitchedOrigin far{"far"};
  SwitchedOrigin auth{"auth"};

 private:
  static constexpr const char* kGrant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: team, name: to-all}\n"
      "spec:\n  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}]\n"
      "  to: [{group: sluice.dev, kind: Backend}]\n---\n";
  static constexpr const char* kAsksServer =
      "type: 'sluice.dev/ExternalAuth:v1', phase: request-headers, config: {protocol: HTTP, backendRef: {group: "
      "gateway.networking.x-k8s.io, kind: XBackend, name: auth}}";
  static constexpr const char* kSlow =
      "type: 'gateway.networking.k8s.io/QoSController:v1', phase: request-headers, config: {requestsPerMinute: 1}";

  std::string backendOfTeam() const {
    return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: team, name: far}\nspec: "
           "{destination: {type: Fqdn, fqdn: {hostname: origin.test}, ports: [{number: " +
           std::to_string(far.port()) + "}]}}\n---\n";
  }
  static std::string processorFor(const std::string& route, const std::string& name, const std::string& use) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: demo, name: " + name +
           "}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: " + route +
           "}\n  processors: [{name: " + name + "-use, " + use + "}]\n---\n";
  }
  std::string guardedRoute(const std::string& name, const std::string& path, const std::string& processor) const {
    return route(name, path,
                 "{group: sluice.dev, kind: Backend, name: far, namespace: team, port: " + std::to_string(far.port()) +
                     "}") +
           processor;
  }
};

TEST_F(KubeTrafficEvents, NameTheProcessorThatFailsAndThatRecovers) {
  auth.set(OriginMode::kBroken);
  EXPECT_EQ(ask(), "500");
  EXPECT_TRUE(isTold("demo",
                     "Warning ProcessorFailed PayloadProcessor demo/guard: guard-use "
                     "(sluice.dev/ExternalAuth:v1), request-headers: error"));
  auth.set(OriginMode::kServe);
  EXPECT_TRUE(isTold("demo",
                     "Normal ProcessorRecovered PayloadProcessor demo/guard: guard-use "
                     "(sluice.dev/ExternalAuth:v1) does not fail any more"));
}

TEST_F(KubeTrafficEvents, NameTheBackendOfAnotherNamespaceThatIsUnhealthyAndHealthyAgain) {
  far.leave();
  EXPECT_TRUE(isTold("team", "Warning BackendUnhealthy Backend team/far: health checks of origin.test:" +
                                 std::to_string(far.port()) + " fail: "));
  EXPECT_THAT(events("team"), Not(HasSubstr("BackendHealthy"))) << "it was healthy at first";
  far.comeBack();
  EXPECT_TRUE(isTold("team", "Normal BackendHealthy Backend team/far: health checks of origin.test:" +
                                 std::to_string(far.port()) + " pass"));
}

TEST_F(KubeTrafficEvents, NameTheProcessorWhoseLimitDeniesRequests) {
  EXPECT_EQ(ask("/slow"), "far");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("/slow"), "429");
  EXPECT_TRUE(isTold("demo",
                     "Warning RequestDenied PayloadProcessor demo/limit: rate_limited: more requests than the "
                     "QoSController lets through (qosController), by limit-use"));
}

}  // namespace
}  // namespace sluice::test
