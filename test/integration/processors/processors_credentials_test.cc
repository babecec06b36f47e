// Tests CredentialInjector through the binary: origins get the credential that the gateway holds, and it appears
// nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-c4n4rYs3cr3t";

/// This is the egress proposal's example, but for the port.
constexpr const char* kCredentialsExample = R"(---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata:
  name: openai-backend
spec:
  destination:
    type: FQDN
    fqdn:
      hostname: api.openai.com
      port: 443
  tls:
    mode: Terminate
    sni: api.openai.com
    caBundleRef:
      name: vendor-ca
  extensions:
    - name: inject-credentials
      type: gateway.networking.k8s.io/CredentialInjector:v1
      phase: request-headers
      priority: 10
      failOpen: false
      config:
        secretRef:
          name: openai-key
          namespace: platform-secrets
    - name: qos
      type: gateway.networking.k8s.io/QoSController:v1
      phase: backend-request
      priority: 30
      failOpen: true
      config:
        requestsPerMinute: 1000
)";

constexpr const char* kGrant = R"(---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {namespace: platform-secrets, name: backends}
spec:
  from: [{group: gateway.networking.k8s.io, kind: Backend, namespace: default}]
  to: [{group: "", kind: Secret}]
)";

std::string grantOfRoutes() {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\n"
         "metadata: {namespace: default, name: routes}\nspec:\n"
         "  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: test}]\n"
         "  to: [{group: gateway.networking.k8s.io, kind: Backend}]\n";
}

std::string authorityDocument(const std::string& pem) {
  std::string lines;
  for (std::size_t at = 0; at < pem.size();) {
    const std::size_t end = std::min(pem.find('\n', at), pem.size());
    lines += "    " + pem.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: vendor-ca}\ndata:\n  ca.crt: |\n" +
         lines;
}

GatewaySpec exampleOf(std::uint16_t port, const std::string& authority, const std::string& grant) {
  std::string example = kCredentialsExample;
  example.replace(example.find("port: 443"), 9, "port: " + std::to_string(port));
  return {
      .backends = {{.name = "name-only", .hostname = "api.openai.com", .port = 9}},
      .routes = routeOfRules("    - backendRefs: [" + backendRef("openai-backend", ", namespace: default") + "]\n") +
                grantOfRoutes() + example + authorityDocument(authority) +
                secretOf("openai-key", "token: " + std::string(kKey), "platform-secrets") + grant};
}

TEST(Credentials, ReplaceTheClientsInTheProposalsExample) {
  const CertifiedKey authority = makeAuthority();
  const CertifiedKey server = issueServer(authority, "api.openai.com");
  for (const char* origins : {"--h1-only", "--h2-only"}) {
    const EchoOrigin origin(server, {origins});
    const GatewayProcess gateway(exampleOf(origin.port(), authority.certificate, kGrant));
    for (const char* clients : {"--http1.1", "--http2-prior-knowledge"}) {
      const std::string answer = ask(gateway, "/v1/models", {clients, "-H", "Authorization: Bearer mine"});
      EXPECT_THAT(answer, HasSubstr(" 200")) << origins << clients;
      EXPECT_EQ(countOf(answer, "\"authorization: "), 1U) << answer;
      EXPECT_THAT(answer, HasSubstr("\"authorization: Bearer " + std::string(kKey) + "\""));
      EXPECT_EQ(echoed(answer, "sni"), "api.openai.com");
    }
  }
}

TEST(Credentials, AreNotSentWithoutAGrant) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "api.openai.com"));
  const GatewayProcess gateway(exampleOf(origin.port(), authority.certificate, ""));
  const std::string answer = ask(gateway, "/v1/models");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 500 "));
  EXPECT_THAT(answer, HasSubstr("\"code\":\"proxy_configuration_error\""));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"RefNotPermitted\""));
}

/// Runs a Backend without TLS whose requests carry the credential in `secret`.
class PlainCredentials : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& secret, const std::string& config = {}) const {
    const std::string injector =
        use("CredentialInjector", "key", "request-headers", "secretRef: {name: key}, allowPlaintext: true" + config);
    return {.backends = {{.port = origin_.port(), .extensions = "[" + injector + "]"}},
            .routes = routeOfRules("    -\n" + backendRefs()) + secretOf("key", secret)};
  }
  /// Sends the bytes and returns the gateway's answer.
  static ReceivedResponse exchange(const GatewayProcess& gateway, const std::string& request) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(request);
    return readResponse(client);
  }
  std::string lastHead() const { return origin_.heads().empty() ? "" : origin_.heads().back(); }

  RecordingOrigin origin_{[](std::size_t) { return kOk; }};
};

