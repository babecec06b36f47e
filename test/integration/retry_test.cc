// Tests rules with `retry` through the binary: origins that recover, refuse, keep silent or reset; bodies within the
// replay buffer and beyond it; fail-over between weighted backends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
constexpr const char* kBusy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";

/// Returns one HTTPRoute whose rule has these members, as lines of YAML, and these weighted backends.
std::string routeOfRule(const std::string& rule, const std::string& shares = backendRef()) {
  return routeOfRules("    - " + rule + "\n      backendRefs: [" + shares + "]\n");
}

/// Answers 503 `failures` times, then 200.
class Recovering : public RecordingOrigin {
 public:
  explicit Recovering(std::size_t failures, const std::string& bad = kBusy)
      : RecordingOrigin([=](std::size_t number) { return number < failures ? bad : kHello; }) {}
};

TEST(RetryRules, HideFailuresOfAnOriginThatRecovers) {
  const Recovering origin(2);
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .routes = routeOfRule("retry: {codes: [503], attempts: 3, backoff: 10ms}")});
  EXPECT_THAT(ask(gateway, "/a"), HasSubstr("\r\n\r\nhello"));
  EXPECT_EQ(origin.heads().size(), 3U);
  // An exchange is counted when it has ended, which may be after the client has its answer.
  EXPECT_TRUE(gateway.reaches(
      "http_server_request_duration_seconds_count{gateway=\"test/egress\",route=\"test/all\",backend=\"test/"
      "origin\",namespace=\"\",serviceAccount=\"\",http_request_method=\"GET\",http_response_status_code=\"200\",error_"
      "type=\"\"}",
      1));
  EXPECT_TRUE(gateway.reaches(attemptsOf("origin", "200"), 1));
  EXPECT_EQ(gateway.metric(attemptsOf("origin", "503")), 2);
  const auto lines = gateway.accessLog(1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("\"attempts\":3"));
  EXPECT_THAT(lines[0], HasSubstr("\"http.response.status_code\":200,\"error.type\":null"));
}

TEST(RetryRules, ReturnTheLastAnswerOfAnOriginThatDoesNotRecover) {
  const Recovering origin(100);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .routes = routeOfRule("retry: {codes: [503], attempts: 2, backoff: 10ms}")});
  const std::string answer = ask(gateway, "/a");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(answer, HasSubstr("busy"));
  EXPECT_EQ(origin.heads().size(), 3U);
}

TEST(RetryRules, DoNotOverloadAnOriginThatAlwaysFails) {
  constexpr std::size_t kRequests = 300;
  constexpr std::chrono::seconds kDeadline{60};
  const Recovering origin(1'000'000);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .routes = routeOfRule("retry: {codes: [503], attempts: 5, backoff: 1ms}")});
  std::string requests;
  for (std::size_t i = 1; i < kRequests; ++i) requests += kGet;
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  const auto begun = std::chrono::steady_clock::now();
  client.send(requests + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = client.readAll(kDeadline);
  const auto took = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
  ASSERT_TRUE(client.closed());
  EXPECT_EQ(countOf(answers, "HTTP/1.1 503 "), kRequests);
  EXPECT_EQ(countOf(answers, "\r\n\r\nbusy"), kRequests);
  // The limit is a fifth of the requests, or ten in each second that passes meanwhile. A slow machine only raises the
  // bound, and within the deadline it stays far below the six attempts that each request would have.
  const std::size_t attempts = origin.heads().size();
  EXPECT_LE(attempts, kRequests + kRequests / 5 + 10 * static_cast<std::size_t>(took.count() + 1));
  EXPECT_GE(attempts, kRequests + 10);
  EXPECT_TRUE(gateway.limitWasHit("retryBudget"));
}

TEST(RetryRules, LeaveOtherStatusesAlone) {
  const Recovering origin(100);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .routes = routeOfRule("retry: {codes: [500, 502, 504], attempts: 2, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a"), "503");
  EXPECT_EQ(origin.heads().size(), 1U);
}

