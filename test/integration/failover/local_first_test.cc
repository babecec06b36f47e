// Tests fail-over from a Service of the cluster to a provider outside it while many clients send requests: the Service
// is busy, then gone, and then it serves again.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "test/integration/support/client_crowd.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/route.h"
#include "test/integration/support/switched_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kClientsOfLocal = 50;
constexpr const char* kHealthOfLocal = "sluice_upstream_endpoint_healthy{backend=\"test/local\"";

class LocalFirst : public testing::Test {
 protected:
  GatewaySpec spec() const {
    GatewaySpec spec;
    spec.workers = 2;
    spec.accessLog = "off";
    spec.startedBy = time_.startedBy();
    spec.settings = onlyTimeouts("request: 24h");
    spec.backends = {{.name = "outside", .hostname = "outside.test", .port = outside_.port()}};
    spec.routes =
        routeOfRules("    - backendRefs: [{name: local, port: 80}, " + backendRef("outside", ", weight: 0") + "]\n") +
        serviceOf("local", local_.port(), "{name: web, port: 80}") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: local-first}\n"
        "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
        "  retry: {codes: [429, 500, 503, 504], attempts: 2, backoff: 1ms}\n"
        "  failover: {priorities: [{backendRef: " +
        backendRef("outside") +
        ", priority: 1}]}\n"
        "  healthCheck:\n"
        "    active: {type: HTTP, interval: 1s, timeout: 24h, http: {path: /healthz}}\n"
        "    passive: {consecutive5XxErrors: 3, baseEjectionTime: 1m, maxEjectionTime: 1m}\n";
    return spec;
  }
  static std::string answering(int status, std::string_view body) {
    return status == 200 ? std::string(body) : std::to_string(status);
  }

  SwitchedOrigin local_{"local"};
  SwitchedOrigin outside_{"outside"};
  PassedTime time_;
};

TEST_F(LocalFirst, FailsNoRequestWhileTheServiceIsBusyThenGoneAndThenBack) {
  const GatewayProcess gateway(spec());
  ASSERT_TRUE(gateway.reaches(kHealthOfLocal, 1));
  ClientCrowd clients(gateway.port(), kClientsOfLocal, kGet, answering);
  ASSERT_TRUE(clients.hasAnswers(500, "local"));
  EXPECT_EQ(outside_.requests(), 0U) << "nothing leaves the cluster";

  local_.set(OriginMode::kBusy);
  ASSERT_TRUE(clients.hasAnswers(1000, "outside"));
  local_.set(OriginMode::kServe);
  time_.pass(gateway, 61s);
  ASSERT_TRUE(clients.hasAnswers(500, "local"));

  local_.leave();
  ASSERT_TRUE(eventually([&] { return gateway.metric(kHealthOfLocal) == 0; }));
  ASSERT_TRUE(clients.hasAnswers(1000, "outside"));
  const std::size_t before = local_.requests();
  local_.comeBack(2);
  ASSERT_TRUE(local_.hears(before + 1));
  ASSERT_TRUE(clients.hasAnswers(500, "local"));

  const ClientCrowd::Outcomes outcomes = clients.finish();
  EXPECT_EQ(outcomes.size(), 2U) << testing::PrintToString(outcomes);
}

}  // namespace
}  // namespace sluice::test
