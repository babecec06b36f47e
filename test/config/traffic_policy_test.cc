#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTrafficTarget =
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r, sectionName: chat}]";

Configuration loadTraffic(const std::string& spec) {
  return loadText(object("sluice.dev/v1alpha1", "TrafficPolicy", "p", "spec: {" + spec + "}\n"));
}
TrafficPolicy trafficWith(const std::string& fields) {
  const Configuration configuration = loadTraffic(std::string(kTrafficTarget) + ", " + fields);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<TrafficPolicy>().at(0);
}

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

TEST(TrafficPolicies, MayHaveABudgetOfRetries) {
  const RetryBudgetFields whole = trafficWith("retry: {budget: {percent: 0, minPerSecond: 1000000}}").retry->budget;
  EXPECT_EQ(whole.percent, 0u);
  EXPECT_EQ(whole.minPerSecond, 1'000'000u);
  const RetryBudgetFields empty = trafficWith("retry: {budget: {}}").retry->budget;
  EXPECT_FALSE(empty.percent || empty.minPerSecond) << "the settings say the rest";
}

TEST(TrafficPolicies, HaveActiveChecksOfEachType) {
  const ActiveHealthSettings http = *trafficWith(
                                         "healthCheck: {active: {type: HTTP, timeout: 2s, interval: 10s, "
                                         "unhealthyThreshold: 4, healthyThreshold: 5, http: "
                                         "{hostname: h.test, path: \"/a?b=c\", expectedStatuses: [200, 204]}}}")
                                         .activeHealth;
  EXPECT_EQ(http.type, ActiveHealthSettings::Type::kHttp);
  EXPECT_EQ(http.timeout, std::chrono::seconds(2));
  EXPECT_EQ(http.interval, std::chrono::seconds(10));
  EXPECT_EQ(http.unhealthyThreshold, 4u);
  EXPECT_EQ(http.healthyThreshold, 5u);
  EXPECT_EQ(http.hostname, "h.test");
  EXPECT_EQ(http.path, "/a?b=c");
  EXPECT_THAT(http.expectedStatuses, ::testing::ElementsAre(200, 204));
  const ActiveHealthSettings grpc =
      *trafficWith("healthCheck: {active: {type: GRPC, grpc: {hostname: g.test, service: a.B}}}").activeHealth;
  EXPECT_EQ(grpc.type, ActiveHealthSettings::Type::kGrpc);
  EXPECT_EQ(grpc.hostname, "g.test");
  EXPECT_EQ(grpc.service, "a.B");
  const ActiveHealthSettings tcp = *trafficWith("healthCheck: {active: {type: TCP}}").activeHealth;
  EXPECT_EQ(tcp.timeout, std::chrono::seconds(1));
  EXPECT_EQ(tcp.interval, std::chrono::seconds(3));
  EXPECT_EQ(tcp.unhealthyThreshold, 3u);
  EXPECT_EQ(tcp.healthyThreshold, 1u);
  const ActiveHealthSettings byDefault =
      *trafficWith("healthCheck: {active: {type: HTTP, http: {path: /}}}").activeHealth;
  EXPECT_THAT(byDefault.expectedStatuses, ::testing::ElementsAre(200));
  EXPECT_EQ(byDefault.method, "GET");
  EXPECT_EQ(byDefault.unhealthyInterval, base::Duration::zero());
  const ActiveHealthSettings more = *trafficWith(
                                         "healthCheck: {active: {type: TCP, unhealthyInterval: 9s, initialJitter: 2s, "
                                         "tcp: {send: {type: Text, text: PING}, receive: {type: Binary, binary: "
                                         "UE9ORw==}}}}")
                                         .activeHealth;
  EXPECT_EQ(more.unhealthyInterval, std::chrono::seconds(9));
  EXPECT_EQ(more.initialJitter, std::chrono::seconds(2));
  EXPECT_EQ(more.send, "PING");
  EXPECT_EQ(more.expected, "PONG");
}

