// Tests injected credentials, and connections that a client has logged in: attacks try to have one used for another
// client's request, on the real binary with origins that record what they get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns a use of CredentialInjector whose secret names its owner.
std::string injecting(const std::string& owner, const std::string& where, int priority = 0) {
  return use("CredentialInjector", owner, "request-headers",
             "secretRef: {name: key-" + owner + "}, " + where + ", allowPlaintext: true",
             ", priority: " + std::to_string(priority));
}
std::string secretsOf(const std::vector<std::string>& owners) {
  std::string all;
  for (const std::string& owner : owners) all += secretOf("key-" + owner, "token: secret-" + owner);
  return all;
}
std::string modelRouter(const std::string& more = {}) {
  return "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, priority: 10, config: {routeHint: "
         "x-model}" +
         more + "}";
}
const std::vector<std::string> kOfJson = {"-H", "content-type: application/json", "--data-binary"};

std::string post(const GatewayProcess& gateway, const std::string& body, const std::vector<std::string>& more = {}) {
  std::vector<std::string> options = kOfJson;
  options.push_back(body);
  options.insert(options.end(), more.begin(), more.end());
  return statusOf(gateway, "/v1/chat?own=1", options);
}

class CredentialAttacks : public testing::Test {
 protected:
  /// Returns rule "large" by x-model, and one for all other requests with its own filters and uses.
  GatewaySpec specOf(const std::string& uses, const std::string& filters = {}) const {
    return {.backends = {{.port = first_.port()},
                         {.name = "large", .hostname = "large.test", .port = large_.port()},
                         {.name = "copy",
                          .hostname = "copy.test",
                          .port = copy_.port(),
                          .extensions = "[" + injecting("copy", "header: X-Copy-Key") + "]"}},
            .routes = routeOfRules("    - matches: [{headers: [{name: x-model, value: large}]}]\n      backendRefs: [" +
                                   backendRef("large") + "]\n    - filters: [" + inlined(uses) + filters + "]\n" +
                                   backendRefs()) +
                      secretsOf({"route", "query", "copy"})};
  }

  RecordingOrigin first_{[](std::size_t) { return kOk; }};
  RecordingOrigin large_{[](std::size_t) { return kOk; }};
  RecordingOrigin copy_{[](std::size_t) { return kOk; }};
};

TEST_F(CredentialAttacks, ARequestThatItsBodyReroutesLosesTheFirstRoutesCredentials) {
  const GatewayProcess gateway(specOf(injecting("route", "header: Authorization") + ", " +
                                      injecting("query", "queryParam: key") + ", " + modelRouter()));
  EXPECT_EQ(post(gateway, R"({"model": "large"})", {"-H", "authorization: own"}), "200");
  ASSERT_EQ(large_.heads().size(), 1U);
  EXPECT_EQ(countOf(large_.heads()[0], "secret-"), 0U) << large_.heads()[0];
  EXPECT_THAT(large_.heads()[0], HasSubstr("POST /v1/chat?own=1 HTTP/1.1\r\n"));
  EXPECT_EQ(countOf(large_.heads()[0], "authorization: own\r\n"), 1U);
  EXPECT_EQ(post(gateway, R"({"model": "other"})"), "200") << "the victim, whose route has the credentials";
  ASSERT_EQ(first_.heads().size(), 1U);
  EXPECT_EQ(countOf(first_.heads()[0], "secret-route"), 1U);
  EXPECT_EQ(countOf(first_.heads()[0], "key=secret-query"), 1U);
}

TEST_F(CredentialAttacks, AMirrorGetsOnlyItsOwnCredentials) {
  const GatewayProcess gateway(
      specOf(injecting("route", "header: Authorization") + ", " + injecting("query", "queryParam: key") + ", " +
                 use("HeaderModifier", "drops", "request-headers", "remove: [X-Inner]"),
             ", {type: RequestHeaderModifier, requestHeaderModifier: {remove: [X-Hidden]}}, {type: "
             "RequestMirror, requestMirror: {backendRef: " +
                 backendRef("copy") + "}}"));
  EXPECT_EQ(post(gateway, "{}", {"-H", "authorization: own", "-H", "X-Inner: 1", "-H", "X-Hidden: 1"}), "200");
  ASSERT_TRUE(copy_.hears(1));
  const std::string head = copy_.heads()[0];
  EXPECT_EQ(countOf(head, "x-copy-key: secret-copy\r\n"), 1U) << head;
  EXPECT_EQ(countOf(head, "secret-"), 1U) << head;
  for (const char* gone : {"authorization", "x-inner", "x-hidden"}) EXPECT_EQ(countOf(head, gone), 0U) << head;
  ASSERT_EQ(first_.heads().size(), 1U);
  EXPECT_EQ(countOf(first_.heads()[0], "secret-copy"), 0U);
}

