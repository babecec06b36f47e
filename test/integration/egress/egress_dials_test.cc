// Tests that EgressPolicies judge every dial that the gateway makes for a request through the binary: fail-over,
// retries, callouts of processors, and health checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kUnavailableOrigin = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

std::string policyDenying(const std::string& hostname) {
  return egressPolicy("p", kGatewayTarget,
                      "default: Allow, rules: [" + denying("no", "to: {hostnames: [" + hostname + "]}") + "]");
}

/// Three Backends of a rule: "first", "second" and "third", with an address each.
class EgressFailOver : public testing::Test {
 protected:
  void start(const std::string& policies, bool failsOver = true) {
    GatewaySpec spec;
    spec.backends = {{.name = "first", .hostname = "first.test", .port = first_.port(), .addresses = "127.0.0.1"},
                     {.name = "second", .hostname = "second.test", .port = second_.port(), .addresses = "127.0.0.1"},
                     {.name = "third", .hostname = "third.test", .port = third_.port(), .addresses = "127.0.0.1"}};
    const std::string retry = "  retry: {codes: [503], attempts: 2, backoff: 1ms}\n";
    const std::string failover = "  failover: {priorities: [" + priority("first", 0) + ", " + priority("second", 1) +
                                 ", " + priority("third", 2) + "]}\n";
    spec.routes =
        routeOfRules("    - backendRefs: [" + backendRef("first") + ", " + backendRef("second", ", weight: 0") + ", " +
                     backendRef("third", ", weight: 0") + "]\n") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: "
        "t}\nspec:\n  targetRefs: [" +
        kRouteTarget + "]\n" + retry + (failsOver ? failover : "") + policies;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static std::string priority(const std::string& name, int level) {
    return "{backendRef: " + backendRef(name) + ", priority: " + std::to_string(level) + "}";
  }

  RawOrigin first_{RawOrigin::answering(saying("first"))};
  RawOrigin second_{RawOrigin::answering(saying("second"))};
  RawOrigin third_{RawOrigin::answering(saying("third"))};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(EgressFailOver, PassesOverABackendThatIsDeniedByName) {
  start(policyDenying("first.test"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(askRaw(gateway_->port()).body, "second");
  EXPECT_TRUE(first_.heads().empty());
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "no", "denied"), 3));
}

TEST_F(EgressFailOver, PassesOverABackendThatIsDeniedByAddress) {
  start(egressPolicy("p", kGatewayTarget,
                     "default: Allow, rules: [" +
                         denying("no", "to: {cidrs: [127.0.0.0/8], ports: [" + std::to_string(first_.port()) + ", " +
                                           std::to_string(second_.port()) + "]}") +
                         "]"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(askRaw(gateway_->port()).body, "third");
  EXPECT_TRUE(first_.heads().empty());
  EXPECT_TRUE(second_.heads().empty());
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "no", "denied"), 6));
}

TEST_F(EgressFailOver, Is403IfNoBackendIsLeft) {
  start(policyDenying("'*.test'"));
  EXPECT_EQ(askRaw(gateway_->port()).status, 403);
  for (const RawOrigin* each : {&first_, &second_, &third_}) EXPECT_TRUE(each->heads().empty());
  EXPECT_THAT(gateway_->accessLog(1).at(0), HasSubstr("\"decision\":\"denied\""));
}

TEST_F(EgressFailOver, DoesNotPassOverADeniedBackendByWeight) {
  start(policyDenying("first.test"), /*failsOver=*/false);
  EXPECT_EQ(askRaw(gateway_->port()).status, 403);
}

/// The first Backend fails, and the next attempt goes to another one.
class EgressRetries : public testing::Test {
 protected:
  RawOrigin failing_{RawOrigin::answering(kUnavailableOrigin)};
  RawOrigin serving_{RawOrigin::answering(saying("served"))};
  RawOrigin denied_{RawOrigin::answering(saying("denied"))};
};

TEST_F(EgressRetries, PassOverABackendThatIsDenied) {
  GatewaySpec spec;
  spec.backends = {{.name = "failing", .hostname = "failing.test", .port = failing_.port()},
                   {.name = "denied", .hostname = "denied.test", .port = denied_.port()},
                   {.name = "serving", .hostname = "serving.test", .port = serving_.port()}};
  spec.routes =
      routeOfRules("    - retry: {codes: [503], attempts: 1, backoff: 1ms}\n      backendRefs: [" +
                   backendRef("failing", ", weight: 1000000") + ", " + backendRef("denied", ", weight: 1000") + ", " +
                   backendRef("serving", ", weight: 1") + "]\n") +
      policyDenying("denied.test");
  const GatewayProcess gateway(spec);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(askRaw(gateway.port()).body, "served");
  EXPECT_TRUE(denied_.heads().empty());
}

