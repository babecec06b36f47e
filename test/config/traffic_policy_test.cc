#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/config/traffic/own_traffic.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TrafficPolicies, AreReadAsTheyAreWritten) {
  const TrafficPolicy policy = trafficWith(
      "retry: {codes: [503], attempts: 2}, failover: {priorities: [{backendRef: {group: sluice.dev, kind: Backend, "
      "name: first, namespace: other, port: 443}, priority: 0}, {backendRef: {name: second}, priority: 3}], "
      "overprovisioningFactor: 100, maxRetryAfter: 5m}, healthCheck: {passive: {consecutive5XxErrors: 2, "
      "baseEjectionTime: 1s, maxEjectionTime: 10s}}");
  EXPECT_EQ(policy.targets.at(0).sectionName, "chat");
  EXPECT_EQ(policy.retry->attempts, 2u);
  ASSERT_EQ(policy.failover->priorities.size(), 2u);
  EXPECT_EQ(policy.failover->priorities[0].backendRef.object.nameSpace, "other");
  EXPECT_EQ(policy.failover->priorities[0].backendRef.port, 443);
  EXPECT_EQ(policy.failover->priorities[1].backendRef.object.kind, "Service");
  EXPECT_EQ(policy.failover->priorities[1].priority, 3u);
  EXPECT_EQ(policy.failover->overprovisioningFactor, 100u);
  EXPECT_EQ(policy.failover->maxRetryAfter, std::chrono::minutes(5));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 2u);
  EXPECT_EQ(policy.passiveHealth->baseEjectionTime, std::chrono::seconds(1));
  EXPECT_EQ(policy.passiveHealth->maxEjectionTime, std::chrono::seconds(10));
}

TEST(TrafficPolicies, HaveDefaults) {
  const TrafficPolicy policy = trafficWith("failover: {}, healthCheck: {passive: {}}");
  EXPECT_FALSE(policy.retry);
  EXPECT_EQ(policy.failover->overprovisioningFactor, 140u);
  EXPECT_EQ(policy.failover->maxRetryAfter, std::chrono::minutes(1));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 5u);
  EXPECT_EQ(policy.passiveHealth->baseEjectionTime, std::chrono::seconds(30));
  EXPECT_EQ(policy.passiveHealth->maxEjectionTime, std::chrono::minutes(5));
  EXPECT_EQ(trafficWith("healthCheck: {passive: {baseEjectionTime: 10m}}").passiveHealth->maxEjectionTime,
            std::chrono::minutes(10));
}

TEST(TrafficPolicies, SayWhichFailuresAreTooMany) {
  const TrafficPolicy policy = trafficWith(
      "healthCheck: {passive: {consecutive5XxErrors: 0, consecutiveGatewayErrors: 4, failurePercentage: {threshold: "
      "30, "
      "minimumRequests: 7}, interval: 1m, maxEjectionPercent: 20}}");
  ASSERT_TRUE(policy.passiveHealth);
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 0u);
  EXPECT_EQ(policy.passiveHealth->consecutiveGatewayErrors, 4u);
  EXPECT_EQ(policy.passiveHealth->failurePercentage, 30u);
  EXPECT_EQ(policy.passiveHealth->minimumRequests, 7u);
  EXPECT_EQ(policy.passiveHealth->interval, std::chrono::minutes(1));
  EXPECT_EQ(policy.passiveHealth->maxEjectionPercent, 20u);
}

TEST(TrafficPolicies, RetryForStatusesOfGrpcAndBoundAttemptsAndPauses) {
  const TrafficRetry retry =
      *trafficWith("retry: {grpcCodes: [UNAVAILABLE, CANCELLED], backoff: 1s, maxBackoff: 2s, attemptTimeout: 5s}")
           .retry;
  EXPECT_EQ(retry.grpcCodes, 1U << 14 | 1U << 1);
  EXPECT_EQ(retry.longestBackoff, std::chrono::seconds(2));
  EXPECT_EQ(retry.attemptTimeout, std::chrono::seconds(5));
  EXPECT_EQ(trafficWith("retry: {}").retry->longestBackoff, std::chrono::seconds(10));
  EXPECT_EQ(trafficWith("retry: {}").retry->attemptsPerPriority, 0u);
  EXPECT_EQ(trafficWith("retry: {attemptsPerPriority: 2}").retry->attemptsPerPriority, 2u);
  EXPECT_EQ(trafficWith("retry: {}").retry->replayBytes, std::nullopt);
  EXPECT_EQ(trafficWith("retry: {replayBytes: 3Mi}").retry->replayBytes, 3U * 1024 * 1024);
  EXPECT_EQ(trafficWith("retry: {replayBytes: 0}").retry->replayBytes, 0U);
}