TEST(RetryRules, RepeatAnUploadWithinTheReplayBufferForClientsOfBothVersions) {
  const std::string body(64 * 1024, 'x');
  TempDir folder;
  const std::string file = folder.write("body", body);
  for (const std::vector<std::string>& version : {std::vector<std::string>{}, {"--http2-prior-knowledge"}}) {
    const Recovering origin(1);
    const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                  .routes = routeOfRule("retry: {codes: [503], attempts: 1, backoff: 10ms}")});
    std::vector<std::string> more = {"--data-binary", "@" + file};
    more.insert(more.end(), version.begin(), version.end());
    EXPECT_EQ(statusOf(gateway, "/a", more), "200");
    EXPECT_EQ(origin.bodies(), std::vector<std::string>(2, body));
    EXPECT_EQ(gateway.limitHits("replayBuffer"), 0);
  }
}

TEST(RetryRules, SendAnUploadBeyondTheReplayBufferOnce) {
  const std::string body(1024 * 1024 + 1, 'x');
  TempDir folder;
  const Recovering origin(1);
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .routes = routeOfRule("retry: {codes: [503], attempts: 1, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a", {"--data-binary", "@" + folder.write("body", body)}), "503");
  EXPECT_EQ(origin.bodies().size(), 1U);
  EXPECT_TRUE(gateway.limitWasHit("replayBuffer"));
  EXPECT_TRUE(gateway.reaches("sluice_retry_unreplayable_total{route=\"test/all\",backend=\"test/origin\"}", 1));
  EXPECT_THAT(gateway.accessLog(1).at(0), HasSubstr("\"retry_refused\":\"replayBuffer\""));
}

TEST(RetryRules, FollowTheReplayBufferOfTheSettings) {
  TempDir folder;
  const std::string file = folder.write("body", std::string(2000, 'x'));
  for (const bool enough : {true, false}) {
    const Recovering origin(1);
    const GatewayProcess gateway(
        {.backends = {{.port = origin.port()}},
         .settings = std::string("limits: {replayBuffer: ") + (enough ? "2000" : "1999") + "}\n",
         .routes = routeOfRule("retry: {codes: [503], attempts: 1, backoff: 10ms}")});
    EXPECT_EQ(statusOf(gateway, "/a", {"--data-binary", "@" + file}), enough ? "200" : "503");
  }
}

TEST(RetryRules, RetryRefusedConnections) {
  const std::uint16_t nobody = freePort();
  GatewayProcess gateway(
      {.backends = {{.port = nobody}}, .routes = routeOfRule("retry: {attempts: 2, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a", {"--data", "x"}), "503");
  EXPECT_THAT(gateway.accessLog(1).at(0), HasSubstr("\"attempts\":3"));
}

TEST(RetryRules, RetryOnlyIdempotentRequestsAfterAReset) {
  for (const bool idempotent : {true, false}) {
    const Recovering origin(1, "");
    const GatewayProcess gateway(
        {.backends = {{.port = origin.port()}}, .routes = routeOfRule("retry: {attempts: 1, backoff: 10ms}")});
    EXPECT_EQ(statusOf(gateway, "/a", {"-X", idempotent ? "PUT" : "POST", "--data", "body"}),
              idempotent ? "200" : "502");
    EXPECT_EQ(origin.bodies(), std::vector<std::string>(idempotent ? 2 : 1, "body"));
  }
}

TEST(RetryRules, GiveEveryAttemptAtASilentOriginItsTime) {
  std::atomic<int> asked = 0;
  const RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    if (++asked == 1) return self.waitUntilItStops();
    socket.send(kHello);
  });
  PassedTime time;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .routes = routeOfRule("timeouts: {backendRequest: 40s, request: 120s}\n"
                                                      "      retry: {codes: [504], attempts: 1, backoff: 10ms}"),
                                .startedBy = time.startedBy()});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(eventually([&] { return asked == 1; }));
  time.pass(gateway, std::chrono::seconds(40));
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(gateway.limitWasHit("backendRequest"));
}

