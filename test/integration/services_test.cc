// Tests Services as backends of the running binary: the addition and removal of endpoints, and destinations that they
// must not lead to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

ReceivedResponse askShop(BlockingSocket& client) {
  client.send("GET / HTTP/1.1\r\nHost: client.test\r\n\r\n");
  return readResponse(client);
}
ReceivedResponse askShop(const GatewayProcess& gateway) {
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  return askShop(client);
}

struct ShopEndpoint {
  std::uint16_t port;
  bool ready = true;
  bool terminating = false;  // and serving
};

std::string service(const std::string& fields = {}, const std::string& port = {},
                    const std::string& nameSpace = "test") {
  return "apiVersion: v1\nkind: Service\nmetadata: {namespace: " + nameSpace +
         ", name: shop}\nspec: {selector: {app: shop}, ports: [{name: web, port: 80, targetPort: web" + port + "}]" +
         fields + "}\n---\n";
}
std::string slice(std::size_t number, const ShopEndpoint& endpoint, const std::string& nameSpace = "test") {
  return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: " + nameSpace + ", name: shop-" +
         std::to_string(number) +
         ", labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " +
         std::to_string(endpoint.port) +
         "}]\nendpoints: [{addresses: [127.0.0.1], conditions: {ready: " + (endpoint.ready ? "true" : "false") +
         (endpoint.terminating ? ", serving: true, terminating: true" : "") + "}}]\n---\n";
}
std::string slices(const std::vector<ShopEndpoint>& endpoints, const std::string& nameSpace = "test") {
  std::string text;
  for (std::size_t i = 0; i < endpoints.size(); ++i) text += slice(i, endpoints[i], nameSpace);
  return text;
}
std::string routeToShop(const std::string& more = {}) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\nspec: "
         "{parentRefs: [{name: egress}], rules: [{backendRefs: [{name: shop, port: 80" +
         more + "}]}]}\n";
}

GatewaySpec servingEndpoints(const std::vector<ShopEndpoint>& endpoints, const std::string& port = {}) {
  GatewaySpec spec;
  spec.routes = service({}, port) + slices(endpoints) + routeToShop();
  return spec;
}
GatewaySpec servingText(const std::string& documents) {
  GatewaySpec spec;
  spec.routes = documents;
  return spec;
}

class ServiceBackends : public testing::Test {
 protected:
  RawOrigin one_{RawOrigin::answering(saying("one"))};
  RawOrigin two_{RawOrigin::answering(saying("two"))};
  RawOrigin three_{RawOrigin::answering(saying("three"))};
};

/// Returns a policy for the route.
std::string balancing(const std::string& terms) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: spread}\nspec: "
         "{targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}], loadBalancing: {" +
         terms + "}}\n";
}

TEST_F(ServiceBackends, SpreadTheirRequestsOverTheirEndpoints) {
  const GatewayProcess gateway(servingEndpoints({{one_.port()}, {two_.port()}, {three_.port()}}));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 90; ++i) ASSERT_EQ(askShop(client).status, 200);
  for (const RawOrigin* origin : {&one_, &two_, &three_}) EXPECT_GE(origin->heads().size(), 8U);
  EXPECT_EQ(one_.heads().size() + two_.heads().size() + three_.heads().size(), 90U);
}

TEST_F(ServiceBackends, HaveTheirTurnsWithRoundRobin) {
  GatewaySpec spec = servingEndpoints({{one_.port()}, {two_.port()}, {three_.port()}});
  spec.routes += balancing("type: RoundRobin");
  spec.workers = 1;
  const GatewayProcess gateway(spec);
  std::string order;
  for (int i = 0; i < 9; ++i) order += askShop(gateway).body + " ";
  EXPECT_EQ(order.substr(0, order.size() / 3), order.substr(order.size() / 3, order.size() / 3)) << order;
  for (const char* name : {"one", "two", "three"}) EXPECT_THAT(order, HasSubstr(name));
}

/// Asks once for each value of the field, over a connection each, which any worker may have.
std::vector<std::string> askWithEachValue(const GatewayProcess& gateway) {
  std::vector<std::string> answers;
  for (int value = 0; value < 40; ++value) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET / HTTP/1.1\r\nHost: client.test\r\nX-User: user-" + std::to_string(value) + "\r\n\r\n");
    answers.push_back(readResponse(client).body);
  }
  return answers;
}