TEST_F(PlainCredentials, FollowTheirSecretWithoutALostRequest) {
  GatewayProcess gateway(specOf("token: first"));
  std::atomic<bool> stop = false;
  std::atomic<int> asked = 0;
  std::atomic<int> lost = 0;
  std::thread client([&] {
    BlockingSocket socket = BlockingSocket::connect(gateway.port());
    while (!stop) {
      socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      if (readResponse(socket).status != 200) ++lost;
      ++asked;
    }
  });
  for (const char* token : {"second", "third", "fourth"}) {
    gateway.reload(specOf("token: " + std::string(token)));
    EXPECT_EQ(exchange(gateway, "GET / HTTP/1.1\r\nHost: b\r\n\r\n").status, 200);
    const int until = asked + 3;
    EXPECT_TRUE(eventually([&] { return asked >= until; }));
    EXPECT_THAT(lastHead(), HasSubstr("authorization: Bearer " + std::string(token) + "\r\n"));
  }
  stop = true;
  client.join();
  EXPECT_EQ(lost, 0);
  for (const std::string& head : origin_.heads()) EXPECT_EQ(countOf(head, "authorization: Bearer "), 1U) << head;
}

TEST_F(PlainCredentials, AreNotTakenFromSecretsThatWouldSplitTheRequest) {
  for (const char* token : {R"("k\r\nX-Inj: 1")", R"("k\nX-Inj: 1")", R"("k\rX-Inj: 1")", R"("kX-Inj\0")",
                            R"("kX-Inj\n\n")", R"("kX-Inj\x7f")", "\"\""}) {
    const GatewayProcess gateway(specOf("token: " + std::string(token)));
    EXPECT_EQ(exchange(gateway, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 500) << token;
    const std::string status = gateway.adminGet("/status");
    EXPECT_THAT(status, HasSubstr("\"InvalidSecretRef\"")) << token;
    EXPECT_THAT(status, Not(HasSubstr("X-Inj")));
  }
  EXPECT_EQ(origin_.heads().size(), 0U);
}

TEST_F(PlainCredentials, LoseOneLineEndOfTheirFile) {
  for (const char* token : {R"("k-1\n")", R"("k-1\r\n")", "k-1"}) {
    const GatewayProcess gateway(specOf("token: " + std::string(token)));
    EXPECT_EQ(exchange(gateway, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200) << token;
    EXPECT_THAT(lastHead(), HasSubstr("authorization: Bearer k-1\r\n")) << token;
  }
}

TEST_F(PlainCredentials, ReplaceEveryValueThatTheClientSent) {
  const GatewayProcess gateway(specOf("token: ours", ", header: X-Api-Key"));
  const ReceivedResponse got = exchange(gateway,
                                        "GET / HTTP/1.1\r\nHost: a\r\nX-API-KEY: theirs\r\nx-api-key: theirs\r\n"
                                        "x_api_key: theirs\r\nX-Api_Key: theirs\r\nConnection: x-api-key\r\n\r\n");
  ASSERT_EQ(got.status, 200);
  EXPECT_EQ(countOf(lastHead(), "x-api-key: ours\r\n"), 1U) << lastHead();
  EXPECT_EQ(countOf(lastHead(), "theirs"), 0U) << lastHead();
  H2Client client(gateway.port());
  H2Lines lines = h2::get("/");
  for (const char* name : {"x-api-key", "x_api_key", "x-api_key", "x-api-key"}) lines.emplace_back(name, "theirs");
  client.send(h2::headers(1, lines, true));
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "200");
  EXPECT_EQ(countOf(lastHead(), "x-api-key: ours\r\n"), 1U) << lastHead();
  EXPECT_EQ(countOf(lastHead(), "theirs"), 0U) << lastHead();
}

TEST_F(PlainCredentials, AreNotAddedToByTrailers) {
  std::string behind;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.readUntil("\r\n0\r\n");
    for (std::string line; line != "\r\n" && !socket.closed(); behind += line) line = socket.readUntil("\r\n");
    socket.send(kOk);
  });
  GatewaySpec spec = specOf("token: ours");
  spec.backends[0].port = origin.port();
  const GatewayProcess gateway(spec);
  const ReceivedResponse got = exchange(gateway,
                                        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n"
                                        "Trailer: authorization\r\n\r\n2\r\nhi\r\n0\r\nAuthorization: theirs\r\n\r\n");
  EXPECT_EQ(got.status, 200);
  ASSERT_EQ(origin.heads().size(), 1U);
  EXPECT_THAT(origin.heads()[0], HasSubstr("authorization: Bearer ours\r\n"));
  EXPECT_EQ(countOf(behind, "theirs"), 0U) << behind;
}

