// Tests that settings for connections to a Backend or a Service hold for mirrors and for the servers of payload
// processors, too, and what a policy that closes the destination does to these.
#include "proxy/compile/policies/destination_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using std::chrono::seconds;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::serverIn;
using test::with;
using test::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kToTheGuard = "{group: '', kind: Service, name: guard}";
constexpr const char* kGuardRef = "{name: guard, port: 9002}";
constexpr const char* kGuardedService = R"(
apiVersion: v1
kind: Service
metadata: {name: guard}
spec: {ports: [{name: calls, port: 9002}, {name: other, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: guard-1, labels: {kubernetes.io/service-name: guard}}
addressType: IPv4
ports: [{name: calls, port: 9002}]
endpoints: [{addresses: [10.0.0.1], zone: a}, {addresses: [10.0.0.2], zone: b}]
)";

std::string destinationPolicy(const std::string& target, const std::string& fields, const std::string& name = "p") {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name + "}\nspec: {targetRefs: [" +
         target + "], " + fields + "}\n";
}
std::string askingServer(const std::string& ref = kGuardRef, const std::string& more = {}) {
  return "{type: PayloadProcessing, payloadProcessing: [{name: guard, type: 'sluice.dev/ExtProc:v1', config: "
         "{backendRefs: [" +
         ref + "]}" + more + "}]}";
}
std::string mirroringTo(const std::string& ref = kGuardRef) {
  return "{type: RequestMirror, requestMirror: {backendRef: " + ref + "}}";
}
std::string routeWith(const std::string& filter) {
  return with(kRoute, "rules: [{", "rules: [{filters: [" + filter + "], ");
}
/// Returns a world whose one rule leads to the Backend "origin" and has the filter.
World destinationWorld(const std::string& route, const std::vector<std::string>& more,
                       const std::string& backend = std::string(kBackend)) {
  std::vector<std::string_view> documents = {kClass, kGateway, kGuardedService, backend, route};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, nullptr, test::typesWithAuthorization());
}
const routing::Rule& destinationRule(const World& world) {
  return *world.rule(test::RequestMaker("GET", "a.test", "/"));
}
bool isInUse(const World& world, const routing::BackendPlan& plan) {
  const auto& used = world.snapshot().backends;
  return std::any_of(used.begin(), used.end(), [&](const auto& each) {
    return each->identity == plan.identity && each->endpoints == plan.endpoints && each->zones == plan.zones;
  });
}

TEST(DestinationTraffic, GovernsTheServersOfPayloadProcessors) {
  const World plain = destinationWorld(routeWith(askingServer()), {});
  ASSERT_NE(serverIn(plain), nullptr);
  EXPECT_EQ(serverIn(plain)->connection, routing::ConnectionSettings());
  const std::string shared = "timeout: {tcp: {connectTimeout: 1s}}";
  for (const std::string& policy :
       {destinationPolicy(kToTheGuard, shared),
        destinationPolicy("{group: '', kind: Service, name: guard, sectionName: calls}", shared)}) {
    const World world = destinationWorld(routeWith(askingServer()), {policy});
    const auto server = serverIn(world);
    ASSERT_NE(server, nullptr) << policy;
    EXPECT_EQ(server->connection, (routing::ConnectionSettings{.connectTimeout = seconds(1)})) << policy;
    EXPECT_EQ(server->protocol, routing::UpstreamProtocol::kHttp2) << policy;
    EXPECT_EQ(server->countedAs(), serverIn(plain)->countedAs()) << policy;
    EXPECT_TRUE(isInUse(world, *server)) << policy;
  }
}

TEST(DestinationTraffic, HasEachSettingOfConnections) {
  const World world = destinationWorld(
      routeWith(askingServer()),
      {destinationPolicy(
          kToTheGuard,
          "timeout: {http: {connectionIdleTimeout: 2s, maxConnectionDuration: 3s}}, tcpKeepalive: {probes: 4}, "
          "circuitBreaker: {maxConnections: 5, perEndpoint: {maxConnections: 6}}, "
          "loadBalancing: {type: RoundRobin, zone: Prefer}")});
  const auto server = serverIn(world);
  ASSERT_NE(server, nullptr);
  const routing::ConnectionSettings& its = server->connection;
  EXPECT_EQ(its.idleTimeout, seconds(2));
  EXPECT_EQ(its.lifetime, seconds(3));
  EXPECT_EQ(its.keepalive, (base::TcpKeepalive{.probes = 4}));
  EXPECT_EQ(its.bounds.connections, 5U);
  EXPECT_EQ(its.perEndpoint.connections, 6U);
  EXPECT_EQ(its.balancing.type, base::BalancerType::kRoundRobin);
  EXPECT_TRUE(its.balancing.prefersZone);
  EXPECT_TRUE(isInUse(world, *server));
}

