// Tests that a Backend's processors change requests to that Backend only, whichever Backend they fail over to: two
// origins record the requests of forced fail-overs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kBusyWithMark = "HTTP/1.1 503 Service Unavailable\r\nX-From: busy\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kReset = "";
/// With even weights, each weighted backend is chosen first more than five times in this many requests, but for once in
/// millions of runs.
constexpr int kEnoughRequests = 40;

/// Returns uses that put everything into a request that a Backend may, marked with its name.
std::string usesOf(const std::string& name) {
  const std::string edit = "set: [{name: X-Set, value: set-" + name + "}], add: [{name: X-Add, value: more-" + name +
                           "}], remove: [X-Drop-" + name + "]";
  const std::string key = "secretRef: {name: key-" + name + "}, allowPlaintext: true";
  return "[" + use("CredentialInjector", "bearer", "request-headers", key) + ", " +
         use("CredentialInjector", "field", "backend-request", key + ", header: X-Key-" + name) + ", " +
         use("CredentialInjector", "query", "backend-request", key + ", queryParam: key-" + name) + ", " +
         use("HeaderModifier", "early", "request-headers", edit) + ", " +
         adding("late", "backend-request", "X-Add", "late-" + name) + ", " +
         adding("back", "backend-response", "X-Back", "back-" + name) + "]";
}

std::string secrets() { return secretOf("key-a", "token: secret-a") + secretOf("key-b", "token: secret-b"); }

/// Returns the marks of a Backend, which must not reach any other. None can occur in the id of a request, which is
/// hexadecimal.
std::vector<std::string> marksOf(const std::string& name) {
  return {"secret-" + name, "x-key-" + name, "key-" + name, "set-" + name, "more-" + name, "late-" + name};
}

void expectOnly(const std::vector<std::string>& heads, const std::string& own, const std::string& other) {
  for (const std::string& head : heads) {
    EXPECT_EQ(countOf(head, "authorization: Bearer secret-" + own + "\r\n"), 1U) << head;
    EXPECT_EQ(countOf(head, "x-key-" + own + ": secret-" + own + "\r\n"), 1U) << head;
    EXPECT_EQ(countOf(head, "key-" + own + "=secret-" + own), 1U) << head;
    for (const std::string line : {"x-set: set-", "x-add: more-", "x-add: late-"}) {
      EXPECT_EQ(countOf(head, line + own + "\r\n"), 1U) << head;
    }
    EXPECT_EQ(countOf(head, "x-drop-" + own), 0U) << head;
    EXPECT_EQ(countOf(head, "x-drop-" + other + ": kept\r\n"), 1U) << head;
    EXPECT_EQ(countOf(head, "theirs"), 0U) << head;
    for (const std::string& mark : marksOf(other)) EXPECT_EQ(countOf(head, mark), 0U) << head;
  }
}

/// These fields are in each request of a client.
const std::vector<std::string> kFields = {
    "-H", "Authorization: Bearer theirs", "-H", "X-Drop-A: kept", "-H", "X-Drop-B: kept", "-H", "X-Set: theirs"};

class Isolation : public testing::Test {
 protected:
  GatewaySpec specOf(std::uint16_t a, std::uint16_t b, const std::string& rule = {}) const {
    return {.backends = {{.name = "a", .hostname = "a.test", .port = a, .extensions = usesOf("a")},
                         {.name = "b", .hostname = "b.test", .port = b, .extensions = usesOf("b")}},
            .routes = routeOfRules("    - retry: {codes: [503], attempts: 3, backoff: 1ms}\n" + rule +
                                   "      backendRefs: [" + backendRef("a") + ", " + backendRef("b") + "]\n") +
                      secrets()};
  }
  /// Sends this many requests in each version of HTTP, on one connection each, and returns how many were answered with
  /// 200.
  static std::size_t askMany(const GatewayProcess& gateway) {
    std::size_t served = countOf(answersTo(gateway), "\n200\n");
    H2Client client(gateway.port());
    for (std::uint32_t stream = 1; stream < 2 * kEnoughRequests; stream += 2) {
      H2Lines lines = h2::get("/x");
      for (const char* name : {"authorization", "x-set"}) lines.emplace_back(name, "theirs");
      for (const char* name : {"x-drop-a", "x-drop-b"}) lines.emplace_back(name, "kept");
      client.send(h2::headers(stream, lines, true));
      EXPECT_TRUE(client.readStream(stream));
      if (client.status(stream) == "200") ++served;
    }
    return served;
  }
  /// Returns curl's output for this many requests over HTTP/1.1, each answer followed by its status.
  static std::string answersTo(const GatewayProcess& gateway) {
    std::vector<std::string> more = kFields;
    more.insert(more.end(), {"-w", "\n%{http_code}\n"});
    for (int i = 1; i < kEnoughRequests; ++i) more.push_back(gateway.url("/x"));
    return ask(gateway, "/x", more);
  }
};

TEST_F(Isolation, NothingOfABackendThatAnswers503OrResetsReachesTheOther) {
  for (const char* failure : {kBusyWithMark, kReset}) {
    const RecordingOrigin a([&](std::size_t) { return failure; });
    const RecordingOrigin b([](std::size_t) { return kOk; });
    const GatewayProcess gateway(specOf(a.port(), b.port()));
    EXPECT_GE(askMany(gateway), 20U);
    EXPECT_GE(a.heads().size(), 10U) << "fail-overs were forced";
    EXPECT_GE(b.heads().size(), 10U);
    expectOnly(a.heads(), "a", "b");
    expectOnly(b.heads(), "b", "a");
  }
}