TEST_F(PlainCredentials, StandInTheQueryOnceAndEncoded) {
  const GatewayProcess gateway(specOf("token: 'a&b=c d'", ", queryParam: key"));
  ASSERT_EQ(exchange(gateway, "GET /x?key=mine&y=%26&k%65y=mine&key HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  const std::string target = lastHead().substr(0, lastHead().find("\r\n"));
  EXPECT_EQ(countOf(target, "mine"), 0U) << target;
  EXPECT_EQ(countOf(target, "key"), 1U) << target;
  EXPECT_EQ(countOf(target, "key=a%26b%3Dc%20d"), 1U) << target;
  EXPECT_EQ(countOf(target, "y=%26"), 1U) << target;
}

TEST_F(PlainCredentials, AreNotSentInTheClearUnlessAllowed) {
  GatewaySpec spec = specOf("token: ours");
  std::string& uses = spec.backends[0].extensions;
  uses.replace(uses.find("allowPlaintext: true"), 20, "allowPlaintext: false");
  const GatewayProcess gateway(spec);
  EXPECT_EQ(exchange(gateway, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 500);
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"InsecureCredential\""));
  EXPECT_EQ(origin_.heads().size(), 0U);
}

TEST_F(PlainCredentials, AreNotSentInTheClearByAPayloadProcessorEither) {
  for (const char* target : {"kind: Gateway, name: egress", "kind: Gateway, name: egress, sectionName: http",
                             "kind: HTTPRoute, name: all"}) {
    GatewaySpec spec = specOf("token: ours");
    spec.backends[0].extensions = "";
    spec.routes +=
        "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: p}\n"
        "spec:\n  targetRef: {group: gateway.networking.k8s.io, " +
        std::string(target) + "}\n  processors: [" +
        use("CredentialInjector", "key", "request-headers", "secretRef: {name: key}") + "]\n";
    const GatewayProcess gateway(spec);
    EXPECT_EQ(exchange(gateway, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 500) << target;
    EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"InsecureCredential\"")) << target;
  }
  EXPECT_EQ(origin_.heads().size(), 0U);
}

TEST_F(PlainCredentials, AreSeenByTheOriginOnly) {
  GatewaySpec spec = specOf("token: " + std::string(kKey));
  const std::string config = "secretRef: {name: key}, allowPlaintext: true, ";
  spec.backends[0].extensions =
      "[" + use("CredentialInjector", "bearer", "request-headers", config + "basic: false") + ", " +
      use("CredentialInjector", "field", "backend-request", config + "header: X-Api-Key") + ", " +
      use("CredentialInjector", "query", "backend-request", config + "queryParam: key") + "]";
  spec.backends.push_back({.name = "gone", .hostname = "gone.test", .port = freePort()});
  spec.backends[1].extensions = spec.backends[0].extensions;
  spec.routes =
      routeOfRules("    -\n" + backendRefs() + "    - matches: [{path: {value: /gone}}]\n      backendRefs: [" +
                   backendRef("gone") + "]\n") +
      secretOf("key", "token: " + std::string(kKey));
  spec.options = {"--log-level", "trace"};
  GatewayProcess gateway(spec);
  std::string seen;
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    seen += ask(gateway, "/a?b=c", {version}) + ask(gateway, "/gone?b=c", {version});
    seen += ask(gateway, "/a", {version, "-X", "TRACE"});
  }
  ASSERT_EQ(origin_.heads().size(), 2U) << "TRACE would show it to the client";
  EXPECT_EQ(countOf(lastHead(), kKey), 3U) << lastHead();
  gateway.accessLog(6);
  for (const char* page : {"/status", "/metrics", "/catalog", "/exchanges", "/events", "/explain"}) {
    seen += gateway.adminGet(page);
  }
  seen += gateway.process().output() + gateway.process().errors();
  EXPECT_EQ(countOf(seen, kKey), 0U) << seen;
  EXPECT_THAT(seen, HasSubstr("HTTP/1.1 503")) << "the one that is gone";
}

TEST_F(PlainCredentials, AreNotOnTheExchangesPage) {
  RawOrigin slow([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
    socket.close();
  });
  GatewaySpec spec = specOf("token: " + std::string(kKey), ", queryParam: key");
  spec.backends[0].port = slow.port();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return slow.heads().size() == 1; }));
  EXPECT_THAT(slow.heads()[0], HasSubstr("GET /a?key=" + std::string(kKey)));
  for (const char* page : {"/exchanges", "/status", "/metrics", "/events"}) {
    EXPECT_EQ(countOf(gateway.adminGet(page), kKey), 0U) << page;
  }
  client.reset();
}

TEST_F(PlainCredentials, AreSentWithAnUpgrade) {
  RawOrigin agreeing([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
    socket.readAll();
  });
  GatewaySpec spec = specOf("token: ours");
  spec.backends[0].port = agreeing.port();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(
      "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: theirs\r\nConnection: Upgrade, authorization\r\nUpgrade: "
      "websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  EXPECT_THAT(client.readUntil("\r\n\r\n"), HasSubstr("101 Switching Protocols"));
  ASSERT_EQ(agreeing.heads().size(), 1U);
  EXPECT_EQ(countOf(agreeing.heads()[0], "authorization: Bearer ours\r\n"), 1U);
  EXPECT_EQ(countOf(agreeing.heads()[0], "authorization"), 1U) << agreeing.heads()[0];
}

TEST_F(PlainCredentials, AreBasicIfTheyHaveTwoParts) {
  const GatewayProcess gateway(specOf("username: me, password: 'p:w'", ", basic: true"));
  ASSERT_EQ(exchange(gateway, "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\n\r\n").status, 200);
  EXPECT_EQ(countOf(lastHead(), "authorization: "), 1U);
  EXPECT_THAT(lastHead(), HasSubstr("authorization: Basic bWU6cDp3\r\n"));
}

}  // namespace
}  // namespace sluice::test