TEST(TrafficPolicies, MayCheckAnotherPortWithOtherTls) {
  const auto check = [](const std::string& fields) {
    return *trafficWith("healthCheck: {active: {type: HTTP, http: {path: /}, " + fields + "}}").activeHealth;
  };
  const ActiveHealthSettings plain = check("port: 9000, tls: {mode: None}");
  EXPECT_EQ(plain.port, 9000);
  EXPECT_TRUE(plain.plain);
  const ActiveHealthSettings named = check("tls: {sni: Health.Test, insecureSkipVerify: true}");
  EXPECT_EQ(named.port, 0);
  EXPECT_FALSE(named.plain);
  EXPECT_EQ(named.serverName, "health.test");
  EXPECT_TRUE(named.insecureSkipVerify);
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
      {kTrafficTarget, "spec: must have retry, failover, healthCheck, timeout, tcpKeepalive, dns or circuitBreaker"},
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
      {target + "circuitBreaker: {maxConnections: -1}", "spec.circuitBreaker.maxConnections: "},
      {target + "circuitBreaker: {perEndpoint: {}}", "spec.circuitBreaker.perEndpoint: unknown field"},
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

TEST(TrafficPolicies, SayWhatIsWrongWithTheirHealthChecks) {
  const std::string target = std::string(kTrafficTarget) + ", ";
  const std::pair<std::string, const char*> wrong[] = {
      {target + "healthCheck: {}", "spec.healthCheck: must have active or passive"},
      {target + "healthCheck: {active: {}}", "spec.healthCheck.active.type: is required"},
      {target + "healthCheck: {active: {type: UDP}}", "spec.healthCheck.active.type: "},
      {target + "healthCheck: {active: {type: TCP, tls: {}}}", "active.tls: is not for the type TCP"},
      {target + "healthCheck: {active: {type: GRPC, tls: {mode: None, sni: a.test}}}",
       "active.tls.sni: must not be given with mode None"},
      {target + "healthCheck: {active: {type: GRPC, overrides: {port: 1}}}", "active.overrides: unknown field"},
      {target + "healthCheck: {active: {type: HTTP}}", "spec.healthCheck.active.http: is required"},
      {target + "healthCheck: {active: {type: HTTP, http: {}}}", "spec.healthCheck.active.http.path: is required"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: a}}}", "active.http.path: must be a path"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: /, expectedStatuses: [600]}}}", "expectedStatuses[0]"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: /, expectedStatuses: []}}}",
       "active.http.expectedStatuses: must have at least one item"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: /, method: HEAD, expectedResponse: {type: Text, text: "
                "a}}}}",
       "active.http.expectedResponse: must not be given with method HEAD"},
      {target + "healthCheck: {active: {type: TCP, http: {path: /}}}", "active.http: is for the type HTTP alone"},
      {target + "healthCheck: {active: {type: TCP, grpc: {}}}", "active.grpc: is for the type GRPC alone"},
      {target + "healthCheck: {active: {type: TCP, interval: 50ms}}", "active.interval: must not be less than 100ms"},
      {target + "healthCheck: {active: {type: TCP, unhealthyInterval: 50ms}}", "unhealthyInterval: must not be less"},
      {target + "healthCheck: {active: {type: GRPC, tcp: {}}}", "active.tcp: is for the type TCP alone"},
      {target + "healthCheck: {active: {type: TCP, tcp: {send: {type: Text}}}}", "tcp.send.text: goes with type Text"},
      {target + "healthCheck: {active: {type: TCP, tcp: {send: {type: Binary, binary: '%'}}}}",
       "send.binary: must be base64"},
      {target + "healthCheck: {active: {type: TCP, tcp: {send: {type: Text, text: a, binary: YQ==}}}}",
       "send.binary: goes with type Binary"},
      {target + "healthCheck: {active: {type: TCP, timeout: 0s}}", "active.timeout: must not be zero"},
      {target + "healthCheck: {active: {type: TCP, healthyThreshold: 0}}", "active.healthyThreshold: "},
      {target + "healthCheck: {passive: {consecutive5XxErrors: 1001}}", "passive.consecutive5XxErrors: "},
      {target + "healthCheck: {passive: {consecutiveGatewayErrors: -1}}", "passive.consecutiveGatewayErrors: "},
      {target + "healthCheck: {passive: {failurePercentage: {}}}", "failurePercentage.threshold: is required"},
      {target + "healthCheck: {passive: {failurePercentage: {threshold: 101}}}", "failurePercentage.threshold: "},
      {target + "healthCheck: {passive: {failurePercentage: {threshold: 1, minimumRequests: 0}}}",
       "failurePercentage.minimumRequests: "},
      {target + "healthCheck: {passive: {interval: 0s}}", "passive.interval: must not be zero"},
      {target + "healthCheck: {passive: {maxEjectionPercent: 101}}", "passive.maxEjectionPercent: "},
      {target + "healthCheck: {passive: {baseEjectionTime: 0s}}", "passive.baseEjectionTime: must not be zero"},
      {target + "healthCheck: {passive: {maxEjectionTime: 1s}}", "maxEjectionTime: must not be less than"},
  };
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadTraffic(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

}  // namespace
}  // namespace sluice::config
