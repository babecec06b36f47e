// Tests listeners whose protocol is that of a forward proxy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "proxy/routing/dynamic_targets.h"
#include "proxy/routing/table/route_index.h"
#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::routeWithRules;
using test::World;
using testing::HasSubstr;

constexpr const char* kProxy = "{name: proxy, protocol: sluice.dev/HTTPPROXY, port: 80}";
constexpr const char* kCovering =
    "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: p}\nspec:\n"
    "  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: egress}]\n  rules: []\n";

bool isProxy(const World& world, std::uint16_t port = 80) {
  const routing::Bind* bind = world.bind(port);
  return bind != nullptr && routing::isForwardProxy(bind->service);
}

const routing::ServedListener* proxyListener(const World& world, std::string_view host) {
  const auto* found = routing::routesOf(world.bind(80)->service).index().listenerOf(host);
  return found != nullptr ? found->name.get() : nullptr;
}

TEST(ForwardProxies, AreServedWithTheRoutesThatAttach) {
  const World world({kClass, gatewayWith(kProxy), kBackend, test::kRoute, kCovering});
  EXPECT_EQ(world.listenerCondition("egress", "proxy", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.listenerCondition("egress", "proxy", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.listenerStatus("egress", "proxy")->supportedKinds.size(), 2U);
  EXPECT_EQ(world.listenerStatus("egress", "proxy")->attachedRoutes, 1);
  EXPECT_TRUE(isProxy(world));
  EXPECT_FALSE(world.bind(80)->tls);
  EXPECT_EQ(world.outcome("a.test", "/"), "default/origin");
}

TEST(ForwardProxies, SayThatTheyAreClosedWithoutAPolicy) {
  const auto note = [](const std::vector<std::string_view>& more) {
    std::vector<std::string_view> documents = {kClass, kBackend};
    const std::string gateway = gatewayWith(kProxy);
    documents.push_back(gateway);
    documents.insert(documents.end(), more.begin(), more.end());
    const World world(documents);
    for (const auto& each : world.listenerStatus("egress", "proxy")->conditions) {
      if (each.type == "Accepted") return each.message;
    }
    return std::string();
  };
  EXPECT_THAT(note({}), HasSubstr("no EgressPolicy in mode Enforce covers it"));
  EXPECT_EQ(note({kCovering}).find("no EgressPolicy"), std::string::npos);
  const std::string audited = std::string(kCovering) + "  mode: Audit\n";
  EXPECT_THAT(note({audited}), HasSubstr("no EgressPolicy in mode Enforce covers it"));
}

TEST(ForwardProxies, SendTheRestToTheDestinationsThatRequestsName) {
  const World world({kClass, gatewayWith(kProxy)});
  const routing::ServedListener* listener = proxyListener(world, "any.test");
  ASSERT_NE(listener, nullptr);
  EXPECT_TRUE(listener->forwardProxy);
  ASSERT_NE(listener->rest, nullptr);
  ASSERT_EQ(listener->rest->backends.size(), 1U);
  const routing::BackendPlan& direct = *listener->rest->backends.front().backend;
  ASSERT_NE(direct.dynamic, nullptr);
  EXPECT_EQ(direct.dynamic->need, routing::PolicyNeed::kEnforced);
  const auto planOf = [&](routing::NamedDestination named) {
    named.forwardProxy = true;
    return routing::requestedPlan(*direct.dynamic->targetOf(named));
  };
  const auto plain = planOf({.authority = "a.test", .scheme = http::Scheme::kHttp});
  EXPECT_EQ(plain->port, 80);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->connection.dns.seriesName, "*") << "its name, which a client has chosen, is in no series";
  EXPECT_TRUE(plain->connection.dns.ofClients());
  const auto secure = planOf({.authority = "a.test", .scheme = http::Scheme::kHttps});
  EXPECT_EQ(secure->port, 443);
  ASSERT_TRUE(secure->tls);
  EXPECT_EQ(secure->tls->serverName, "a.test");
  EXPECT_NE(secure->tls->trust, nullptr);
  EXPECT_EQ(secure->tls->clientCertificate, nullptr);
  const auto tunnel = planOf({.authority = "a.test:443", .isTunnel = true});
  EXPECT_EQ(tunnel->protocol, routing::UpstreamProtocol::kOpaque);
  EXPECT_FALSE(tunnel->tls);
  EXPECT_TRUE(world.result().snapshot->backends.size() >= 1U) << "their destinations outlive reloads";
}

TEST(ForwardProxies, GiveTheRestTheTrafficSettingsOfTheirGateway) {
  constexpr const char* kTraffic =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: t}\nspec:\n"
      "  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: egress}]\n"
      "  retry: {attempts: 2}\n  timeout: {http: {requestTimeout: 7s}, tcp: {connectTimeout: 3s}}\n"
      "  circuitBreaker: {maxConnections: 5}\n";
  const World world({kClass, gatewayWith(kProxy), kTraffic});
  const routing::Rule& rest = *proxyListener(world, "any.test")->rest;
  ASSERT_TRUE(rest.retry);
  EXPECT_EQ(rest.retry->attempts, 2U);
  EXPECT_NE(rest.retry->budget, nullptr);
  EXPECT_EQ(rest.requestTimeout, std::chrono::seconds(7));
  const routing::DynamicTargets& targets = *rest.backends.front().backend->dynamic;
  for (const auto named :
       {routing::NamedDestination{.authority = "a.test", .forwardProxy = true},
        routing::NamedDestination{.authority = "a.test:443", .forwardProxy = true, .isTunnel = true}}) {
    const auto plan = routing::requestedPlan(*targets.targetOf(named));
    EXPECT_EQ(plan->connection.connectTimeout, std::chrono::seconds(3));
    EXPECT_EQ(plan->connection.bounds.connections, 5U);
  }
}

