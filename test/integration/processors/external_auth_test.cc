// Tests the filter ExternalAuth and the processor type behind it, with real authorization servers: one over HTTP, and
// one by Envoy's gRPC protocol on grpc-js.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kToken = {"-H", "Authorization: Bearer token-of-client"};

class ExternalAuthFilter : public testing::Test {
 protected:
  /// Returns a gateway whose one rule has the filter, with these members besides the backendRef.
  GatewaySpec specOf(std::uint16_t port, const std::string& members, const std::string& more = {}) const {
    const std::string filter =
        "{type: ExternalAuth, externalAuth: {backendRef: " + backendRef("guard") + ", " + members + "}}";
    return {.backends = {{.port = origin_.port()}, {.name = "guard", .hostname = "guard.test", .port = port}},
            .settings = "timeouts: {processor: 2s}\n",
            .routes = routeOfRules("    - filters: [" + filter + more + "]\n" + backendRefs())};
  }
  /// Returns a gateway whose one rule has a use of the type.
  GatewaySpec useOf(std::uint16_t port, const std::string& members, const std::string& more) const {
    GatewaySpec spec = specOf(port, members);
    spec.routes = routeOfRules("    - filters: [" +
                               inlined("{name: guard, type: 'sluice.dev/ExternalAuth:v1', config: {backendRef: " +
                                       backendRef("guard") + ", " + members + "}" + more + "}") +
                               "]\n" + backendRefs());
    return spec;
  }
  static std::string answering(const std::string& line, const std::string& fields, const std::string& body = {}) {
    return "HTTP/1.1 " + line + "\r\n" + fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  const EchoOrigin origin_{std::nullopt};
};

class GrpcAuthServer {
 public:
  GrpcAuthServer() : process_({"node", std::string(kClients) + "auth_server.mjs"}) {
    const auto line = process_.waitForLine("listening on ");
    EXPECT_TRUE(line) << process_.errors();
    if (line) port_ = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)));
  }
  std::uint16_t port() const { return port_; }
  std::string asked() { return process_.waitForLines(2).at(1); }

 private:
  ChildProcess process_;
  std::uint16_t port_ = 0;
};