TEST_F(ServiceBackends, KeepClientsThatSendTheCookieOfTheGateway) {
  GatewaySpec spec = servingEndpoints({{one_.port()}, {two_.port()}, {three_.port()}});
  spec.workers = 2;
  spec.routes += balancing("type: Maglev, hash: {type: Cookie, name: cart, ttl: 1h, path: /shop}");
  const GatewayProcess gateway(spec);
  const auto askWith = [&](const std::string& cookie, const std::string& path = "/shop/1") {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: client.test\r\n" +
                (cookie.empty() ? "" : "Cookie: a=1; cart=" + cookie + "; b=2\r\n") + "\r\n");
    return readResponse(client);
  };
  std::set<std::string> seen;
  for (int i = 0; i < 30; ++i) {
    const ReceivedResponse first = askWith("");
    const std::string set = first.field("set-cookie").value_or("");
    EXPECT_THAT(set, testing::StartsWith("cart="));
    EXPECT_THAT(set, HasSubstr("; Path=/shop; HttpOnly; SameSite=Strict; Max-Age=3600"));
    const std::string value = set.substr(5, set.find(';') - 5);
    for (int again = 0; again < 3; ++again) {
      const ReceivedResponse next = askWith(value);
      EXPECT_EQ(next.body, first.body);
      EXPECT_EQ(next.field("set-cookie"), std::nullopt) << "the client has it";
    }
    seen.insert(first.body);
    const std::string forged = (value[0] == 'x' ? "y" : "x") + value.substr(1);
    EXPECT_THAT(askWith(forged).field("set-cookie").value_or(""), testing::StartsWith("cart="));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"one", "two", "three"}));
  EXPECT_EQ(askWith("", "/other").field("set-cookie"), std::nullopt) << "it is not sent for that path";
  for (const RawOrigin* origin : {&one_, &two_, &three_}) {
    for (const std::string& head : origin->heads()) EXPECT_EQ(head.find("cart="), std::string::npos) << head;
  }
}

TEST_F(ServiceBackends, KeepTheirUsersWithConsistentHashing) {
  const std::vector<ShopEndpoint> all = {{one_.port()}, {two_.port()}, {three_.port()}};
  for (const char* const type : {"Maglev", "RingHash"}) {
    const auto served = [&](const std::vector<ShopEndpoint>& endpoints) {
      GatewaySpec spec = servingEndpoints(endpoints);
      spec.workers = 2;
      spec.routes += balancing("type: " + std::string(type) + ", hash: {type: Header, name: X-User}");
      return spec;
    };
    GatewayProcess gateway(served(all));
    const std::vector<std::string> first = askWithEachValue(gateway);
    EXPECT_EQ(askWithEachValue(gateway), first) << "all workers agree";
    const GatewayProcess replica(served(all));
    EXPECT_EQ(askWithEachValue(replica), first) << "replicas agree";
    const std::set<std::string> seen(first.begin(), first.end());
    EXPECT_EQ(seen, (std::set<std::string>{"one", "two", "three"}));
    gateway.reload(served({{one_.port()}, {two_.port()}}));
    const std::vector<std::string> fewer = askWithEachValue(gateway);
    int moved = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_NE(fewer[i], "three");
      if (first[i] != "three" && fewer[i] != first[i]) ++moved;
    }
    EXPECT_LE(moved, 6) << type << ": users of endpoints that are still there stay";
    gateway.reload(served(all));
    EXPECT_EQ(askWithEachValue(gateway), first) << "they return";
  }
}

TEST_F(ServiceBackends, GetTheAuthorityThatTheClientNamed) {
  const GatewayProcess gateway(servingEndpoints({{one_.port()}}));
  ASSERT_EQ(askShop(gateway).body, "one");
  EXPECT_THAT(one_.heads().at(0), HasSubstr("host: client.test\r\n"));
}

TEST_F(ServiceBackends, LoseNoRequestToADeadEndpoint) {
  const GatewayProcess gateway(servingEndpoints({{one_.port()}, {freePort()}, {two_.port()}}));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < 40; ++i) ASSERT_EQ(askShop(client).status, 200) << i;
  EXPECT_GT(one_.heads().size(), 0U);
  EXPECT_GT(two_.heads().size(), 0U);
}

TEST_F(ServiceBackends, RetryAtAnotherEndpoint) {
  const RawOrigin busy(RawOrigin::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
  std::string text = routeToShop();
  text.replace(text.find("rules: [{"), 9, "rules: [{retry: {codes: [503], attempts: 1, backoff: 1ms}, ");
  const GatewayProcess gateway(servingText(service() + slices({{busy.port()}, {one_.port()}}) + text));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  // The retry budget allows more retries than this, however fast the requests are.
  for (int i = 0; i < 40 && busy.heads().size() < 5; ++i) ASSERT_EQ(askShop(client).body, "one") << i;
  EXPECT_EQ(busy.heads().size(), 5U);
}

TEST_F(ServiceBackends, AreUnavailableWithoutAReadyEndpoint) {
  const GatewayProcess gateway(servingEndpoints({{one_.port(), false}}));
  const ReceivedResponse response = askShop(gateway);
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, HasSubstr("\"code\":\"destination_unavailable\""));
}

