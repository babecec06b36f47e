// Tests forward proxies that lead back to themselves: by requests in absolute form, by a Backend whose destination the
// Host names, by two gateways that point to each other, and by tunnels in tunnels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

std::string here(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// A request in absolute form.
std::string loopedGet(const std::string& authority) {
  return "GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
}

class ProxyLoops : public testing::Test {
 protected:
  static constexpr const char* kEverything = "{name: all, to: {ports: ['1-65535']}}";

  void expectLoop(const ReceivedResponse& got) {
    EXPECT_EQ(got.status, 508) << got.body;
    EXPECT_THAT(got.body, HasSubstr("proxy_loop_detected"));
  }
  /// Returns how many requests the gateway has answered, by its access log.
  static std::size_t hops(GatewayProcess& gateway, std::size_t least) { return gateway.accessLog(least).size(); }

  ForwardProxy proxy_;
};

TEST_F(ProxyLoops, OfARequestForTheProxyItselfEndAtTheSecondHop) {
  proxy_.allow(kEverything);
  proxy_.start();
  expectLoop(askRaw(proxy_.port, loopedGet(here(proxy_.port))));
  EXPECT_EQ(hops(*proxy_.gateway, 2), 2U);
  expectLoop(askRaw(proxy_.port, loopedGet("a.test:" + std::to_string(proxy_.port))));
  EXPECT_EQ(hops(*proxy_.gateway, 4), 4U);
}

TEST_F(ProxyLoops, OfARequestOverHttp2EndAtTheSecondHop) {
  proxy_.allow(kEverything);
  proxy_.start();
  H2Client client(proxy_.port);
  client.send(h2::headers(
      1, {{":method", "GET"}, {":scheme", "http"}, {":authority", here(proxy_.port)}, {":path", "/"}}, true));
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "508");
  EXPECT_EQ(hops(*proxy_.gateway, 2), 2U);
}

// The plain listener of the gateway leads wherever Host does.
TEST_F(ProxyLoops, ByAnotherListenerOfTheGatewayEndThere) {
  proxy_.allow(kEverything);
  proxy_.spec.gatewayPort = freePort();
  proxy_.spec.routes += "---\n" + routeOfRules("    - backendRefs: [{group: sluice.dev, kind: Backend, name: any}]\n") +
                        "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\n"
                        "spec: {destination: {type: Dynamic, dynamic: {hostnames: ['*.test'], ports: [{number: " +
                        std::to_string(proxy_.spec.gatewayPort) + "}]}}}\n";
  proxy_.start();
  const std::string authority = "a.test:" + std::to_string(proxy_.spec.gatewayPort);
  expectLoop(askRaw(proxy_.port, loopedGet(authority)));
  EXPECT_EQ(hops(*proxy_.gateway, 2), 2U);
  expectLoop(askRaw(proxy_.spec.gatewayPort, "GET / HTTP/1.1\r\nHost: " + authority + "\r\n\r\n"));
  EXPECT_EQ(hops(*proxy_.gateway, 4), 4U);
}

TEST_F(ProxyLoops, OfTwoGatewaysEndAtTheFirstOfThem) {
  ForwardProxy other;
  proxy_.spec.gatewayPort = freePort();
  other.spec.gatewayPort = freePort();
  for (auto [from, to] : {std::pair(&proxy_, &other), std::pair(&other, &proxy_)}) {
    from->spec.backends.push_back({.name = "peer", .hostname = "peer.test", .port = to->spec.gatewayPort});
    from->spec.routes = routeOfRules("    - backendRefs: [" + backendRef("peer") + "]\n");
    from->start();
  }
  expectLoop(askRaw(proxy_.port, loopedGet("any.test")));
  EXPECT_EQ(hops(*proxy_.gateway, 2), 2U);
  EXPECT_EQ(hops(*other.gateway, 1), 1U);
}

// A tunnel has no Via, and a chain of them does not repeat by itself: each further one begins with a CONNECT that the
// client sends through those before it, and that is judged as any other. So only the bounds of tunnels, in all and for
// an address, end it; within, the next one has the address of the gateway as its client's.
class NestedTunnels : public testing::Test {
 protected:
  void start(ForwardProxy& proxy, const std::string& bounds) {
    proxy.spec.settings = limits(bounds);
    proxy.allow("{name: all, to: {ports: ['1-65535']}}");
    proxy.start();
  }
  /// Opens tunnels to these ports in turn, each through the one before, until one is refused; returns how many opened.
  static int nest(BlockingSocket& client, const std::vector<std::uint16_t>& ports) {
    for (int opened = 0; opened < 100; ++opened) {
      const std::string authority = here(ports[static_cast<std::size_t>(opened) % ports.size()]);
      client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
      const std::string head = client.readUntil("\r\n\r\n");
      if (head.starts_with("HTTP/1.1 200 ")) continue;
      EXPECT_THAT(head, testing::StartsWith("HTTP/1.1 503 "));
      return opened;
    }
    return 100;
  }

  ForwardProxy proxy_;
};

TEST_F(NestedTunnels, EndAtTheBoundOfTunnels) {
  start(proxy_, "tunnels: 5");
  for (int round = 0; round < 2; ++round) {
    BlockingSocket client = proxy_.client();
    EXPECT_EQ(nest(client, {proxy_.port}), 5);
    EXPECT_TRUE(eventually([&] { return openTunnels(*proxy_.gateway) == 5; }));
    client.reset();
    EXPECT_TRUE(eventually([&] { return openTunnels(*proxy_.gateway) == 0; })) << "each one ends the next";
  }
  EXPECT_TRUE(proxy_.gateway->limitWasHit("tunnels"));
}

TEST_F(NestedTunnels, EndAtTheBoundOfTheGatewaysOwnAddress) {
  start(proxy_, "tunnelsPerAddress: 3");
  BlockingSocket client = BlockingSocket::connect(proxy_.port, 0, "127.0.0.2");
  EXPECT_EQ(nest(client, {proxy_.port}), 4) << "one for the client, and three for the gateway itself";
  EXPECT_TRUE(proxy_.gateway->limitWasHit("tunnelsPerAddress"));
}

TEST_F(NestedTunnels, OfTwoGatewaysEndAtTheBoundsOfOne) {
  ForwardProxy other;
  start(proxy_, "tunnels: 3");
  start(other, "tunnels: 100");
  BlockingSocket client = proxy_.client();
  EXPECT_EQ(nest(client, {other.port, proxy_.port}), 6) << "every second one is at the gateway with three places";
  client.reset();
  for (const ForwardProxy* each : {&proxy_, &other}) {
    EXPECT_TRUE(eventually([&] { return openTunnels(*each->gateway) == 0; }));
  }
}

}  // namespace
}  // namespace sluice::test