TEST(RetryRules, EndAtTheRequestTimeout) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .routes = routeOfRule("timeouts: {request: 500ms, backendRequest: 200ms}\n"
                                                      "      retry: {attempts: 10, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/silent"), "504");
}

TEST(RetryRules, WorkTowardsHttp2Too) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}},
                          .routes = routeOfRule("retry: {codes: [503], attempts: 2, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/status/503", {"--data", "body", "--http2-prior-knowledge"}), "503");
  EXPECT_THAT(gateway.accessLog(1).at(0), HasSubstr("\"attempts\":3"));
  const std::string idle = "http_client_open_connections{backend=\"test/origin\",http_connection_state=\"idle\"}";
  EXPECT_TRUE(gateway.reaches(idle, 1));
  EXPECT_EQ(gateway.metric(idle), 1) << "one connection for all of them";
}

// Credentials meant for one Backend must not reach another.
TEST(RetryRules, FailOverToAnotherBackendWithoutTheFirstOnesCredentials) {
  const Recovering broken(100);
  const Recovering sound(0);
  const GatewayProcess gateway(
      {.backends = {{.name = "a", .hostname = "a.test", .port = broken.port()},
                    {.name = "b", .hostname = "b.test", .port = sound.port()}},
       .routes = routeOfRule(
           "retry: {codes: [503], attempts: 1, backoff: 10ms}",
           backendRef("a",
                      ", weight: 1000000, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: "
                      "Authorization, value: secret-of-a}]}}]") +
               ", " + backendRef("b", ", weight: 1"))});
  EXPECT_EQ(statusOf(gateway, "/a"), "200");
  ASSERT_EQ(broken.heads().size(), 1U);
  EXPECT_THAT(broken.heads()[0], HasSubstr("authorization: secret-of-a"));
  ASSERT_EQ(sound.heads().size(), 1U);
  EXPECT_THAT(sound.heads()[0], Not(HasSubstr("secret-of-a")));
  EXPECT_THAT(sound.heads()[0], HasSubstr("b.test"));
}

/// Returns a rule that retries once, with nearly all of the weight at `a`.
std::string mostlyToA() {
  return routeOfRule("retry: {attempts: 1, backoff: 10ms}",
                     backendRef("a", ", weight: 1000") + ", " + backendRef("b", ", weight: 1"));
}

TEST(RetryRules, ServeEveryRequestWhileABackendIsDown) {
  constexpr std::size_t kRequests = 100;
  const Recovering sound(0);
  const GatewayProcess gateway({.backends = {{.name = "a", .hostname = "a.test", .port = freePort()},
                                             {.name = "b", .hostname = "b.test", .port = sound.port()}},
                                .routes = mostlyToA()});
  std::string requests;
  for (std::size_t i = 1; i < kRequests; ++i) requests += kGet;
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(requests + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = client.readAll();
  EXPECT_EQ(countOf(answers, "HTTP/1.1 200 "), kRequests);
  EXPECT_EQ(gateway.limitHits("retryBudget"), 0);
}

TEST(RetryRules, LeaveOutABackendWhoseNameDoesNotResolve) {
  const NameServer names(NameServer::Records{{"b.test", {"127.0.0.1"}}});
  const Recovering sound(0);
  const GatewayProcess gateway(
      {.backends = {{.name = "a", .hostname = "a.test", .port = sound.port(), .addresses = ""},
                    {.name = "b", .hostname = "b.test", .port = sound.port(), .addresses = ""}},
       .routes = mostlyToA(),
       .dns = "servers: [\"" + names.address() + "\"]"});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(statusOf(gateway, "/a"), "200") << i;
  EXPECT_EQ(sound.heads().size(), 20U);
  EXPECT_EQ(gateway.limitHits("retryBudget"), 0);
}

}  // namespace
}  // namespace sluice::test