TEST_F(Isolation, NothingOfABackendThatRefusesConnectionsReachesTheOther) {
  const RecordingOrigin b([](std::size_t) { return kOk; });
  const GatewayProcess gateway(specOf(freePort(), b.port()));
  EXPECT_GE(askMany(gateway), 20U);
  EXPECT_GE(b.heads().size(), 10U);
  expectOnly(b.heads(), "b", "a");
}

TEST_F(Isolation, HoldsOverTlsAndHttp2WithReusedConnections) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin a(issueServer(authority, "a.test"), {"--h2-only"});
  const EchoOrigin b(issueServer(authority, "b.test"), {"--h2-only"});
  GatewaySpec spec = specOf(a.port(), b.port());
  for (BackendSpec& each : spec.backends) each.ca = authority.certificate;
  const std::string busy =
      ", filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /status/503}}}]";
  spec.routes = routeOfRules("    - retry: {codes: [503], attempts: 3, backoff: 1ms}\n      backendRefs: [" +
                             backendRef("a", busy) + ", " + backendRef("b") + "]\n") +
                secrets();
  const GatewayProcess gateway(spec);
  const std::string answers = answersTo(gateway);
  const std::size_t served = countOf(answers, "\n200\n");
  EXPECT_GE(served, 10U);
  EXPECT_TRUE(gateway.reaches(attemptsOf("a", "503"), 5)) << "fail-overs were forced";
  EXPECT_EQ(countOf(answers, "\"authorization: Bearer secret-b\""), served);
  EXPECT_EQ(countOf(answers, "\"x-key-b: secret-b\""), served);
  EXPECT_EQ(countOf(answers, "back-b"), served);
  EXPECT_EQ(countOf(answers, "theirs"), 0U);
  for (const char* mark : {"secret-a", "x-key-a", "key-a=", "set-a", "more-a", "late-a"}) {
    EXPECT_EQ(countOf(answers, mark), 0U) << mark;
  }
}

TEST_F(Isolation, EachAttemptAtABackendBeginsAnew) {
  const RecordingOrigin a([](std::size_t number) { return number % 3 == 2 ? kOk : kBusyWithMark; });
  GatewaySpec spec = specOf(a.port(), 9);
  spec.routes = routeOfRules("    - retry: {codes: [503], attempts: 3, backoff: 1ms}\n      backendRefs: [" +
                             backendRef("a") + "]\n") +
                secrets();
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusOf(gateway, "/", kFields), "200");
  EXPECT_EQ(a.heads().size(), 3U);
  expectOnly(a.heads(), "a", "b");
}

TEST_F(Isolation, EditsOfADiscardedResponseAreDiscardedWithIt) {
  const RecordingOrigin a([](std::size_t) { return kBusyWithMark; });
  const RecordingOrigin b([](std::size_t) { return kOk; });
  const GatewayProcess gateway(specOf(a.port(), b.port()));
  std::size_t failedOver = 0;
  for (int i = 0; i < kEnoughRequests && failedOver < 3; ++i) {
    const std::size_t before = a.heads().size();
    const std::string answer = ask(gateway, "/", kFields);
    if (a.heads().size() == before || answer.find(" 200 ") == std::string::npos) continue;
    ++failedOver;
    EXPECT_EQ(countOf(answer, "x-back: back-b\r\n"), 1U) << answer;
    EXPECT_EQ(countOf(answer, "back-a"), 0U) << answer;
    EXPECT_EQ(countOf(answer, "x-from"), 0U) << answer;
  }
  EXPECT_GE(failedOver, 1U);
}

TEST_F(Isolation, AMirroredRequestHasNothingThatAStepAdded) {
  const RecordingOrigin copy([](std::size_t) { return kOk; });
  const RecordingOrigin a([](std::size_t) { return kOk; });
  GatewaySpec spec = specOf(a.port(), 9);
  spec.backends.push_back({.name = "copy", .hostname = "copy.test", .port = copy.port()});
  const std::string inlined = use("CredentialInjector", "rule", "request-headers",
                                  "secretRef: {name: key-b}, header: X-Rule, allowPlaintext: true");
  spec.routes = routeOfRules("    - filters: [{type: PayloadProcessing, payloadProcessing: [" + inlined +
                             "]}, {type: RequestMirror, requestMirror: {backendRef: " + backendRef("copy") +
                             "}}]\n      backendRefs: [" + backendRef("a") + "]\n") +
                secrets();
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusOf(gateway, "/x", kFields), "200");
  ASSERT_TRUE(copy.hears(1));
  ASSERT_EQ(a.heads().size(), 1U);
  EXPECT_THAT(a.heads()[0], HasSubstr("x-rule: secret-b\r\n"));
  const std::string head = copy.heads()[0];
  EXPECT_THAT(head, HasSubstr("GET /x HTTP/1.1\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("x-rule")));
  for (const std::string& mark : marksOf("a")) EXPECT_EQ(countOf(head, mark), 0U) << head;
  EXPECT_EQ(countOf(head, "secret-b"), 0U) << head;
}

TEST_F(Isolation, ARedirectShowsNothingThatAStepAdded) {
  GatewaySpec spec = specOf(9, 9);
  const std::string inlined = use("CredentialInjector", "rule", "request-headers",
                                  "secretRef: {name: key-b}, queryParam: key, allowPlaintext: true");
  spec.routes = routeOfRules("    - filters: [{type: PayloadProcessing, payloadProcessing: [" + inlined +
                             "]}, {type: RequestRedirect, requestRedirect: {hostname: else.test}}]\n") +
                secrets();
  const GatewayProcess gateway(spec);
  const std::string answer = ask(gateway, "/x?a=b");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 302 "));
  EXPECT_EQ(countOf(answer, "/x?a=b\r\n"), 1U) << answer;
  EXPECT_EQ(countOf(answer, "secret-b"), 0U) << answer;
}

}  // namespace
}  // namespace sluice::test
