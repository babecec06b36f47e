// Tests QoSController through the binary: one limit applies to all workers and connections, whatever its key is.
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
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// At one request a minute, nothing is refilled during a test.
constexpr const char* kSlow = "requestsPerMinute: 1, burst: ";

std::string qos(const std::string& config, const std::string& phase = "request-headers", const std::string& more = {}) {
  return use("QoSController", "qos", phase, config, more);
}

/// Returns the status of a request on a connection of its own.
int statusAt(std::uint16_t port, const std::string& fields = {}, const std::string& target = "/") {
  BlockingSocket client = BlockingSocket::connect(port);
  client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  return readResponse(client).status;
}

class Qos : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& uses, int workers = 1) const {
    return {.backends = {{.port = origin_.port(), .extensions = "[" + uses + "]"}}, .workers = workers};
  }

  RawOrigin origin_{RawOrigin::answering(kOk)};
};

TEST_F(Qos, LetsABurstPassAndAnswers429WithRetryAfter) {
  for (const char* phase : {"request-headers", "connect", "backend-request"}) {
    GatewayProcess gateway(specOf(qos(kSlow + std::string("2"), phase)));
    EXPECT_THAT(ask(gateway, "/"), HasSubstr("HTTP/1.1 200 "));
    EXPECT_EQ(statusOf(gateway, "/", {"--http2-prior-knowledge"}), "200");
    const std::string refused = ask(gateway, "/");
    EXPECT_THAT(refused, HasSubstr("HTTP/1.1 429 Too Many Requests\r\n"));
    EXPECT_THAT(refused, testing::ContainsRegex("[Rr]etry-[Aa]fter: [1-6]?[0-9]\r\n"));
    EXPECT_THAT(refused, HasSubstr("application/problem+json"));
    EXPECT_THAT(refused, HasSubstr("\"code\":\"rate_limited\""));
    EXPECT_EQ(statusOf(gateway, "/", {"--http2-prior-knowledge"}), "429");
  }
  EXPECT_EQ(origin_.heads().size(), 6U);
}

TEST_F(Qos, IsALimitThatIsNamedAndCountedAndNoAttemptAtTheBackend) {
  for (const char* phase : {"request-headers", "backend-request"}) {
    GatewayProcess gateway(specOf(qos(kSlow + std::string("1"), phase)));
    EXPECT_EQ(statusAt(gateway.port()), 200);
    for (int i = 0; i < 2; ++i) EXPECT_THAT(ask(gateway, "/"), HasSubstr("\"limit\":\"qosController\""));
    EXPECT_EQ(gateway.limitHits("qosController"), 2) << phase;
    EXPECT_EQ(gateway.metric(attemptsOf("origin", "200")), 1) << phase;
    EXPECT_EQ(gateway.metric(attemptsOf("origin", "429", "rate_limited")), 0) << phase;
    EXPECT_EQ(gateway.metric(attemptsOf("origin", "", "rate_limited")), 0) << phase;
    EXPECT_TRUE(eventually([&] {
      return gateway.adminGet("/events").find("(qosController), by qos") != std::string::npos;
    })) << phase;
  }
}

TEST_F(Qos, IsNamedInTheLogByItsUse) {
  GatewayProcess gateway(specOf(qos(kSlow + std::string("1"))));
  EXPECT_EQ(statusAt(gateway.port()), 200);
  EXPECT_EQ(statusAt(gateway.port()), 429);
  const auto lines = gateway.accessLog(2);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("\"error.type\":\"rate_limited\""));
  EXPECT_THAT(lines[1], HasSubstr("\"processor\":\"qos\""));
}

TEST_F(Qos, LetsOneRequestPassAtOnceUnlessABurstIsConfigured) {
  const GatewayProcess gateway(specOf(qos("requestsPerMinute: 1")));
  EXPECT_EQ(statusAt(gateway.port()), 200);
  EXPECT_EQ(statusAt(gateway.port()), 429);
}

TEST_F(Qos, SharesOneLimitBetweenWorkersAndReloads) {
  constexpr int kBudget = 20;
  const auto spec = [&](int more) { return specOf(qos(kSlow + std::to_string(kBudget + more)), 2); };
  GatewayProcess gateway(spec(0));
  std::atomic<int> passed = 0;
  std::atomic<int> refused = 0;
  const auto storm = [&] {
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        for (int j = 0; j < 10; ++j) {
          const int status = statusAt(gateway.port());
          if (status == 200) ++passed;
          if (status == 429) ++refused;
        }
      });
    }
    for (std::thread& each : clients) each.join();
  };
  storm();
  EXPECT_EQ(passed, kBudget);
  EXPECT_EQ(refused, 40 - kBudget);
  gateway.reload(spec(5));
  storm();
  EXPECT_EQ(passed, kBudget + 5) << "five more than before, and not all anew";
  EXPECT_EQ(refused, 80 - kBudget - 5);
}

