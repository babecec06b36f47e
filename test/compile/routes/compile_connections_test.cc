// Tests the effect of TrafficPolicies on connections to the Backends of a rule and on the timeouts of its requests.
#include "proxy/compile/routes/compile_connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using std::chrono::seconds;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using ::testing::HasSubstr;

constexpr const char* kToTheGateway = "{group: gateway.networking.k8s.io, kind: Gateway, name: egress}";
constexpr const char* kToTheRoute = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}";
constexpr const char* kToTheBackend = "{group: gateway.networking.k8s.io, kind: Backend, name: origin}";

std::string connecting(const std::string& name, const std::string& target, const std::string& fields) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name + "}\nspec: {targetRefs: [" +
         target + "], " + fields + "}\n";
}
/// Returns a world with a single route "route" to the Backend "origin".
World connectedWorld(const std::vector<std::string>& policies, std::string_view route = kRoute,
                     std::string_view backend = kBackend) {
  std::vector<std::string_view> documents = {kClass, kGateway, backend, route};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}
const routing::Rule& onlyRule(const World& world) { return *world.rule(test::RequestMaker("GET", "a.test", "/")); }
const routing::BackendPlan& planIn(const World& world) { return *onlyRule(world).backends.at(0).backend; }

TEST(ConnectionCompilation, GivesBackendsTheTimeoutsOfAPolicy) {
  for (const char* target : {kToTheGateway, kToTheRoute, kToTheBackend}) {
    const World world = connectedWorld(
        {connecting("p", target,
                    "timeout: {tcp: {connectTimeout: 1s}, http: {connectionIdleTimeout: 2s, maxConnectionDuration: "
                    "3s}}")});
    const routing::BackendPlan& plan = planIn(world);
    EXPECT_EQ(plan.connection.connectTimeout, seconds(1)) << target;
    EXPECT_EQ(plan.connection.idleTimeout, seconds(2)) << target;
    EXPECT_EQ(plan.connection.lifetime, seconds(3)) << target;
    EXPECT_EQ(world.condition("TrafficPolicy", "p", "Accepted"), "True/Accepted") << target;
  }
}

TEST(ConnectionCompilation, LeavesBackendsWithoutAPolicyAsTheyAre) {
  const World plain = connectedWorld({});
  const World governed =
      connectedWorld({connecting("p", kToTheRoute, "timeout: {http: {requestTimeout: 1s}}, retry: {}")});
  EXPECT_EQ(planIn(plain).connection, routing::ConnectionSettings());
  EXPECT_EQ(planIn(governed).identity, planIn(plain).identity) << "nothing of it is about connections";
}

TEST(ConnectionCompilation, KeepsConnectionsApartThatCountAsOneBackend) {
  const World plain = connectedWorld({});
  const World one = connectedWorld({connecting("p", kToTheRoute, "timeout: {tcp: {connectTimeout: 1s}}")});
  const World other = connectedWorld({connecting("p", kToTheRoute, "timeout: {tcp: {connectTimeout: 2s}}")});
  EXPECT_NE(planIn(one).identity, planIn(plain).identity);
  EXPECT_NE(planIn(one).identity, planIn(other).identity);
  EXPECT_EQ(planIn(one).countedAs(), planIn(plain).identity);
  EXPECT_EQ(planIn(other).countedAs(), planIn(plain).identity);
  const auto& served = one.snapshot().backends;
  EXPECT_TRUE(std::any_of(served.begin(), served.end(), [&](const auto& each) {
    return each->identity == planIn(one).identity;
  })) << "workers keep its cluster over a reload";
}

TEST(ConnectionCompilation, CountsByTheBoundsOfACircuitBreakerAlone) {
  const auto bounded = [](const std::string& fields) {
    return connectedWorld({connecting("p", kToTheRoute, "circuitBreaker: {" + fields + "}")});
  };
  const World plain = connectedWorld({});
  const World one = bounded("maxConnections: 1");
  const World other = bounded("maxConnections: 2");
  EXPECT_EQ(planIn(one).connection.bounds.connections, 1U);
  EXPECT_NE(planIn(one).boundedAs(), planIn(plain).boundedAs());
  EXPECT_NE(planIn(one).boundedAs(), planIn(other).boundedAs());
  EXPECT_EQ(planIn(one).countedAs(), planIn(plain).countedAs()) << "its health is that of the Backend";
  const World withTimeout = connectedWorld(
      {connecting("p", kToTheRoute, "circuitBreaker: {maxConnections: 1}, timeout: {tcp: {connectTimeout: 1s}}")});
  EXPECT_EQ(planIn(withTimeout).boundedAs(), planIn(one).boundedAs()) << "other connections within the same bounds";
  const World aged = bounded("maxRequestsPerConnection: 9");
  EXPECT_EQ(planIn(aged).connection.requestsPerConnection, 9U);
  EXPECT_NE(planIn(aged).identity, planIn(plain).identity);
  EXPECT_EQ(planIn(aged).boundedAs(), planIn(plain).boundedAs()) << "that bounds nothing in common";
}