TEST_F(CredentialAttacks, AFilterOfTheRouteDoesNotRemoveInjectedCredentials) {
  const GatewayProcess gateway(
      specOf(injecting("route", "header: Authorization"),
             ", {type: RequestHeaderModifier, requestHeaderModifier: {remove: [Authorization]}}"));
  EXPECT_EQ(post(gateway, "{}", {"-H", "authorization: own"}), "200");
  ASSERT_EQ(first_.heads().size(), 1U);
  EXPECT_EQ(countOf(first_.heads()[0], "authorization: Bearer secret-route\r\n"), 1U) << first_.heads()[0];
  EXPECT_EQ(countOf(first_.heads()[0], "authorization"), 1U);
}

TEST_F(CredentialAttacks, AClientCannotPickTheRouteByABodyRoutersField) {
  for (const char* more : {"", ", failOpen: true"}) {
    const bool open = *more != '\0';
    GatewaySpec spec = specOf(modelRouter(more));
    spec.routes = routeOfRules("    - matches: [{headers: [{name: x-model, value: large}]}]\n      filters: [" +
                               inlined(modelRouter(more)) + "]\n      backendRefs: [" + backendRef("large") +
                               "]\n    - filters: [" + inlined(modelRouter(more)) + "]\n" + backendRefs()) +
                  secretsOf({"copy"});
    const GatewayProcess gateway(spec);
    const std::size_t before = large_.heads().size();
    EXPECT_EQ(post(gateway, R"({"messages": []})", {"-H", "x-model: large"}), "200");
    EXPECT_EQ(post(gateway, R"({"model": ["large"]})", {"-H", "x_model: large", "-H", "X-Model: large"}),
              open ? "200" : "400");
    EXPECT_EQ(post(gateway, "no json", {"-H", "x-model: large"}), open ? "200" : "400");
    for (const char* variant : {R"({"Model": "large"})", R"({"model": "small", "MODEL": "large"})"}) {
      EXPECT_EQ(post(gateway, variant), "200") << "members are told apart by case: " << variant;
    }
    EXPECT_EQ(large_.heads().size(), before);
    EXPECT_EQ(post(gateway, R"({"model": "large"})"), "200") << "the victim";
    EXPECT_EQ(large_.heads().size(), before + 1);
    for (const std::string& head : first_.heads()) EXPECT_EQ(countOf(head, "large"), 0U) << head;
  }
}

/// An origin that simulates a connection login with NTLM: every request on a connection belongs to the user of its last
/// credentials.
class ConnectionAuthOrigin {
 public:
  std::uint16_t port() const { return origin_.port(); }

 private:
  void serve(BlockingSocket& socket, RawOrigin& self) {
    std::string user;
    while (true) {
      const std::string head = self.readHead(socket);
      if (head.empty()) return;
      const std::size_t at = head.find("uthorization: NTLM ");
      if (at != std::string::npos) user = head.substr(at + 19, head.find('\r', at) - at - 19);
      const std::string length = "Content-Length: " + std::to_string(user.size()) + "\r\n";
      socket.send(user.empty() ? "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
                               : "HTTP/1.1 200 OK\r\n" + length + "\r\n" + user);
    }
  }

  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); }};
};

std::string asUser(BlockingSocket& client, const std::string& fields = {}) {
  client.send("GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  const auto answer = readResponse(client);
  return answer.status == 200 ? answer.body : std::to_string(answer.status);
}

TEST(ConnectionAuthAttacks, ALoggedInConnectionServesNoOtherClient) {
  const ConnectionAuthOrigin origin;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket alice = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(asUser(alice), "401");
  EXPECT_EQ(asUser(alice, "Authorization: NTLM alice\r\n"), "alice");
  // At least one of several connections is with the worker that serves the victim.
  for (int i = 0; i < 8; ++i) {
    BlockingSocket mallory = BlockingSocket::connect(gateway.port());
    EXPECT_EQ(asUser(mallory), "401") << "and not alice";
    EXPECT_EQ(asUser(alice), "alice") << "the victim, who stays logged in";
  }
  BlockingSocket mallory = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(asUser(mallory, "Authorization: NTLM mallory\r\n"), "mallory");
  EXPECT_EQ(asUser(alice), "alice");
}

TEST(ConnectionAuthAttacks, AGatewayThatRefusesTheSchemesAllowsNoLogin) {
  const ConnectionAuthOrigin origin;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "connectionAuth: Refuse\n"});
  BlockingSocket alice = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(asUser(alice, "Authorization: NTLM alice\r\n"), "403");
  alice.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto answer = readResponse(alice);
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(countOf(answer.head, "NTLM"), 0U);
}

}  // namespace
}  // namespace sluice::test