TEST(TrafficPolicies, MayHaveACircuitBreaker) {
  const CircuitBreakerFields whole =
      *trafficWith(
           "circuitBreaker: {maxConnections: 1, maxPendingRequests: 0, maxParallelRequests: 4294967295, "
           "maxParallelRetries: 4, maxRequestsPerConnection: 5}")
           .circuitBreaker;
  EXPECT_EQ(whole.bounds, (base::CircuitBreakerBounds{1, 0, 4294967295U}));
  EXPECT_EQ(whole.maxParallelRetries, 4U);
  EXPECT_EQ(whole.requestsPerConnection, 5U);
  EXPECT_FALSE(trafficWith("circuitBreaker: {}").circuitBreaker->bounds.any());
}

TEST(TrafficPolicies, MayHaveLoadBalancing) {
  using base::BalancerType;
  using base::HashSource;
  const auto terms = [](const std::string& fields) {
    return *trafficWith("loadBalancing: {" + fields + "}").loadBalancing;
  };
  EXPECT_EQ(terms(""), base::LoadBalancing());
  EXPECT_EQ(terms("type: RoundRobin, zone: 'Off', minEndpointsInZone: 1").type, BalancerType::kRoundRobin);
  EXPECT_EQ(terms("slowStart: 30s").slowStart, std::chrono::seconds(30));
  EXPECT_EQ(terms("panicThreshold: 50").panicThreshold, 50U);
  const base::LoadBalancing maglev = terms("type: Maglev, tableSize: 65537, hash: {type: Header, name: X-User}");
  EXPECT_EQ(maglev, (base::LoadBalancing{BalancerType::kMaglev, HashSource::kHeader, {"x-user"}, {}, {}, 65'537}));
  EXPECT_EQ(terms("type: RingHash, hash: {type: QueryParam, name: Cart}").names, std::vector<std::string>{"Cart"});
  EXPECT_EQ(terms("type: RingHash, hash: {type: SourceIP}").source, HashSource::kSourceIp);
  const base::LoadBalancing cookie = terms("type: Maglev, hash: {type: Cookie, name: Cart, ttl: 1h, path: /shop}");
  EXPECT_EQ(cookie.source, HashSource::kCookie);
  EXPECT_EQ(cookie.names, std::vector<std::string>{"Cart"});
  EXPECT_EQ(cookie.cookieTtl, std::chrono::hours(1));
  EXPECT_EQ(cookie.cookiePath, "/shop");
}

TEST(TrafficPolicies, MayPreferTheZoneOfTheGateway) {
  const auto terms = [](const std::string& fields) {
    return *trafficWith("loadBalancing: {" + fields + "}").loadBalancing;
  };
  EXPECT_FALSE(terms("zone: 'Off'").prefersZone);
  EXPECT_TRUE(terms("zone: Prefer").prefersZone);
  EXPECT_EQ(terms("zone: Prefer").minEndpointsInZone, 1U);
  EXPECT_EQ(terms("type: Maglev, hash: {type: SourceIP}, zone: Prefer, minEndpointsInZone: 65535").minEndpointsInZone,
            65535U);
  EXPECT_TRUE(trafficWith("loadBalancing: {zone: Prefer, minEndpointsInZone: 2}").unsupported.empty());
  const auto problems = [](const std::string& fields) {
    return rendered(loadTraffic(std::string(kTrafficTarget) + ", loadBalancing: {" + fields + "}").problems);
  };
  EXPECT_THAT(problems("zone: a"), Contains(HasSubstr("spec.loadBalancing.zone: must be Off or Prefer")));
  for (const char* const wrong : {"minEndpointsInZone: 0", "minEndpointsInZone: 65536"}) {
    EXPECT_THAT(problems(wrong), Contains(HasSubstr("spec.loadBalancing.minEndpointsInZone: "))) << wrong;
  }
}

TEST(TrafficPolicies, MaySayWhatDoesNotCountInMatching) {
  const auto matchingOf = [](const std::string& targets, const std::string& fields) {
    const Configuration configuration = loadTraffic("targetRefs: [" + targets + "], matching: {" + fields + "}");
    EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << fields;
    return *configuration.model.all<TrafficPolicy>().at(0).matching;
  };
  const std::string gateway = "{group: gateway.networking.k8s.io, kind: Gateway, name: g}";
  const std::string listener = "{group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: g, sectionName: a}";
  const std::string route = "{group: gateway.networking.k8s.io, kind: GRPCRoute, name: r}";
  EXPECT_EQ(matchingOf(gateway, "ignoreAuthorityPort: true"), base::RequestMatching());
  EXPECT_EQ(matchingOf(gateway + ", " + listener, "stripAuthorityPort: true"), (base::RequestMatching{true, false}));
  EXPECT_EQ(matchingOf(gateway, "ignorePathParameters: true"), (base::RequestMatching{false, true}));
  EXPECT_EQ(matchingOf(route, "ignoreAuthorityPort: true, stripAuthorityPort: false"), base::RequestMatching());
  for (const std::string& targets :
       {route, gateway + ", " + route, std::string("{group: '', kind: Service, name: s}")}) {
    const Configuration refused = loadTraffic("targetRefs: [" + targets + "], matching: {ignorePathParameters: true}");
    EXPECT_THAT(rendered(refused.problems), Contains(HasSubstr("spec.matching: is for Gateways and listeners alone")))
        << targets;
  }
}

TEST(TrafficPolicies, MayAddTheHeadersOfLinkerd) {
  EXPECT_TRUE(trafficWith("integrations: {addLinkerdHeaders: true}").integrations->addLinkerdHeaders);
  EXPECT_FALSE(trafficWith("integrations: {}").integrations->addLinkerdHeaders);
  const Configuration refused = loadTraffic(std::string(kTrafficTarget) + ", integrations: {addLinkerdHeaders: 1}");
  EXPECT_THAT(rendered(refused.problems), Contains(HasSubstr("spec.integrations.addLinkerdHeaders: ")));
}

TEST(TrafficPolicies, MaySendABackendNoVia) {
  const auto loaded = [](const std::string& target, const std::string& via) {
    return loadTraffic("targetRefs: [" + target + "], via: " + via);
  };
  for (const char* target : {"{group: sluice.dev, kind: Backend, name: b}", "{group: '', kind: Service, name: s}"}) {
    for (const auto& [via, sends] : {std::pair("'Off'", false), std::pair("Off", false), std::pair("On", true)}) {
      const Configuration configuration = loaded(target, via);
      EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << target;
      EXPECT_EQ(configuration.model.all<TrafficPolicy>().at(0).sendsVia, sends) << via;
    }
    EXPECT_THAT(rendered(loaded(target, "Maybe").problems), Contains(HasSubstr("spec.via: must be On or Off")));
  }
  for (const char* target : {"{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}",
                             "{group: gateway.networking.k8s.io, kind: Gateway, name: g}"}) {
    EXPECT_THAT(rendered(loaded(target, "Off").problems),
                Contains(HasSubstr("spec.via: is for a Backend or a Service alone")));
  }
}

TEST(TrafficPolicies, MayHaveABudgetOfRetries) {
  const RetryBudgetFields whole = trafficWith("retry: {budget: {percent: 0, minPerSecond: 1000000}}").retry->budget;
  EXPECT_EQ(whole.percent, 0u);
  EXPECT_EQ(whole.minPerSecond, 1'000'000u);
  const RetryBudgetFields empty = trafficWith("retry: {budget: {}}").retry->budget;
  EXPECT_FALSE(empty.percent || empty.minPerSecond) << "the settings say the rest";
}

TEST(TrafficPolicies, HaveTimeouts) {
  const TrafficTimeouts all = *trafficWith(
                                   "timeout: {tcp: {connectTimeout: 1s}, http: {connectionIdleTimeout: 2s, "
                                   "maxConnectionDuration: 3s, requestTimeout: 4s, streamIdleTimeout: 5s, "
                                   "maxStreamDuration: 6s}}")
                                   .timeouts;
  EXPECT_EQ(all.connect, std::chrono::seconds(1));
  EXPECT_EQ(all.connectionIdle, std::chrono::seconds(2));
  EXPECT_EQ(all.connectionLifetime, std::chrono::seconds(3));
  EXPECT_EQ(all.request, std::chrono::seconds(4));
  EXPECT_EQ(all.streamIdle, std::chrono::seconds(5));
  EXPECT_EQ(all.streamLifetime, std::chrono::seconds(6));
  const TrafficTimeouts none = *trafficWith("timeout: {}").timeouts;
  EXPECT_FALSE(none.connect || none.connectionIdle || none.connectionLifetime || none.ofRequests());
  EXPECT_EQ(trafficWith("timeout: {http: {requestTimeout: 0s}}").timeouts->request, base::Duration::zero());
}

TEST(TrafficPolicies, HaveKeepalive) {
  const base::TcpKeepalive given = *trafficWith("tcpKeepalive: {probes: 3, idleTime: 1m, interval: 1500ms}").keepalive;
  EXPECT_EQ(given.probes, 3u);
  EXPECT_EQ(given.idleTime, std::chrono::minutes(1));
  EXPECT_EQ(given.interval, std::chrono::milliseconds(1500));
  EXPECT_EQ(trafficWith("tcpKeepalive: {}").keepalive, base::TcpKeepalive());
}

TEST(TrafficPolicies, HaveDns) {
  const TrafficDns dns =
      *trafficWith("dns: {type: Logical, dnsRefreshRate: 10s, respectDnsTtl: false, lookupFamily: IPv6Preferred}").dns;
  EXPECT_TRUE(dns.logical);
  EXPECT_EQ(dns.terms, (base::DnsTerms{base::LookupFamily::kIpv6Preferred, false, std::chrono::seconds(10)}));
  const TrafficDns plain = *trafficWith("dns: {}").dns;
  EXPECT_FALSE(plain.logical);
  EXPECT_EQ(plain.terms, base::DnsTerms());
  for (const auto& [word, family] :
       {std::pair("IPv4", base::LookupFamily::kIpv4), std::pair("IPv6", base::LookupFamily::kIpv6),
        std::pair("IPv4Preferred", base::LookupFamily::kIpv4Preferred),
        std::pair("IPv4AndIPv6", base::LookupFamily::kBoth)}) {
    EXPECT_EQ(trafficWith("dns: {lookupFamily: " + std::string(word) + "}").dns->terms.family, family) << word;
  }
}

TEST(TrafficPolicies, HaveBoundsOfEndpointsAndOfHighPriority) {
  const CircuitBreakerFields breaker =
      *trafficWith(
           "circuitBreaker: {maxConnections: 1, perEndpoint: {maxConnections: 2, maxPendingRequests: 3, "
           "maxParallelRequests: 4}, high: {maxPendingRequests: 5}}")
           .circuitBreaker;
  EXPECT_EQ(breaker.bounds, (base::CircuitBreakerBounds{.connections = 1}));
  EXPECT_EQ(breaker.perEndpoint, (base::CircuitBreakerBounds{2, 3, 4}));
  EXPECT_EQ(breaker.high, (base::CircuitBreakerBounds{.pendingRequests = 5}));
  EXPECT_EQ(trafficWith("priority: High").priority, RequestPriority::kHigh);
  EXPECT_EQ(trafficWith("priority: Default").priority, RequestPriority::kDefault);
  EXPECT_EQ(trafficWith("dns: {}").priority, std::nullopt);
}

TEST(TrafficPolicies, MustBoundConnectionsAndStandstill) {
  for (const char* field :
       {"tcp: {connectTimeout: 0s}", "http: {connectionIdleTimeout: 0s}", "http: {streamIdleTimeout: 0s}"}) {
    const TrafficPolicy policy = trafficWith("dns: {}, timeout: {" + std::string(field) + "}");
    ASSERT_EQ(policy.unsupported.size(), 1u) << field;
    EXPECT_TRUE(policy.unsupported[0].altersTraffic) << field;
    EXPECT_THAT(policy.unsupported[0].path, ::testing::StartsWith("spec.timeout.")) << field;
  }
}

TEST(TrafficPolicies, HaveTimeoutsOfRequestsForGatewaysAndRoutesAlone) {
  const std::string backend = "targetRefs: [{group: sluice.dev, kind: Backend, name: b}], ";
  EXPECT_THAT(rendered(loadTraffic(backend + "timeout: {tcp: {connectTimeout: 1s}}").problems), IsEmpty());
  for (const char* field : {"requestTimeout", "streamIdleTimeout", "maxStreamDuration"}) {
    const Configuration configuration = loadTraffic(backend + "timeout: {http: {" + std::string(field) + ": 1s}}");
    EXPECT_THAT(rendered(configuration.problems), Contains(HasSubstr("spec.timeout.http: must not have"))) << field;
  }
}

TEST(TrafficPolicies, MayTargetGatewaysAndListeners) {
  for (const char* target : {"{group: gateway.networking.k8s.io, kind: Gateway, name: g}",
                             "{group: gateway.networking.k8s.io, kind: Gateway, name: g, sectionName: web}",
                             "{group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: g}"}) {
    const Configuration configuration =
        loadTraffic("targetRefs: [" + std::string(target) + "], retry: {}, failover: {maxRetryAfter: 5s}");
    EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << target;
    EXPECT_EQ(configuration.model.all<TrafficPolicy>().at(0).targets.at(0).object.name, "g") << target;
  }
}

TEST(TrafficPolicies, SayWhatIsWrongWithThem) {
  const std::string target = std::string(kTrafficTarget) + ", ";
  const std::string one = "{backendRef: {name: a}, priority: 0}";
  const std::pair<std::string, const char*> wrong[] = {
      {"retry: {}", "spec.targetRefs: is required"},
      {"targetRefs: [], retry: {}", "spec.targetRefs: must have at least one item"},
      {kTrafficTarget,
       "spec: must have retry, failover, healthCheck, timeout, tcpKeepalive, dns, circuitBreaker, loadBalancing, "
       "matching, integrations, priority or via"},
      {"targetRefs: [{group: '', kind: ConfigMap, name: s}], retry: {}", "spec.targetRefs[0]: must be a Gateway"},
      {"targetRefs: [{group: '', kind: Service, name: s}], retry: {}", "spec.retry: is for Gateways and routes alone"},
      {"targetRefs: [{group: sluice.dev, kind: Gateway, name: g}], retry: {}", "spec.targetRefs[0]: must be a Gateway"},
      {"targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], failover: {priorities: [" + one +
           "]}",
       "spec.failover.priorities: must not be given for a Gateway"},
      {"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}, retry: {}", "spec.targetRef: "},
      {target + "failover: {priorities: [{priority: 0}]}", "spec.failover.priorities[0].backendRef: is required"},
      {target + "failover: {priorities: [{backendRef: {name: a}}]}", "spec.failover.priorities[0].priority: is"},
      {target + "failover: {priorities: [{backendRef: {name: a}, priority: 16}]}", "priorities[0].priority: "},
      {target + "failover: {priorities: [" + one + ", " + one + "]}", "priorities[1].backendRef: repeats one"},
      {target + "failover: {overprovisioningFactor: 99}", "spec.failover.overprovisioningFactor: "},
      {target + "failover: {maxRetryAfter: soon}", "spec.failover.maxRetryAfter: "},
      {target + "retry: {grpcCodes: [OK]}", "spec.retry.grpcCodes[0]: must be a status of gRPC"},
      {target + "retry: {backoff: 2s, maxBackoff: 1s}", "spec.retry.maxBackoff: must not be less than backoff"},
      {target + "retry: {attemptTimeout: 0s}", "spec.retry.attemptTimeout: must not be zero"},
      {target + "retry: {budget: {percent: 101}}", "spec.retry.budget.percent: "},
      {target + "retry: {budget: {minPerSecond: 1000001}}", "spec.retry.budget.minPerSecond: "},
      {target + "retry: {budget: {interval: 1s}}", "spec.retry.budget.interval: unknown field"},
      {target + "dns: {type: logical}", "spec.dns.type: "},
      {target + "dns: {lookupFamily: All}", "spec.dns.lookupFamily: "},
      {"targetRefs: [{group: '', kind: Service, name: s}], dns: {}", "spec.dns: is not for a Service"},
      {target + "retry: {budget: {minConcurrent: 1, minPerSecond: 1}}",
       "spec.retry.budget.minConcurrent: must not be given together with minPerSecond"},
      {target + "loadBalancing: {type: Maglev}", "spec.loadBalancing.hash: is required"},
      {target + "loadBalancing: {hash: {type: SourceIP}}", "spec.loadBalancing.hash: is for the types"},
      {target + "loadBalancing: {type: Maglev, hash: {type: Header}}", "spec.loadBalancing.hash.name: is required"},
      {target + "loadBalancing: {type: Maglev, hash: {type: SourceIP, name: a}}",
       "spec.loadBalancing.hash.name: has no"},
      {target + "loadBalancing: {type: Maglev, hash: {type: SourceIP}, tableSize: 1000}",
       "spec.loadBalancing.tableSize: must be a prime"},
      {target + "loadBalancing: {type: Maglev, hash: {type: Cookie, name: a, path: b}}",
       "spec.loadBalancing.hash.path: "},
      {target + "loadBalancing: {type: Maglev, hash: {type: SourceIP, ttl: 1s}}",
       "spec.loadBalancing.hash.ttl: is for"},
      {target + "loadBalancing: {type: Random, slowStart: 1s}", "spec.loadBalancing.slowStart: is for the types"},
      {target + "loadBalancing: {panicThreshold: 101}", "spec.loadBalancing.panicThreshold: "},
      {target + "loadBalancing: {tableSize: 1009}", "spec.loadBalancing.tableSize: is for the type Maglev"},
      {target + "tcpKeepalive: {probes: 0}", "spec.tcpKeepalive.probes: "},
      {target + "tcpKeepalive: {probes: 128}", "spec.tcpKeepalive.probes: "},
      {target + "tcpKeepalive: {idleTime: 999ms}", "spec.tcpKeepalive.idleTime: must be from 1s to 32767s"},
      {target + "tcpKeepalive: {interval: 32768s}", "spec.tcpKeepalive.interval: must be from 1s to 32767s"},
      {target + "surprise: 1", "spec.surprise: "},
  };
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadTraffic(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

TEST(TrafficPolicies, SayWhatIsWrongWithTheirCircuitBreakers) {
  const std::string target = std::string(kTrafficTarget) + ", ";
  const std::string ofGateway = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], ";
  const std::string ofEgressGateway =
      "targetRefs: [{group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: g}], ";
  const std::string ofBackend = "targetRefs: [{group: sluice.dev, kind: Backend, name: b}], ";
  const std::string ofService = "targetRefs: [{group: '', kind: Service, name: s}], ";
  const std::pair<std::string, const char*> wrong[] = {
      {target + "circuitBreaker: {maxConnections: -1}", "spec.circuitBreaker.maxConnections: "},
      {target + "circuitBreaker: {perEndpoint: {}}", "spec.circuitBreaker.perEndpoint: must have maxConnections"},
      {target + "circuitBreaker: {perEndpoint: {maxParallelRetries: 1}}", "perEndpoint.maxParallelRetries: unknown"},
      {target + "circuitBreaker: {high: {perEndpoint: {}}}", "spec.circuitBreaker.high.perEndpoint: unknown field"},
      {target + "priority: high", "spec.priority: "},
      {ofGateway + "priority: High", "spec.priority: is for routes and their rules alone, not for a Gateway"},
      {ofEgressGateway + "priority: High", "spec.priority: is for routes and their rules alone"},
      {ofBackend + "priority: Default", "spec.priority: is for routes and their rules alone"},
      {ofService + "priority: High", "spec.priority: is for routes and their rules alone"},
  };
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadTraffic(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

TEST(TrafficPolicies, SayWhatIsWrongWithTheirLists) {
  const std::string target = std::string(kTrafficTarget) + ", ";
  const std::pair<std::string, const char*> wrong[] = {
      {"[]", "healthCheck.active: must have at least one item"},
      {"[{type: TCP}, {type: TCP}, {type: TCP}, {type: TCP}, {type: TCP}]",
       "healthCheck.active: has 5 items; at most 4 are allowed"},
      {"[{type: TCP}, {type: UDP}]", "healthCheck.active[1].type: "},
      {"[{type: TCP}, null]", "healthCheck.active[1]: must be a map"},
      {"[{type: HTTP}]", "healthCheck.active[0].http: is required"},
      {"TCP", "healthCheck.active: must be a map"},
      {"{type: TCP, log: Never}", "healthCheck.active.log: must be"},
  };
  for (const auto& [active, what] : wrong) {
    EXPECT_THAT(rendered(loadTraffic(target + "healthCheck: {active: " + active + "}").problems),
                Contains(HasSubstr(what)))
        << active;
  }
}

}  // namespace
}  // namespace sluice::config