TEST(ForwardProxies, GiveTheRestNoCredentials) {
  const std::string token = test::secret("token", {{"key", "value"}});
  const std::string injecting =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {group: "
      "gateway.networking.k8s.io, kind: Gateway, name: egress}\n  processors: [{name: c, type: "
      "'sluice.dev/Test:v1', phase: request-headers, config: {secret: token}}]\n";
  const std::string gateway = gatewayWith(kProxy);
  const World world({kClass, gateway, token, injecting}, nullptr, test::processorTypes());
  const routing::ServedListener& listener = *proxyListener(world, "any.test");
  EXPECT_EQ(listener.chain, nullptr);
  EXPECT_EQ(listener.preRouting, nullptr);
  EXPECT_EQ(listener.rest->chain, nullptr);
  EXPECT_FALSE(listener.rest->failure);

  const std::string early = test::with(injecting, "spec:", "spec:\n  phase: PreRouting");
  const World closed({kClass, gateway, token, early}, nullptr, test::processorTypes());
  ASSERT_TRUE(proxyListener(closed, "any.test")->rest->failure) << "it has the credential before its route is known";
  EXPECT_EQ(proxyListener(closed, "any.test")->rest->failure->status, 500);
  EXPECT_EQ(closed.listenerCondition("egress", "proxy", "Degraded"), "True/InsecureCredential");
}

TEST(ForwardProxies, TakeTlsByTheirProtocol) {
  const std::string tls = ", tls: {certificateRefs: [{name: pair}]}}";
  const World plain({kClass, gatewayWith("{name: proxy, protocol: sluice.dev/HTTPPROXY, port: 80" + tls),
                     test::keyPair("pair", test::server())});
  EXPECT_EQ(plain.listenerCondition("egress", "proxy", "Accepted"), "False/UnsupportedValue");
  const World secure({kClass, gatewayWith("{name: proxy, protocol: sluice.dev/HTTPSPROXY, port: 80" + tls),
                      test::keyPair("pair", test::server())});
  EXPECT_EQ(secure.listenerCondition("egress", "proxy", "Programmed"), "True/Programmed");
  EXPECT_TRUE(secure.bind(80)->tls);
  EXPECT_TRUE(isProxy(secure));
  const World bare({kClass, gatewayWith("{name: proxy, protocol: sluice.dev/HTTPSPROXY, port: 80}")});
  EXPECT_EQ(bare.listenerCondition("egress", "proxy", "ResolvedRefs"), "False/InvalidCertificateRef");
}

TEST(ForwardProxies, ShareNoPortWithAnotherProtocol) {
  const World world({kClass, gatewayWith(std::string(kProxy) + ", {name: web, protocol: HTTP, port: 80}")});
  EXPECT_EQ(world.listenerCondition("egress", "proxy", "Conflicted"), "True/ProtocolConflict");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Conflicted"), "True/ProtocolConflict");
}

TEST(ForwardProxies, RefuseHostsThatNoListenerHas) {
  const World world(
      {kClass, gatewayWith("{name: proxy, protocol: sluice.dev/HTTPPROXY, port: 80, hostname: '*.inside.test'}")});
  EXPECT_EQ(proxyListener(world, "a.inside.test")->section, "proxy");
  const routing::ServedListener* none = proxyListener(world, "a.test");
  ASSERT_NE(none, nullptr);
  ASSERT_TRUE(none->rest->failure);
  EXPECT_EQ(none->rest->failure->status, 403);
}

TEST(ForwardProxies, TakeConnectByRulesOfThatMethodAlone) {
  const auto routeOf = [](const std::string& match) { return routeWithRules("rules: [{matches: [" + match + "]}]"); };
  for (const char* refused :
       {"{method: CONNECT, path: {value: /x}}", "{method: CONNECT, queryParams: [{name: a, value: b}]}"}) {
    const std::string route = routeOf(refused);
    const World world({kClass, gatewayWith(kProxy), route});
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue") << refused;
  }
  const std::string route = routeOf("{method: CONNECT, headers: [{name: a, value: b}]}");
  const World world({kClass, gatewayWith(kProxy), route});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
}

TEST(ForwardProxies, OpenTunnelsToDynamicBackendsAlone) {
  const std::string route = routeWithRules(
      "rules: [{matches: [{method: CONNECT}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
      "origin, port: 8080}]}]");
  const World world({kClass, gatewayWith(kProxy), kBackend, route});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
}

}  // namespace
}  // namespace sluice::compile