TEST(ConnectionCompilation, CountsByTheBoundsOfEndpointsAlone) {
  const auto bounded = [](const std::string& fields) {
    return connectedWorld({connecting("p", kToTheBackend, "circuitBreaker: {perEndpoint: {" + fields + "}}")});
  };
  const World plain = connectedWorld({});
  const World one = bounded("maxConnections: 1");
  EXPECT_EQ(planIn(one).connection.perEndpoint, (base::CircuitBreakerBounds{.connections = 1}));
  EXPECT_FALSE(planIn(one).connection.bounds.any());
  EXPECT_NE(planIn(one).identity, planIn(plain).identity);
  EXPECT_NE(planIn(one).boundedAs(), planIn(plain).boundedAs());
  EXPECT_NE(planIn(one).boundedAs(), planIn(bounded("maxConnections: 2")).boundedAs());
  EXPECT_NE(planIn(one).boundedAs(), planIn(bounded("maxParallelRequests: 1")).boundedAs());
  EXPECT_EQ(planIn(one).countedAs(), planIn(plain).countedAs()) << "its health is that of the Backend";
  const World ofBackend = connectedWorld({connecting("p", kToTheBackend, "circuitBreaker: {maxConnections: 1}")});
  EXPECT_NE(planIn(one).boundedAs(), planIn(ofBackend).boundedAs());
}

TEST(ConnectionCompilation, CountsRulesOfHighPriorityByThemselves) {
  const std::string bounds =
      connecting("bounds", kToTheBackend, "circuitBreaker: {maxConnections: 1, perEndpoint: {maxConnections: 2}}");
  const std::string high = connecting("high", kToTheRoute, "priority: High");
  const World plain = connectedWorld({});
  const World usual = connectedWorld({bounds, connecting("usual", kToTheRoute, "priority: Default")});
  EXPECT_EQ(planIn(usual).identity, planIn(connectedWorld({bounds})).identity);
  const World urgent = connectedWorld({bounds, high});
  EXPECT_EQ(planIn(urgent).connection.bounds, (base::CircuitBreakerBounds{1024, 1024, 1024}));
  EXPECT_EQ(planIn(urgent).connection.perEndpoint, planIn(usual).connection.perEndpoint);
  EXPECT_NE(planIn(urgent).boundedAs(), planIn(usual).boundedAs());
  EXPECT_EQ(planIn(urgent).countedAs(), planIn(usual).countedAs()) << "its health is that of the Backend";
  EXPECT_NE(planIn(connectedWorld({high})).boundedAs(), planIn(plain).boundedAs()) << "also without a circuitBreaker";
  const World bounded =
      connectedWorld({connecting("bounds", kToTheGateway, "circuitBreaker: {high: {maxPendingRequests: 3}}"), high});
  EXPECT_EQ(planIn(bounded).connection.bounds, (base::CircuitBreakerBounds{1024, 3, 1024}));
  EXPECT_EQ(bounded.condition("TrafficPolicy", "high", "Accepted"), "True/Accepted");
}

TEST(ConnectionCompilation, NamesItsUsualBoundsApartFromThoseOfHighPriority) {
  const World usual = connectedWorld(
      {connecting("p", kToTheRoute,
                  "circuitBreaker: {maxConnections: 1024, maxPendingRequests: 1024, maxParallelRequests: 1024}")});
  const World high = connectedWorld({connecting("p", kToTheRoute, "priority: High")});
  EXPECT_EQ(planIn(usual).connection.bounds, planIn(high).connection.bounds);
  EXPECT_NE(planIn(usual).boundedAs(), planIn(high).boundedAs()) << "neither takes places of the other";
}