TEST_F(Qos, LimitsRequestsInFlightUntilTheyEnd) {
  std::atomic<bool> answer = false;
  RawOrigin slow([&](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) {
      answer.wait(false);
      socket.send(kOk);
    }
  });
  GatewaySpec spec = specOf(qos("concurrency: 2"), 2);
  spec.backends[0].port = slow.port();
  const GatewayProcess gateway(spec);
  H2Client both(gateway.port());
  both.send(h2::headers(1, h2::get("/"), true) + h2::headers(3, h2::get("/"), true));
  EXPECT_TRUE(eventually([&] { return slow.heads().size() == 2; }));
  const std::string refused = ask(gateway, "/");
  EXPECT_THAT(refused, HasSubstr("HTTP/1.1 429 "));
  EXPECT_THAT(refused, testing::ContainsRegex("[Rr]etry-[Aa]fter: 1\r\n"));
  answer = true;
  answer.notify_all();
  EXPECT_TRUE(both.readStream(1) && both.readStream(3));
  EXPECT_TRUE(eventually([&] { return statusAt(gateway.port()) == 200; })) << "their places are free again";
}

TEST_F(Qos, FreesAPlaceWhenTheClientLeaves) {
  RawOrigin silent([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    if (self.heads().size() == 1) self.waitUntilItStops();
    socket.send(kOk);
  });
  GatewaySpec spec = specOf(qos("concurrency: 1"));
  spec.backends[0].port = silent.port();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return silent.heads().size() == 1; }));
  EXPECT_EQ(statusAt(gateway.port()), 429);
  client.reset();
  EXPECT_TRUE(eventually([&] { return statusAt(gateway.port()) == 200; }));
}

TEST_F(Qos, CountsByTheValueOfAHeader) {
  const GatewayProcess gateway(specOf(qos(kSlow + std::string("1, key: Header, header: X-Tenant"))));
  EXPECT_EQ(statusAt(gateway.port(), "X-Tenant: a\r\n"), 200);
  EXPECT_EQ(statusAt(gateway.port(), "X-Tenant: b\r\n"), 200);
  EXPECT_EQ(statusAt(gateway.port(), "x-tenant: a\r\n"), 429);
  EXPECT_EQ(statusAt(gateway.port()), 200) << "all without it share one";
  EXPECT_EQ(statusAt(gateway.port(), "X-Else: a\r\n"), 429);
}

TEST_F(Qos, CountsByNamespaceAndAllUnknownOnesTogether) {
  const GatewayProcess gateway(specOf(qos(kSlow + std::string("1, key: Namespace"))));
  EXPECT_EQ(statusAt(gateway.port()), 200);
  EXPECT_EQ(statusAt(gateway.port()), 429);
}

TEST_F(Qos, CountsForEachBackendSeparately) {
  GatewaySpec spec = specOf(qos(kSlow + std::string("1")));
  spec.backends.push_back(spec.backends[0]);
  spec.backends[1].name = "other";
  spec.routes =
      routeOfRules("    -\n" + backendRefs() + "    - matches: [{path: {value: /other}}]\n      backendRefs: [" +
                   backendRef("other") + "]\n");
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusAt(gateway.port()), 200);
  EXPECT_EQ(statusAt(gateway.port()), 429);
  EXPECT_EQ(statusAt(gateway.port(), "", "/other"), 200);
  EXPECT_EQ(statusAt(gateway.port(), "", "/other"), 429);
}

TEST_F(Qos, CountsABackendOnceWhateverRulesLeadToIt) {
  GatewaySpec spec = specOf(qos(kSlow + std::string("2")));
  spec.routes = routeOfRules("    -\n" + backendRefs() + "    - matches: [{path: {value: /other}}]\n" + backendRefs());
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusAt(gateway.port()), 200);
  EXPECT_EQ(statusAt(gateway.port(), "", "/other"), 200);
  EXPECT_EQ(statusAt(gateway.port()), 429);
}

TEST_F(Qos, CountsRequestsInFlightAcrossAReload) {
  std::atomic<bool> answer = false;
  RawOrigin slow([&](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) {
      answer.wait(false);
      socket.send(kOk);
    }
  });
  GatewaySpec spec = specOf(qos("concurrency: 1"));
  spec.backends[0].port = slow.port();
  GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return slow.heads().size() == 1; }));
  spec.settings = "timeouts: {requestHeader: 9s}";
  gateway.reload(spec);
  EXPECT_EQ(statusAt(gateway.port()), 429);
  answer = true;
  answer.notify_all();
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_TRUE(eventually([&] { return statusAt(gateway.port()) == 200; }));
}

