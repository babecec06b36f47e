// Rules with `retry` through the binary: origins that recover, refuse, keep silent or reset; bodies within the replay
// buffer and beyond it; shares as fail-over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "test/integration/support/gateway.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
constexpr const char* kBusy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";

/// One HTTPRoute whose rule says this, in lines of YAML, and has these shares.
std::string routeOf(const std::string& rule, const std::string& shares) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\n"
         "spec:\n  parentRefs: [{name: egress}]\n  rules:\n    - " +
         rule + "\n      backendRefs: [" + shares + "]\n";
}
std::string share(const std::string& name, const std::string& more = {}) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name + more + "}";
}
std::string routeOf(const std::string& rule) { return routeOf(rule, share("origin")); }

/// The Content-Length of a request head.
std::size_t lengthIn(const std::string& head) {
  const std::size_t at = head.find("content-length: ");
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
}

/// Answers busy `failures` times, then well; keeps the bodies of what it was asked.
class Recovering {
 public:
  explicit Recovering(int failures, std::string bad = kBusy) : failures_(failures), bad_(std::move(bad)) {}

  std::uint16_t port() const { return origin_.port(); }
  std::vector<std::string> heads() const { return origin_.heads(); }
  std::vector<std::string> bodies() const {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  void serve(Socket& socket, RawOrigin& self) {
    for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
      const std::string body = socket.readExactly(lengthIn(head));
      {
        const std::lock_guard lock(mutex_);
        bodies_.push_back(body);
      }
      const std::string& answer = failures_-- > 0 ? bad_ : good_;
      if (answer.empty()) return socket.reset();
      socket.send(answer);
    }
  }

  std::atomic<int> failures_;
  const std::string bad_;  // empty: a reset
  const std::string good_ = kOk;
  mutable std::mutex mutex_;
  std::vector<std::string> bodies_;
  RawOrigin origin_{[this](Socket& socket, RawOrigin& self) { serve(socket, self); }};
};

/// By curl: the status, or the whole answer.
std::string statusOf(const Gateway& gateway, const std::string& target, std::vector<std::string> more = {}) {
  std::vector<std::string> argv = {"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", gateway.url(target)};
  argv.insert(argv.end(), more.begin(), more.end());
  return run(argv).output;
}

TEST(RetryRules, HideAnOriginThatRecovers) {
  const Recovering origin(2);
  Gateway gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOf("retry: {codes: [503], attempts: 3, backoff: 10ms}")});
  EXPECT_EQ(run({"curl", "-sS", gateway.url("/a")}).output, "hello");
  EXPECT_EQ(origin.heads().size(), 3U);
  const std::string labels =
      "{gateway=\"test/egress\",route=\"test/all\",backend=\"test/origin\",namespace=\"\","
      "serviceAccount=\"\",http_response_status_code=";
  EXPECT_EQ(gateway.metric("http_client_request_duration_seconds_count" + labels + "\"503\",error_type=\"\"}"), 2);
  EXPECT_EQ(gateway.metric("http_client_request_duration_seconds_count" + labels + "\"200\",error_type=\"\"}"), 1);
  EXPECT_EQ(gateway.metric("http_server_request_duration_seconds_count" + labels + "\"200\",error_type=\"\"}"), 1);
  const auto lines = gateway.accessLog(1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("\"attempts\":3"));
  EXPECT_THAT(lines[0], HasSubstr("\"http.response.status_code\":200,\"error.type\":null"));
}

TEST(RetryRules, ShowTheLastAnswerOfAnOriginThatDoesNot) {
  const Recovering origin(100);
  const Gateway gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOf("retry: {codes: [503], attempts: 2, backoff: 10ms}")});
  const std::string answer = run({"curl", "-sS", "-i", gateway.url("/a")}).output;
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(answer, HasSubstr("busy"));
  EXPECT_EQ(origin.heads().size(), 3U);
}

// Attack row 57.
TEST(RetryRules, DoNotBuryAnOriginThatAlwaysFails) {
  constexpr std::size_t kRequests = 300;
  const Recovering origin(1'000'000);
  const Gateway gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOf("retry: {codes: [503], attempts: 5, backoff: 1ms}")});
  const auto begun = std::chrono::steady_clock::now();
  Socket client = Socket::connect(gateway.port());
  for (std::size_t i = 0; i < kRequests; ++i) {
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const RawResponse got = readResponse(client);
    ASSERT_EQ(got.status, 503);
    ASSERT_EQ(got.body, "busy");
  }
  // A fifth, or ten in each second.
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
  const std::size_t attempts = origin.heads().size();
  EXPECT_LE(attempts, kRequests + kRequests / 5 + 10 * static_cast<std::size_t>(took.count() + 2));
  EXPECT_GE(attempts, kRequests + 10);
  EXPECT_TRUE(gateway.limitWasHit("retryBudget"));
}