TEST(DestinationTraffic, HasNoSettingsOfOthers) {
  const std::string api = "{group: gateway.networking.k8s.io, kind: ";
  const World world =
      destinationWorld(routeWith(askingServer() + ", " + mirroringTo()),
                       {destinationPolicy(api + "Gateway, name: egress}", "tcpKeepalive: {probes: 1}", "gateway"),
                        destinationPolicy(api + "HTTPRoute, name: route}", "loadBalancing: {type: Random}", "route"),
                        destinationPolicy("{group: '', kind: Service, name: guard, sectionName: other}",
                                          "timeout: {tcp: {connectTimeout: 1s}}", "port")});
  ASSERT_NE(serverIn(world), nullptr);
  EXPECT_EQ(serverIn(world)->connection, routing::ConnectionSettings());
  ASSERT_EQ(destinationRule(world).mirrors.size(), 1U);
  EXPECT_EQ(destinationRule(world).mirrors[0].backend->connection, routing::ConnectionSettings());
  EXPECT_EQ(destinationRule(world).backends.at(0).backend->connection.balancing.type, base::BalancerType::kRandom);
}

TEST(DestinationTraffic, GovernsTheServersOfExternalAuthorization) {
  const std::string filter =
      "{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: " + std::string(kGuardRef) +
      ", http: {path: /check}}}";
  const World world =
      destinationWorld(routeWith(filter), {destinationPolicy(kToTheGuard, "circuitBreaker: {maxParallelRequests: 1}")});
  const auto server = serverIn(world);
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(server->connection.bounds.requests, 1U);
  EXPECT_NE(server->boundedAs(), server->countedAs());
  EXPECT_TRUE(isInUse(world, *server));
}