TEST_F(Qos, CountsAnUpgradedConnectionUntilItEnds) {
  RawOrigin agreeing([](BlockingSocket& socket, RawOrigin& self) {
    while (true) {
      const std::string head = self.readHead(socket);
      if (head.empty()) return;
      if (countOf(head, "upgrade: websocket") == 0) {
        socket.send(kOk);
        continue;
      }
      socket.send(
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
      socket.readAll();
      return;
    }
  });
  GatewaySpec spec = specOf(qos("concurrency: 1"));
  spec.backends[0].port = agreeing.port();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  EXPECT_THAT(client.readUntil("\r\n\r\n"), HasSubstr("101 Switching Protocols"));
  EXPECT_EQ(statusAt(gateway.port()), 429);
  client.close();
  EXPECT_TRUE(eventually([&] { return statusAt(gateway.port()) == 200; }));
}

TEST_F(Qos, RefusesAnUploadBeforeItIsSent) {
  const GatewayProcess gateway(specOf(qos(kSlow + std::string("1, key: Header, header: x-tenant"))));
  EXPECT_EQ(statusAt(gateway.port(), "x-tenant: a\r\n"), 200);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nx-tenant: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(readResponse(client).status, 429) << "and no 100 before it";
  EXPECT_EQ(origin_.heads().size(), 1U);
}

TEST_F(Qos, RefusesBeforeAMirrorOrARedirect) {
  RawOrigin copy(RawOrigin::answering(kOk));
  const std::string limited = "{type: PayloadProcessing, payloadProcessing: [" + qos(kSlow + std::string("1")) + "]}";
  GatewaySpec spec = specOf(qos("concurrency: 100"));
  spec.backends.push_back({.name = "copy", .hostname = "copy.test", .port = copy.port()});
  spec.routes = routeOfRules("    - filters: [" + limited + ", {type: RequestMirror, requestMirror: {backendRef: " +
                             backendRef("copy") + "}}]\n" + backendRefs()) +
                "---\n" +
                routeOfRules("    - matches: [{path: {value: /moved}}]\n      filters: [" + limited +
                             ", {type: RequestRedirect, requestRedirect: {hostname: else.test}}]\n");
  spec.routes.replace(spec.routes.rfind("name: all"), 9, "name: moved");
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusAt(gateway.port(), "", "/moved"), 302);
  EXPECT_EQ(statusAt(gateway.port(), "", "/moved"), 429);
  EXPECT_EQ(statusAt(gateway.port(), "", "/"), 200);
  EXPECT_EQ(statusAt(gateway.port(), "", "/"), 429);
  EXPECT_TRUE(eventually([&] { return copy.heads().size() == 1; }));
  EXPECT_TRUE(gateway.reaches("http_server_active_requests", 0));
  EXPECT_EQ(copy.heads().size(), 1U);
}

TEST_F(Qos, AnswersGrpcCallsWithUnavailable) {
  GatewaySpec spec = specOf(qos(kSlow + std::string("1")));
  spec.routes =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: all}\n"
      "spec:\n  parentRefs: [{name: egress}]\n  rules:\n    -\n" +
      backendRefs();
  const EchoOrigin origin(std::nullopt);
  spec.backends[0].port = origin.port();
  const GatewayProcess gateway(spec);
  const std::vector<std::string> call = {"--http2-prior-knowledge", "-X", "POST", "-H",
                                         "content-type: application/grpc"};
  EXPECT_THAT(ask(gateway, "/a.B/C", call), HasSubstr("grpc-status: 0"));
  const std::string refused = ask(gateway, "/a.B/C", call);
  EXPECT_THAT(refused, HasSubstr("HTTP/2 200"));
  EXPECT_THAT(refused, HasSubstr("grpc-status: 14"));
}

// A retry is one more attempt at the origin, which backend-request counts, but still the same request.
TEST_F(Qos, CountsAttemptsInBackendRequestAndInRequestHeadersOfABackend) {
  RawOrigin busy(RawOrigin::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
  for (const char* phase : {"request-headers", "connect", "backend-request"}) {
    const std::size_t before = busy.heads().size();
    GatewaySpec spec = specOf(qos(kSlow + std::string("2"), phase));
    spec.backends[0].port = busy.port();
    spec.routes = routeOfRules("    - retry: {codes: [503], attempts: 3, backoff: 1ms}\n" + backendRefs());
    const GatewayProcess gateway(spec);
    EXPECT_EQ(statusAt(gateway.port()), 429) << phase;
    EXPECT_EQ(busy.heads().size() - before, 2U) << phase;
  }
}

TEST_F(Qos, CountsRequestsAndNotAttemptsOnAGateway) {
  RawOrigin busy(RawOrigin::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
  GatewaySpec spec = specOf(qos(kSlow + std::string("2")));
  spec.backends[0].extensions = "";
  spec.backends[0].port = busy.port();
  spec.routes = routeOfRules("    - retry: {codes: [503], attempts: 1, backoff: 1ms}\n" + backendRefs()) +
                "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: p}\n"
                "spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}\n  processors: [" +
                qos(kSlow + std::string("2")) + "]\n";
  const GatewayProcess gateway(spec);
  EXPECT_EQ(statusAt(gateway.port()), 503);
  EXPECT_EQ(statusAt(gateway.port()), 503);
  EXPECT_EQ(statusAt(gateway.port()), 429);
  EXPECT_EQ(busy.heads().size(), 4U);
}

TEST_F(Qos, RefusesEvenIfItFailsOpen) {  // failOpen is about failures, and a refusal is none
  const GatewayProcess gateway(specOf(qos(kSlow + std::string("1"), "backend-request", ", failOpen: true")));
  EXPECT_EQ(statusAt(gateway.port()), 200);
  EXPECT_EQ(statusAt(gateway.port()), 429);
}

}  // namespace
}  // namespace sluice::test