// --- the gateway's own requests
// -----------------------------------------------------------------------------------------

TEST(EgressOfCallouts, AreJudgedWithTheExchangesClient) {
  const RawOrigin origin(RawOrigin::answering(saying("served")));
  const RawOrigin asked(RawOrigin::answering(saying("yes")));
  const std::string port = std::to_string(asked.port());
  GatewaySpec spec;
  spec.backends = {{.port = origin.port()}};
  spec.program = "sluice-asking";
  const std::string rule =
      "    - filters: [" +
      inlined("{name: ask, type: 'acme.test/Ask:v1', phase: request-headers, config: {port: " + port +
              ", protocol: 'http/1.1', path: '/ask'}}") +
      "]\n" + backendRefs();
  const auto policyFor = [&](const std::string& clients) {
    return egressPolicy("p", kGatewayTarget,
                        "default: Allow, rules: [" +
                            denying("asking", "from: {cidrs: [" + clients + "]}, to: {ports: [" + port + "]}") + "]");
  };
  spec.routes = routeOfRules(rule) + policyFor("10.0.0.0/8");
  GatewayProcess gateway(spec);
  EXPECT_EQ(askRaw(gateway.port()).status, 200);
  EXPECT_EQ(asked.heads().size(), 1U);
  spec.routes = routeOfRules(rule) + policyFor("127.0.0.0/8");
  gateway.reload(spec);
  EXPECT_EQ(askRaw(gateway.port()).status, 500) << "the step fails closed";
  EXPECT_EQ(asked.heads().size(), 1U);
  EXPECT_TRUE(gateway.reaches(decisionsOf("p", "asking", "denied"), 1));
}

class EgressOfHealthChecks : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& check, const std::string& policies) const {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.routes = routeOfRules("    - " + backendRefs().substr(6)) +
                  "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: "
                  "t}\nspec:\n  targetRefs: [" +
                  kRouteTarget + "]\n  healthCheck: {active: {" + check + ", interval: 1s}}\n" + policies;
    return spec;
  }
  static constexpr const char* kByHttp = "type: HTTP, http: {path: /healthz}";
  static constexpr const char* kByTcp = "type: TCP";

  RawOrigin origin_{RawOrigin::answering(kOk)};
};

TEST_F(EgressOfHealthChecks, AreNotMadeToADeniedName) {
  const GatewayProcess gateway(specOf(kByHttp, policyDenying("origin.test")));
  EXPECT_TRUE(gateway.reaches(decisionsOf("p", "no", "denied"), 2)) << "checks were due twice";
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(EgressOfHealthChecks, AreNotMadeToADeniedAddress) {
  const std::string policy = egressPolicy(
      "p", kGatewayTarget, "default: Allow, rules: [" + denying("no", "to: {cidrs: [127.0.0.1/32]}") + "]");
  for (const char* check : {kByHttp, kByTcp}) {
    const GatewayProcess gateway(specOf(check, policy));
    EXPECT_TRUE(gateway.reaches("sluice_upstream_endpoint_healthy{", 0));
    EXPECT_TRUE(eventually([&] {
      return gateway.adminGet("/events").find("an egress policy denies this destination") != std::string::npos;
    })) << check;
    EXPECT_TRUE(origin_.heads().empty()) << check;
  }
}

TEST_F(EgressOfHealthChecks, NeedNoClientAndNoMethod) {
  const GatewayProcess gateway(
      specOf(kByHttp, egressPolicy("p", kGatewayTarget,
                                   "rules: [" +
                                       allowing("ours",
                                                "from: {cidrs: [10.0.0.0/8]}, to: {hostnames: [origin.test], cidrs: "
                                                "[127.0.0.0/8]}, http: {methods: [POST]}") +
                                       ", " + denying("get", "http: {methods: [GET]}") + "]")));
  EXPECT_TRUE(eventually([&] { return !origin_.heads().empty(); })) << "the check is made";
  EXPECT_EQ(askRaw(gateway.port()).status, 403) << "the request of a client is denied";
}

}  // namespace
}  // namespace sluice::test