TEST_F(ExternalAuthFilter, AsksOverHttpAndPassesOnWhatTheServerSays) {
  const RecordingOrigin guard([&](std::size_t) {
    return answering("200 OK", "X-User: alice\r\nX-User: bob\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\n",
                     "welcome");
  });
  const GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP, http: {path: /check/, allowedHeaders: [X-Team]}"));
  const std::string answer = ask(gateway, "/items?x=1",
                                 {"-H", "Authorization: Bearer token-of-client", "-H", "X-Team: red", "-H",
                                  "X-Hidden: secret", "-H", "X-User: mallory", "-H", "Host: api.test"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(answer, AllOf(HasSubstr("alice"), HasSubstr("bob"), Not(HasSubstr("mallory"))));
  EXPECT_THAT(answer, Not(HasSubstr("\"content-type\"")));
  const std::string head = guard.heads().at(0);
  EXPECT_THAT(head, HasSubstr("GET /check/items?x=1 HTTP/1.1\r\n"));
  EXPECT_THAT(head, AllOf(HasSubstr("host: api.test\r\n"), HasSubstr("authorization: Bearer token-of-client\r\n"),
                          HasSubstr("x-team: red\r\n")));
  EXPECT_THAT(head, AllOf(Not(HasSubstr("x-hidden")), Not(HasSubstr("x-user"))));
}

TEST_F(ExternalAuthFilter, LetsAClientClaimNoFieldThatOnlyTheServerMaySet) {
  const RecordingOrigin guard([&](std::size_t) { return answering("200 OK", "X-Other: 1\r\n"); });
  const GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP, http: {allowedResponseHeaders: [X-User]}"));
  const std::string answer = ask(gateway, "/", {"-H", "X-User: mallory", "-H", "X_User: mallory"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(answer, AllOf(Not(HasSubstr("mallory")), Not(HasSubstr("x-other"))));
}

TEST_F(ExternalAuthFilter, DeniesWithTheServersStatusFieldsAndBody) {
  const RecordingOrigin guard([&](std::size_t number) {
    if (number == 1) return answering("302 Found", "Location: https://login.test/\r\n");
    if (number == 2) return answering("204 No Content", "");
    return answering("401 Unauthorized",
                     "WWW-Authenticate: Bearer\r\nContent-Type: text/html\r\nKeep-Alive: timeout=5\r\n"
                     "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nSet-Cookie: a=1\r\n",
                     "<b>who are you</b>");
  });
  GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP"));
  const std::string answer = ask(gateway, "/secret", kToken);
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 401"));
  EXPECT_THAT(answer, AllOf(HasSubstr("www-authenticate: Bearer\r\n"), HasSubstr("content-type: text/html\r\n"),
                            HasSubstr("set-cookie: a=1\r\n"), HasSubstr("\r\n\r\n<b>who are you</b>")));
  EXPECT_THAT(answer, AllOf(Not(HasSubstr("keep-alive")), Not(HasSubstr("1970"))));
  EXPECT_THAT(ask(gateway, "/"), AllOf(HasSubstr("HTTP/1.1 302"), HasSubstr("location: https://login.test/\r\n")));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("HTTP/1.1 403")) << "a denial must not look like a success";
  const auto log = gateway.accessLog(3);
  EXPECT_THAT(log.at(0), HasSubstr("http_request_denied"));
  EXPECT_THAT(gateway.process().output() + gateway.process().errors(), Not(HasSubstr("token-of-client")));
}

TEST_F(ExternalAuthFilter, ForwardsTheBodyUpToItsBound) {
  const RecordingOrigin guard([&](std::size_t) { return answering("200 OK", ""); });
  const GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP, forwardBody: {maxSize: 300000}"));
  const std::string body(300000, 'x');
  TempDir folder;
  const std::string file = folder.write("body", body);
  EXPECT_EQ(statusOf(gateway, "/", {"--data-binary", "@" + file}), "200");
  EXPECT_THAT(guard.bodies(), ElementsAre(body));
  EXPECT_THAT(guard.heads().at(0), AllOf(HasSubstr("POST / HTTP/1.1"), HasSubstr("content-length: 300000\r\n")));
  const std::string longer = folder.write("longer", body + "x");
  EXPECT_EQ(statusOf(gateway, "/", {"--data-binary", "@" + longer}), "413");
  EXPECT_EQ(guard.bodies().size(), 1U);
  EXPECT_EQ(statusOf(gateway, "/"), "200") << "a request without a body";
}

TEST_F(ExternalAuthFilter, SendsNoBodyUnlessItIsToldTo) {
  const RawOrigin guard(RawOrigin::answering(kOk));
  const GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP"));
  EXPECT_THAT(ask(gateway, "/", {"--data-binary", "hello"}), AllOf(HasSubstr("HTTP/1.1 200"), HasSubstr("hello")));
  EXPECT_THAT(guard.heads().at(0), AllOf(HasSubstr("POST / HTTP/1.1"), HasSubstr("content-length: 0\r\n")));
}

TEST_F(ExternalAuthFilter, FailsClosedIfTheServerIsDownOrBrokenAndAUseMayFailOpen) {
  const std::uint16_t nobody = freePort();
  EXPECT_EQ(statusOf(GatewayProcess(specOf(nobody, "protocol: HTTP")), "/"), "500");
  EXPECT_EQ(statusOf(GatewayProcess(useOf(nobody, "protocol: HTTP", ", failOpen: true")), "/"), "200");
  const RawOrigin broken(RawOrigin::answering(answering("503 Service Unavailable", "", "secret reason")));
  const GatewayProcess gateway(specOf(broken.port(), "protocol: HTTP"));
  EXPECT_THAT(ask(gateway, "/"), AllOf(HasSubstr("HTTP/1.1 500"), Not(HasSubstr("secret reason"))));
}

TEST_F(ExternalAuthFilter, DeniesWhateverElseADenialSaysEvenIfTheUseFailsOpen) {
  const RawOrigin talkative(RawOrigin::answering(answering("403 Forbidden", "", std::string(65537, 'x'))));
  EXPECT_EQ(statusOf(GatewayProcess(useOf(talkative.port(), "protocol: HTTP", ", failOpen: true")), "/"), "403");
  const RawOrigin cut(RawOrigin::answering("HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\nhalf"));
  EXPECT_EQ(statusOf(GatewayProcess(useOf(cut.port(), "protocol: HTTP", ", failOpen: true")), "/"), "401");
  GrpcAuthServer guard;
  const GatewayProcess gateway(useOf(guard.port(), "protocol: GRPC", ", failOpen: true"));
  EXPECT_THAT(ask(gateway, "/denied-rudely"), AllOf(HasSubstr("HTTP/1.1 403"), HasSubstr("x-why: no\r\n")));
}

TEST_F(ExternalAuthFilter, DoesNotWaitForALateServer) {
  const RawOrigin slow([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  });
  const GatewayProcess gateway(useOf(slow.port(), "protocol: HTTP", ", timeout: 100ms"));
  EXPECT_EQ(statusOf(gateway, "/"), "504");
  EXPECT_EQ(statusOf(GatewayProcess(useOf(slow.port(), "protocol: HTTP", ", timeout: 100ms, failOpen: true")), "/"),
            "200");
}

TEST_F(ExternalAuthFilter, ComesBeforeTheLimitsOfRates) {
  const RecordingOrigin guard(
      [&](std::size_t number) { return answering(number < 3 ? "403 Forbidden" : "200 OK", ""); });
  const std::string limit = ", " + inlined(
                                       "{name: rate, type: 'gateway.networking.k8s.io/QoSController:v1', phase: "
                                       "request-headers, priority: -9, config: {requestsPerMinute: 1}}");
  const GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP", limit));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf(gateway, "/"), "403");
  EXPECT_EQ(statusOf(gateway, "/"), "200") << "what was denied took nothing of the budget";
  EXPECT_EQ(statusOf(gateway, "/"), "429");
}

TEST_F(ExternalAuthFilter, GuardsRequestsForTunnelsToo) {
  const RecordingOrigin guard([&](std::size_t) { return answering("403 Forbidden", ""); });
  const GatewayProcess gateway(specOf(guard.port(), "protocol: HTTP, forwardBody: {maxSize: 100}"));
  EXPECT_EQ(askRaw(gateway.port(),
                   "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                .status,
            403);
}

TEST_F(ExternalAuthFilter, AsksOverGrpcWhatTheRequestIs) {
  GrpcAuthServer guard;
  const GatewayProcess gateway(specOf(guard.port(), "protocol: GRPC, grpc: {}, forwardBody: {maxSize: 100}"));
  const std::string answer = ask(gateway, "/allowed?x=1", {"-d", "hello", "-H", "X-Team: red", "-H", "X-Team: blue"});
  EXPECT_THAT(answer, AllOf(HasSubstr("HTTP/1.1 200"), HasSubstr("hello")));
  EXPECT_THAT(guard.asked(),
              AllOf(HasSubstr("\"method\":\"POST\""), HasSubstr("\"path\":\"/allowed?x=1\""),
                    HasSubstr("\"x-team\":\"red,blue\""), HasSubstr("\"body\":\"hello\""), HasSubstr("\"size\":5"),
                    HasSubstr("\"scheme\":\"http\""), HasSubstr("\"protocol\":\"HTTP/1.1\""),
                    HasSubstr("\"host\":\"127.0.0.1:" + std::to_string(gateway.port())), HasSubstr("\"dated\":true"),
                    HasSubstr("\"peer\":\"127.0.0.1\"")));
}

TEST_F(ExternalAuthFilter, ShowsAGrpcServerTheListedFieldsAlone) {
  GrpcAuthServer guard;
  const GatewayProcess gateway(specOf(guard.port(), "protocol: GRPC, grpc: {allowedHeaders: [X-Team]}"));
  EXPECT_EQ(statusOf(gateway, "/allowed", {"-d", "hello", "-H", "X-Team: red"}), "200");
  EXPECT_THAT(guard.asked(), AllOf(HasSubstr("\"headers\":{\"x-team\":\"red\"}"), HasSubstr("\"body\":\"\"")));
}

TEST_F(ExternalAuthFilter, EditsTheRequestAsAGrpcServerSays) {
  GrpcAuthServer guard;
  const GatewayProcess gateway(specOf(guard.port(), "protocol: GRPC, grpc: {}"));
  const std::string answer = ask(gateway, "/edited?debug=1&x=2",
                                 {"-H", "Authorization: Bearer token-of-client", "-H", "X-User: mallory", "-H",
                                  "X-Many: one", "-H", "X-Kept: client"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(answer, AllOf(HasSubstr("\"x-user: alice\""), HasSubstr("\"x-many: one\""), HasSubstr("\"x-many: two\""),
                            HasSubstr("\"x-kept: client\"")));
  EXPECT_THAT(answer, HasSubstr("\"/edited?x=2&tenant=a%20b\""));
  EXPECT_THAT(answer, HasSubstr("x-checked: yes")) << "it is a field for the response";
  EXPECT_THAT(answer, AllOf(Not(HasSubstr("token-of-client")), Not(HasSubstr("mallory"))));
}

TEST_F(ExternalAuthFilter, DeniesAsAGrpcServerSays) {
  GrpcAuthServer guard;
  const GatewayProcess gateway(specOf(guard.port(), "protocol: GRPC, grpc: {}"));
  EXPECT_THAT(ask(gateway, "/denied"), AllOf(HasSubstr("HTTP/1.1 401"), HasSubstr("www-authenticate: Bearer\r\n"),
                                             HasSubstr("content-type: text/html\r\n"), HasSubstr("\r\n\r\n<b>no</b>")));
  EXPECT_EQ(statusOf(gateway, "/anything"), "403");
}

TEST_F(ExternalAuthFilter, FailsClosedIfAGrpcServerBreaksARuleOrIsLate) {
  GrpcAuthServer guard;
  const GatewayProcess gateway(useOf(guard.port(), "protocol: GRPC", ", timeout: 1s"));
  EXPECT_EQ(statusOf(gateway, "/rude"), "500");
  EXPECT_EQ(statusOf(gateway, "/broken"), "500");
  EXPECT_EQ(statusOf(gateway, "/late"), "504");
  EXPECT_EQ(statusOf(gateway, "/allowed"), "200");
}

}  // namespace
}  // namespace sluice::test