TEST(DestinationTraffic, IsThatOfABackendItself) {
  const std::string own =
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: own}\nspec: {destination: {type: FQDN, fqdn: "
      "{hostname: own.test, port: 80}}, tcpKeepalive: {probes: 7}, via: 'Off'}\n";
  const std::string ref = "{group: sluice.dev, kind: Backend, name: own, port: 80}";
  const World world = destinationWorld(routeWith(askingServer(ref) + ", " + mirroringTo(ref)),
                                       {own, destinationPolicy("{group: sluice.dev, kind: Backend, name: own}",
                                                               "tcpKeepalive: {probes: 1}, dns: {type: Logical}")});
  ASSERT_NE(serverIn(world), nullptr);
  ASSERT_EQ(destinationRule(world).mirrors.size(), 1U);
  for (const auto& plan : {serverIn(world), destinationRule(world).mirrors[0].backend}) {
    EXPECT_EQ(plan->connection.keepalive, (base::TcpKeepalive{.probes = 7})) << "its own field comes first";
    EXPECT_TRUE(plan->connection.logicalDns);
    EXPECT_FALSE(plan->connection.sendsVia);
  }
}

TEST(DestinationTraffic, GovernsMirrorsOfRulesAndOfBackendRefs) {
  const std::string policy = destinationPolicy(kToTheGuard, "loadBalancing: {zone: Prefer}");
  const World ofRule = destinationWorld(routeWith(mirroringTo()), {policy});
  ASSERT_EQ(destinationRule(ofRule).mirrors.size(), 1U);
  const World ofRef =
      destinationWorld(with(kRoute, "port: 8080}", "port: 8080, filters: [" + mirroringTo() + "]}"), {policy});
  ASSERT_EQ(destinationRule(ofRef).backends.at(0).mirrors.size(), 1U);
  for (const auto& [world, plan] : {std::pair(&ofRule, destinationRule(ofRule).mirrors[0].backend),
                                    std::pair(&ofRef, destinationRule(ofRef).backends[0].mirrors[0].backend)}) {
    EXPECT_EQ(plan->name, "default/guard");
    EXPECT_TRUE(plan->connection.balancing.prefersZone);
    EXPECT_TRUE(isInUse(*world, *plan));
    EXPECT_EQ(destinationRule(*world).backends[0].backend->connection, routing::ConnectionSettings());
  }
}

TEST(DestinationTraffic, GivesEachMirrorItsOwnSettings) {
  const std::string other = "apiVersion: v1\nkind: Service\nmetadata: {name: other}\nspec: {ports: [{port: 80}]}\n";
  const std::string ofRef = with(kRoute, "port: 8080}", "port: 8080, filters: [" + mirroringTo() + "]}");
  const std::string both =
      mirroringTo("{name: absent, port: 80}") + ", " + mirroringTo("{name: other, port: 80}") + ", " + mirroringTo();
  const World world = destinationWorld(with(ofRef, "rules: [{", "rules: [{filters: [" + both + "], "),
                                       {other, destinationPolicy(kToTheGuard, "tcpKeepalive: {probes: 2}")});
  const routing::Rule& rule = destinationRule(world);
  ASSERT_EQ(rule.mirrors.size(), 2U);
  EXPECT_EQ(rule.mirrors[0].backend->name, "default/other");
  EXPECT_FALSE(rule.mirrors[0].backend->connection.keepalive);
  EXPECT_TRUE(rule.mirrors[1].backend->connection.keepalive);
  EXPECT_TRUE(rule.backends.at(0).mirrors.at(0).backend->connection.keepalive);
}

TEST(DestinationTraffic, ClosesWhatAPolicyCloses) {
  const std::string closing = destinationPolicy(kToTheGuard, "retry: {attempts: 1}");
  const std::string why = "TrafficPolicy default/p: spec.retry: is for Gateways and routes alone";
  const World processed = destinationWorld(routeWith(askingServer()), {closing});
  EXPECT_EQ(processed.outcome(), "500");
  const config::ObjectStatus* const route = processed.status("HTTPRoute", "route");
  ASSERT_NE(route, nullptr);
  EXPECT_THAT(config::statusJson(*route), HasSubstr(why));
  const World open = destinationWorld(routeWith(askingServer(kGuardRef, ", failOpen: true")), {closing});
  EXPECT_EQ(open.outcome(), "default/origin");
  EXPECT_EQ(serverIn(open), nullptr);
  const World mirrored = destinationWorld(routeWith(mirroringTo()), {closing});
  EXPECT_EQ(mirrored.outcome(), "default/origin");
  EXPECT_TRUE(destinationRule(mirrored).mirrors.empty());
  EXPECT_EQ(mirrored.condition("HTTPRoute", "route", "ResolvedRefs"), "False/Invalid");
  EXPECT_THAT(mirrored.message("HTTPRoute", "route", "ResolvedRefs"), HasSubstr(why));
}

TEST(DestinationTraffic, DisclosesNothingToOtherNamespaces) {
  const std::string theirs =
      "apiVersion: v1\nkind: Service\nmetadata: {name: theirs, namespace: other}\nspec: {ports: [{port: 80}]}\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: grant, namespace: other}\n"
      "spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}], to: [{group: '', kind: "
      "Service}]}\n---\n"
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: hidden, namespace: "
      "other}\nspec: {targetRefs: [{group: '', kind: Service, name: theirs}], retry: {attempts: 1}}\n";
  const std::string ref = "{namespace: other, name: theirs, port: 80}";
  const World mirrored = destinationWorld(routeWith(mirroringTo(ref)), {theirs});
  EXPECT_EQ(mirrored.condition("HTTPRoute", "route", "ResolvedRefs"), "False/Invalid");
  EXPECT_THAT(mirrored.message("HTTPRoute", "route", "ResolvedRefs"), Not(HasSubstr("hidden")));
  const World processed = destinationWorld(routeWith(askingServer(ref)), {theirs});
  EXPECT_EQ(processed.outcome(), "500");
  for (const config::ObjectStatus& each : processed.result().statuses) {
    if (each.kind != "HTTPRoute") continue;
    EXPECT_THAT(config::statusJson(each), AllOf(HasSubstr("it is not served (Invalid)"), Not(HasSubstr("hidden"))));
  }
}

TEST(DestinationTraffic, IsReportedForServicesThatOnlyProcessorsAsk) {
  const std::string policy = destinationPolicy(kToTheGuard, "loadBalancing: {zone: Prefer}");
  EXPECT_EQ(destinationWorld(routeWith(askingServer()), {policy}).condition("TrafficPolicy", "p", "Accepted"),
            "True/Accepted");
  EXPECT_EQ(destinationWorld(std::string(kRoute), {policy}).status("TrafficPolicy", "p"), nullptr)
      << "nothing leads to the Service";
}

}  // namespace
}  // namespace sluice::compile