TEST_F(ServiceBackends, UseATerminatingEndpointThatServesIfNoneIsReady) {
  GatewayProcess gateway(servingEndpoints({{one_.port(), false, true}, {two_.port()}}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(askShop(gateway).body, "two");
  gateway.reload(servingEndpoints({{one_.port(), false, true}, {two_.port(), false}}));
  EXPECT_EQ(askShop(gateway).body, "one");
}

TEST_F(ServiceBackends, ChangeTheirEndpointsWithoutAFailedRequest) {
  GatewayProcess gateway(servingEndpoints({{one_.port()}, {two_.port()}}));
  std::atomic<bool> enough = false;
  std::atomic<int> served = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      BlockingSocket client = BlockingSocket::connect(gateway.port());
      while (!enough) (askShop(client).status == 200 ? served : failed)++;
    });
  }
  for (int i = 0; i < 3; ++i) {
    gateway.reload(servingEndpoints({{one_.port(), false}, {two_.port()}}));
    gateway.reload(servingEndpoints({{one_.port()}, {two_.port(), false}}));
  }
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(served, 0);
  const std::size_t before = two_.heads().size();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(askShop(gateway).body, "one");
  EXPECT_EQ(two_.heads().size(), before) << "it is not ready";
}

TEST_F(ServiceBackends, KeepTheConnectionsToEndpointsThatStayAndTheirRevision) {
  GatewayProcess gateway(servingEndpoints({{one_.port()}}));
  ASSERT_EQ(askShop(gateway).body, "one");
  // The endpoints themselves come last.
  const auto status = [&gateway] {
    const std::string whole = gateway.adminGet("/status");
    return whole.substr(0, whole.find(",\"endpoints\":["));
  };
  const std::string before = status();
  gateway.reload(servingEndpoints({{one_.port()}, {two_.port()}}));
  for (int i = 0; i < 30; ++i) ASSERT_EQ(askShop(gateway).status, 200);
  EXPECT_EQ(one_.connections(), 1);
  EXPECT_EQ(two_.connections(), 1);
  EXPECT_EQ(status(), before);
  gateway.reload(servingEndpoints({{one_.port()}, {two_.port()}}), "unchanged");
}

TEST_F(ServiceBackends, GetWhatABackendThatLeadsToThemAdds) {
  const std::string backend = R"(
apiVersion: sluice.dev/v1alpha1
kind: Backend
metadata: {namespace: test, name: models}
spec:
  destination: {type: KubernetesService, service: {name: shop}, ports: [{number: 80, protocol: HTTP}]}
  extensions:
  - {name: mark, type: "sluice.dev/HeaderModifier:v1", phase: request-headers,
     config: {set: [{name: x-team, value: red}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: test, name: all}
spec: {parentRefs: [{name: egress}], rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: models}]}]}
)";
  GatewayProcess gateway(servingText(service() + slices({{one_.port()}}) + backend));
  ASSERT_EQ(askShop(gateway).body, "one");
  EXPECT_THAT(one_.heads().at(0), HasSubstr("x-team: red\r\n"));
  EXPECT_THAT(one_.heads().at(0), HasSubstr("host: client.test\r\n"));
  gateway.reload(servingText(service() + slices({{two_.port()}}) + backend));
  ASSERT_EQ(askShop(gateway).body, "two");
  EXPECT_THAT(two_.heads().at(0), HasSubstr("x-team: red\r\n"));
}

TEST_F(ServiceBackends, SpeakHttp2ByPriorKnowledgeIfTheirAppProtocolSaysSo) {
  const TempDir folder;
  folder.write("index.html", "from nghttpd");
  const std::uint16_t port = freePort();
  ChildProcess origin({"nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", folder.path(), std::to_string(port)});
  ASSERT_TRUE(waitForPort(port));
  const GatewayProcess gateway(servingEndpoints({{port}}, ", appProtocol: kubernetes.io/h2c"));
  EXPECT_EQ(askShop(gateway).body, "from nghttpd");
}

TEST_F(ServiceBackends, AreRefusedIfTheirTypeIsExternalName) {
  const GatewayProcess gateway(
      servingText(service(", type: ExternalName, externalName: localhost") + slices({{one_.port()}}) + routeToShop()));
  EXPECT_EQ(askShop(gateway).status, 500);
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"reason\":\"InvalidKind\""));
  EXPECT_EQ(one_.connections(), 0);
}

TEST_F(ServiceBackends, NeedAGrantFromOtherNamespaces) {
  const std::string other =
      service({}, {}, "store") + slices({{one_.port()}}, "store") + routeToShop(", namespace: store");
  GatewayProcess gateway(servingText(other));
  EXPECT_EQ(askShop(gateway).status, 500);
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"reason\":\"RefNotPermitted\""));
  gateway.reload(servingText(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: store, name: g}\nspec: "
      "{from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: test}], to: [{group: '', kind: "
      "Service}]}\n---\n" +
      other));
  EXPECT_EQ(askShop(gateway).body, "one");
}

// CVE-2021-25740: permission to write EndpointSlices must not give access to the gateway's own machine.
TEST_F(ServiceBackends, DoNotLeadToTheLoopbackOfTheGateway) {
  GatewaySpec spec = servingEndpoints({{one_.port()}});
  spec.allow = "10.0.0.0/8";
  const GatewayProcess gateway(spec);
  EXPECT_EQ(askShop(gateway).status, 503);
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("not used: 127.0.0.1 (loopback)"));
  EXPECT_EQ(one_.connections(), 0);
}

}  // namespace
}  // namespace sluice::test