TEST(ConnectionCompilation, KeepsConnectionsOfEachWayOfLoadBalancingApart) {
  const auto balanced = [](const std::string& terms) {
    return connectedWorld({connecting("p", kToTheRoute, "loadBalancing: {" + terms + "}")});
  };
  const World plain = connectedWorld({});
  const World turns = balanced("type: RoundRobin");
  const World hashed = balanced("type: Maglev, hash: {type: Header, name: X-User}");
  const World other = balanced("type: Maglev, hash: {type: Header, name: X-Tenant}");
  EXPECT_EQ(planIn(hashed).connection.balancing.names, std::vector<std::string>{"x-user"});
  EXPECT_NE(planIn(turns).identity, planIn(plain).identity);
  EXPECT_NE(planIn(hashed).identity, planIn(other).identity);
  EXPECT_EQ(planIn(balanced("")).identity, planIn(plain).identity) << "that happens anyway";
  EXPECT_NE(planIn(balanced("zone: Prefer")).identity, planIn(plain).identity);
  EXPECT_NE(planIn(balanced("zone: Prefer")).identity,
            planIn(balanced("zone: Prefer, minEndpointsInZone: 2")).identity);
  EXPECT_EQ(planIn(turns).boundedAs(), planIn(plain).boundedAs());
}

TEST(ConnectionCompilation, HoldsBothVersionsOfHttpToOneBound) {
  const std::string tls = with(kBackend, "port: 8080}}", "port: 8080}}, tls: {mode: Terminate}");
  const World world =
      connectedWorld({connecting("p", kToTheRoute, "circuitBreaker: {maxParallelRequests: 1}")}, kRoute, tls);
  const routing::BackendPlan& plan = planIn(world);
  ASSERT_NE(plan.http11, nullptr);
  EXPECT_EQ(plan.http11->boundedAs(), plan.boundedAs());
}

TEST(ConnectionCompilation, TakesWholeFieldsOfTheMostSpecificPolicy) {
  const std::string gateway =
      connecting("gateway", kToTheGateway, "timeout: {tcp: {connectTimeout: 1s}, http: {requestTimeout: 4s}}");
  const std::string backend = connecting("backend", kToTheBackend, "timeout: {http: {connectionIdleTimeout: 2s}}");
  const std::string route = connecting("route", kToTheRoute, "timeout: {http: {maxConnectionDuration: 3s}}");
  const World two = connectedWorld({gateway, backend});
  EXPECT_FALSE(planIn(two).connection.connectTimeout);
  EXPECT_EQ(planIn(two).connection.idleTimeout, seconds(2));
  EXPECT_EQ(onlyRule(two).requestTimeout, seconds(4)) << "the time of requests is not the Backend's to say";
  const World all = connectedWorld({gateway, backend, route});
  EXPECT_EQ(planIn(all).connection, (routing::ConnectionSettings{.lifetime = seconds(3)}));
  EXPECT_FALSE(onlyRule(all).requestTimeout);
}

TEST(ConnectionCompilation, BoundsRequestsUnlessTheRuleDoes) {
  const std::string own = with(kRoute, "rules: [{", "rules: [{timeouts: {request: 9s}, ");
  for (const char* target : {kToTheGateway, kToTheRoute}) {
    const std::string request = connecting("p", target, "timeout: {http: {requestTimeout: 5s, streamIdleTimeout: 6s}}");
    EXPECT_EQ(onlyRule(connectedWorld({request})).requestTimeout, seconds(5)) << target;
    EXPECT_EQ(onlyRule(connectedWorld({request})).streamIdleTimeout, seconds(6)) << target;
    EXPECT_EQ(onlyRule(connectedWorld({request}, own)).requestTimeout, seconds(9)) << target;
    EXPECT_EQ(onlyRule(connectedWorld({request}, own)).streamIdleTimeout, seconds(6)) << target;
  }
}

TEST(ConnectionCompilation, BoundsRequestsByTheirDurationWhateverTheRuleSays) {
  const auto durationOf = [](const std::string& http, const std::string& rule) {
    const std::string route = rule.empty() ? std::string(kRoute) : with(kRoute, "rules: [{", "rules: [{" + rule + ", ");
    return onlyRule(connectedWorld({connecting("p", kToTheRoute, "timeout: {http: {" + http + "}}")}, route))
        .requestTimeout;
  };
  EXPECT_EQ(durationOf("maxStreamDuration: 5s", ""), seconds(5));
  EXPECT_EQ(durationOf("maxStreamDuration: 5s, requestTimeout: 3s", ""), seconds(3));
  EXPECT_EQ(durationOf("maxStreamDuration: 5s", "timeouts: {request: 9s}"), seconds(5));
  EXPECT_EQ(durationOf("maxStreamDuration: 5s", "timeouts: {request: 0s}"), seconds(5));
  EXPECT_EQ(durationOf("maxStreamDuration: 0s", "timeouts: {request: 9s}"), seconds(9));
}