TEST(RetryRules, LeaveOtherStatusesAlone) {
  const Recovering origin(100);
  const Gateway gateway({.backends = {{.port = origin.port()}},
                         .routes = routeOf("retry: {codes: [500, 502, 504], attempts: 2, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a"), "503");
  EXPECT_EQ(origin.heads().size(), 1U);
}

TEST(RetryRules, RepeatAnUploadWithinTheReplayBufferForClientsOfBothVersions) {
  const std::string body(64 * 1024, 'x');
  TempDir folder;
  const std::string file = folder.write("body", body);
  for (const std::vector<std::string>& version : {std::vector<std::string>{}, {"--http2-prior-knowledge"}}) {
    const Recovering origin(1);
    const Gateway gateway({.backends = {{.port = origin.port()}},
                           .routes = routeOf("retry: {codes: [503], attempts: 1, backoff: 10ms}")});
    std::vector<std::string> more = {"--data-binary", "@" + file};
    more.insert(more.end(), version.begin(), version.end());
    EXPECT_EQ(statusOf(gateway, "/a", more), "200");
    EXPECT_EQ(origin.bodies(), std::vector<std::string>(2, body));
    EXPECT_EQ(gateway.limitHits("replayBuffer"), 0);
  }
}

TEST(RetryRules, SendAnUploadBeyondTheReplayBufferOnce) {
  const std::string body(64 * 1024 + 1, 'x');
  TempDir folder;
  const Recovering origin(1);
  const Gateway gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOf("retry: {codes: [503], attempts: 1, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a", {"--data-binary", "@" + folder.write("body", body)}), "503");
  EXPECT_EQ(origin.bodies().size(), 1U);
  EXPECT_TRUE(gateway.limitWasHit("replayBuffer"));
}

TEST(RetryRules, FollowTheReplayBufferOfTheSettings) {
  TempDir folder;
  const std::string file = folder.write("body", std::string(2000, 'x'));
  for (const bool enough : {true, false}) {
    const Recovering origin(1);
    const Gateway gateway({.backends = {{.port = origin.port()}},
                           .settings = std::string("limits: {replayBuffer: ") + (enough ? "2000" : "1999") + "}\n",
                           .routes = routeOf("retry: {codes: [503], attempts: 1, backoff: 10ms}")});
    EXPECT_EQ(statusOf(gateway, "/a", {"--data-binary", "@" + file}), enough ? "200" : "503");
  }
}

TEST(RetryRules, TryAConnectionAgainThatIsRefused) {
  const std::uint16_t nobody = freePort();
  Gateway gateway({.backends = {{.port = nobody}}, .routes = routeOf("retry: {attempts: 2, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a", {"--data", "x"}), "503");
  EXPECT_THAT(gateway.accessLog(1).at(0), HasSubstr("\"attempts\":3"));
}

TEST(RetryRules, AskAgainAfterAResetOnlyWhatMayBeRepeated) {
  for (const bool idempotent : {true, false}) {
    const Recovering origin(1, "");
    const Gateway gateway(
        {.backends = {{.port = origin.port()}}, .routes = routeOf("retry: {attempts: 1, backoff: 10ms}")});
    EXPECT_EQ(statusOf(gateway, "/a", {"-X", idempotent ? "PUT" : "POST", "--data", "body"}),
              idempotent ? "200" : "502");
    EXPECT_EQ(origin.bodies(), std::vector<std::string>(idempotent ? 2 : 1, "body"));
  }
}

TEST(RetryRules, GiveEveryAttemptAtASilentOriginItsTime) {
  std::atomic<int> asked = 0;
  const RawOrigin origin([&](Socket& socket, RawOrigin& self) {
    self.readHead(socket);
    if (++asked == 1) return self.waitUntilItStops();
    socket.send(kOk);
  });
  const Gateway gateway({.backends = {{.port = origin.port()}},
                         .routes = routeOf("timeouts: {backendRequest: 200ms, request: 5s}\n"
                                           "      retry: {codes: [504], attempts: 1, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/a"), "200");
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(gateway.limitWasHit("backendRequest"));
}

TEST(RetryRules, EndWithTheTimeOfTheWholeRequest) {
  const EchoOrigin origin(std::nullopt);
  const Gateway gateway({.backends = {{.port = origin.port()}},
                         .routes = routeOf("timeouts: {request: 500ms, backendRequest: 200ms}\n"
                                           "      retry: {attempts: 10, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/silent"), "504");
}

TEST(RetryRules, WorkTowardsHttp2Too) {
  const Identity authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  Gateway gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}},
                   .routes = routeOf("retry: {codes: [503], attempts: 2, backoff: 10ms}")});
  EXPECT_EQ(statusOf(gateway, "/status/503", {"--data", "body", "--http2-prior-knowledge"}), "503");
  EXPECT_THAT(gateway.accessLog(1).at(0), HasSubstr("\"attempts\":3"));
  EXPECT_EQ(gateway.metric("http_client_open_connections{backend=\"test/origin\",http_connection_state=\"idle\"}"), 1)
      << "one connection for all of them";
}

// E-96: what is meant for one Backend is not told to another.
TEST(RetryRules, FailOverToAnotherShareWithoutTheFirstOnesCredentials) {
  const Recovering broken(100);
  const Recovering sound(0);
  const Gateway gateway(
      {.backends = {{.name = "a", .hostname = "a.test", .port = broken.port()},
                    {.name = "b", .hostname = "b.test", .port = sound.port()}},
       .routes = routeOf(
           "retry: {codes: [503], attempts: 1, backoff: 10ms}",
           share("a",
                 ", weight: 1000000, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: "
                 "Authorization, value: secret-of-a}]}}]") +
               ", " + share("b", ", weight: 1"))});
  EXPECT_EQ(statusOf(gateway, "/a"), "200");
  ASSERT_EQ(broken.heads().size(), 1U);
  EXPECT_THAT(broken.heads()[0], HasSubstr("authorization: secret-of-a"));
  ASSERT_EQ(sound.heads().size(), 1U);
  EXPECT_THAT(sound.heads()[0], Not(HasSubstr("secret-of-a")));
  EXPECT_THAT(sound.heads()[0], HasSubstr("b.test"));
}

}  // namespace
}  // namespace sluice::test
