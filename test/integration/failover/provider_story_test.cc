// Tests fail-over between three providers with credentials of their own while many clients send requests: the primary
// is slow, then busy, then unreachable, and then it serves again.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "test/integration/support/client_crowd.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"
#include "test/integration/support/switched_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStoryClients = 200;
constexpr std::size_t kStoryWorkers = 2;
constexpr std::size_t kStoryFailures = 3;  // failures in a row until a Backend is ejected

constexpr const char* kHealthOfFirst = "sluice_upstream_endpoint_healthy{backend=\"test/first\"";

std::string ownKey(const std::string& owner) {
  return "[" +
         use("CredentialInjector", "key", "request-headers",
             "secretRef: {name: key-" + owner + "}, allowPlaintext: true") +
         "]";
}

/// Three providers: "first", "second" over TLS, and "third", in the order of their priorities. The second answers with
/// the head of the request that it got.
class ProviderStory : public testing::Test {
 protected:
  GatewaySpec spec() const {
    GatewaySpec spec;
    spec.workers = kStoryWorkers;
    spec.accessLog = "off";
    spec.startedBy = time_.startedBy();
    spec.settings = onlyTimeouts("request: 24h");
    spec.backends = {{.name = "first", .hostname = "first.test", .port = first_.port(), .extensions = ownKey("first")},
                     {.name = "second",
                      .hostname = "second.test",
                      .port = second_.port(),
                      .ca = authority_.certificate,
                      .extensions = ownKey("second")},
                     {.name = "third", .hostname = "third.test", .port = third_.port(), .extensions = ownKey("third")}};
    spec.routes =
        routeOfRules("    - backendRefs: [" + backendRef("first") + ", " + backendRef("second", ", weight: 0") + ", " +
                     backendRef("third", ", weight: 0") + "]\n") +
        secretOf("key-first", "token: secret-first") + secretOf("key-second", "token: secret-second") +
        secretOf("key-third", "token: secret-third") +
        "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: "
        "story}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
        "  retry: {codes: [429, 500, 503, 504], attempts: 2, backoff: 1ms, attemptTimeout: 10m}\n"
        "  failover: {priorities: [{backendRef: " +
        backendRef("second") + ", priority: 1}, {backendRef: " + backendRef("third") +
        ", priority: 2}]}\n"
        "  healthCheck:\n"
        "    active: {type: HTTP, interval: 1s, timeout: 24h, http: {path: /healthz}}\n"
        "    passive: {consecutive5XxErrors: " +
        std::to_string(kStoryFailures) + ", baseEjectionTime: 1m, maxEjectionTime: 1m}\n";
    return spec;
  }
  /// Names the provider that has answered by the credentials that it got.
  static std::string provider(int status, std::string_view body) {
    if (status != 200) return std::to_string(status);
    const bool isSecond = countOf(body, "secret-") == 1 && countOf(body, "bearer secret-second") == 1;
    return isSecond ? "second" : std::string(body);
  }

  CertifiedKey authority_ = makeAuthority();
  SwitchedOrigin first_{"first"};
  EchoOrigin second_{issueServer(authority_, "second.test")};
  SwitchedOrigin third_{"third"};
  PassedTime time_;
};

TEST_F(ProviderStory, FailsNoRequestWhileThePrimaryIsSlowThenBusyThenGoneAndThenBack) {
  const GatewayProcess gateway(spec());
  ASSERT_TRUE(gateway.reaches(kHealthOfFirst, 1));
  ClientCrowd clients(gateway.port(), kStoryClients, kGet, provider);
  ASSERT_TRUE(clients.hasAnswers(500, "first"));

  first_.set(OriginMode::kHold);
  ASSERT_TRUE(first_.holds(kStoryClients)) << "it is so slow that each client waits for it";
  std::size_t before = first_.requests();
  time_.pass(gateway, 10min);
  ASSERT_TRUE(clients.hasAnswers(1000, "second"));
  EXPECT_LE(first_.requests(), before + kStoryFailures * kStoryWorkers);

  first_.set(OriginMode::kBusy);
  before = first_.requests();
  time_.pass(gateway, 61s);
  ASSERT_TRUE(first_.hears(before + 1)) << "one request finds out";
  ASSERT_TRUE(clients.hasAnswers(1000, "second"));
  EXPECT_EQ(first_.requests(), before + 1);

  first_.set(OriginMode::kServe);
  time_.pass(gateway, 61s);
  ASSERT_TRUE(clients.hasAnswers(500, "first"));

  first_.set(OriginMode::kHold);
  ASSERT_TRUE(first_.holds(kStoryClients));
  first_.leave();
  ASSERT_TRUE(eventually([&] { return gateway.metric(kHealthOfFirst) == 0; }));
  ASSERT_TRUE(clients.hasAnswers(1000, "second"));
  const double refused = gateway.metric(attemptsOf("first", "", "connection_refused"));
  EXPECT_GE(refused, 1);
  EXPECT_LE(refused, kStoryClients + kStoryFailures * kStoryWorkers) << "requests that were on their way, and few more";
  ASSERT_TRUE(clients.hasAnswers(1000, "second"));
  EXPECT_EQ(gateway.metric(attemptsOf("first", "", "connection_refused")), refused);

  before = first_.requests();
  first_.comeBack(2);
  ASSERT_TRUE(first_.hears(before + 1)) << "it has answered no more than two health checks";
  ASSERT_TRUE(clients.hasAnswers(500, "first"));

  const ClientCrowd::Outcomes outcomes = clients.finish();
  EXPECT_EQ(outcomes.size(), 2U) << testing::PrintToString(outcomes);
  EXPECT_EQ(third_.requests(), 0U);
  for (const std::string& head : first_.heads()) {
    const std::size_t keys = head.starts_with("GET /healthz ") ? 0 : 1;
    ASSERT_EQ(countOf(head, "secret-"), keys) << head;
    ASSERT_EQ(countOf(head, "bearer secret-first"), keys) << head;
  }
}

}  // namespace
}  // namespace sluice::test