TEST(ConnectionCompilation, GovernsHttp11ForTunnelsToo) {
  const std::string tls = with(kBackend, "port: 8080}}", "port: 8080}}, tls: {mode: Terminate}");
  const World world =
      connectedWorld({connecting("p", kToTheRoute, "timeout: {tcp: {connectTimeout: 1s}}")}, kRoute, tls);
  ASSERT_NE(planIn(world).http11, nullptr);
  EXPECT_EQ(planIn(world).http11->connection.connectTimeout, seconds(1));
  EXPECT_EQ(planIn(world).http11->countedAs(), planIn(world).countedAs());
  EXPECT_NE(planIn(world).http11->identity, planIn(world).identity);
}

TEST(ConnectionCompilation, ChecksABackendAsTheRuleReachesIt) {
  const World world = connectedWorld(
      {connecting("p", kToTheGateway, "timeout: {tcp: {connectTimeout: 1s}}, healthCheck: {active: {type: TCP}}")});
  ASSERT_EQ(world.snapshot().checked.size(), 1u);
  EXPECT_EQ(world.snapshot().checked[0].backend->identity, planIn(world).identity);
}

TEST(ConnectionCompilation, HasConnectionsProbed) {
  const World world = connectedWorld({connecting("p", kToTheGateway, "tcpKeepalive: {probes: 3, idleTime: 4s}"),
                                      connecting("q", kToTheRoute, "timeout: {tcp: {connectTimeout: 1s}}")});
  EXPECT_EQ(planIn(world).connection.keepalive, (base::TcpKeepalive{.probes = 3, .idleTime = seconds(4)}));
  EXPECT_EQ(planIn(world).connection.connectTimeout, seconds(1)) << "another field";
  EXPECT_NE(planIn(world).identity,
            planIn(connectedWorld({connecting("p", kToTheGateway, "tcpKeepalive: {probes: 4, idleTime: 4s}"),
                                   connecting("q", kToTheRoute, "timeout: {tcp: {connectTimeout: 1s}}")}))
                .identity);
}

TEST(ConnectionCompilation, SendsViaUnlessAPolicySaysOtherwise) {
  const World plain = connectedWorld({});
  EXPECT_TRUE(planIn(plain).connection.sendsVia);
  EXPECT_TRUE(planIn(connectedWorld({connecting("p", kToTheBackend, "via: 'On'")})).connection.sendsVia);
  const World without = connectedWorld({connecting("p", kToTheBackend, "via: 'Off'")});
  EXPECT_FALSE(planIn(without).connection.sendsVia);
  EXPECT_NE(planIn(without).identity, planIn(plain).identity) << "a reload must not keep the other plan";
  EXPECT_EQ(planIn(without).countedAs(), planIn(plain).countedAs());
}

TEST(ConnectionCompilation, LooksNamesUpAsAPolicySays) {
  const std::string fields = "dns: {type: Logical, dnsRefreshRate: 10s, respectDnsTtl: false, lookupFamily: IPv6}";
  const World world = connectedWorld({connecting("p", kToTheBackend, fields)});
  const routing::BackendPlan& plan = planIn(world);
  EXPECT_TRUE(plan.connection.logicalDns);
  EXPECT_EQ(plan.connection.dns, (base::DnsTerms{base::LookupFamily::kIpv6, false, seconds(10)}));
  std::set<std::string> identities;
  for (const char* each : {"", "type: Logical", "dnsRefreshRate: 10s", "respectDnsTtl: false", "lookupFamily: IPv6"}) {
    const std::string policy = connecting("p", kToTheBackend, "dns: {" + std::string(each) + "}");
    identities.insert(planIn(connectedWorld({policy})).identity.text());
  }
  EXPECT_EQ(identities.size(), 5u) << "each has connections of its own";
}

TEST(ConnectionCompilation, ClosesForATimeThatIsNotSupported) {
  const World world = connectedWorld({connecting("p", kToTheRoute, "timeout: {http: {connectionIdleTimeout: 0s}}")});
  EXPECT_TRUE(onlyRule(world).failure);
  EXPECT_EQ(world.condition("TrafficPolicy", "p", "Accepted"), "False/UnsupportedValue");
  EXPECT_THAT(world.message("TrafficPolicy", "p", "Accepted"), HasSubstr("spec.timeout.http.connectionIdleTimeout"));
}

}  // namespace
}  // namespace sluice::compile
