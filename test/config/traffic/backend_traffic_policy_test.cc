// Tests the reader of BackendTrafficPolicy in its two forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/read/traffic/usual_values.h"
#include "test/config/traffic/backend_traffic.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Returns the statuses for which a policy with these fields retries, in order.
std::vector<std::uint16_t> codesOf(const std::string& fields) {
  std::vector<std::uint16_t> codes = backendTraffic(fields).retry.value().codes;
  std::sort(codes.begin(), codes.end());
  return codes;
}
TEST(BackendTrafficPolicies, OfEnvoyGatewayHaveItsDefaults) {
  const TrafficPolicy policy = backendTraffic("retry: {}, healthCheck: {passive: {}}");
  EXPECT_EQ(policy.meta.kind, "BackendTrafficPolicy");
  EXPECT_EQ(policy.retry->attempts, 2u);
  EXPECT_THAT(policy.retry->codes, ElementsAre(503));
  EXPECT_EQ(policy.retry->backoff, std::chrono::milliseconds(25));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 5u);
  EXPECT_EQ(policy.passiveHealth->baseEjectionTime, std::chrono::seconds(30));
  EXPECT_EQ(policy.passiveHealth->maxEjectionTime, std::chrono::minutes(5));
  EXPECT_FALSE(policy.failover);
  EXPECT_THAT(policy.unsupported, IsEmpty());
}

TEST(BackendTrafficPolicies, OfEnvoyGatewayAreReadAsTheyAreWritten) {
  const TrafficPolicy policy = backendTraffic(
      "retry: {numRetries: 4, retryOn: {httpStatusCodes: [500, 429], triggers: [connect-failure, "
      "retriable-status-codes]}, perRetry: {backOff: {baseInterval: 100ms, maxInterval: 10s}}}, healthCheck: "
      "{passive: {consecutive5XxErrors: 3, baseEjectionTime: 10m}}");
  EXPECT_EQ(policy.retry->attempts, 4u);
  EXPECT_THAT(policy.retry->codes, ElementsAre(500, 429));
  EXPECT_EQ(policy.retry->backoff, std::chrono::milliseconds(100));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 3u);
  EXPECT_EQ(policy.passiveHealth->baseEjectionTime, std::chrono::minutes(10));
  EXPECT_EQ(policy.passiveHealth->maxEjectionTime, std::chrono::minutes(10));
  EXPECT_THAT(policy.unsupported, IsEmpty());
}

TEST(BackendTrafficPolicies, TakeWhatAnApiServerFillsIn) {
  const TrafficPolicy policy = backendTraffic(
      "retry: {numRetries: 2}, healthCheck: {passive: {splitExternalLocalOriginErrors: false, interval: 3s, "
      "consecutiveLocalOriginFailures: 5, consecutiveGatewayErrors: 0, consecutive5XxErrors: 5, baseEjectionTime: 30s, "
      "maxEjectionPercent: 10}}, useClientProtocol: false");
  EXPECT_THAT(policy.unsupported, IsEmpty());
}

TEST(BackendTrafficPolicies, SayWhichFailuresAreTooMany) {
  const TrafficPolicy shipped = backendTraffic(
      "healthCheck: {passive: {consecutive5XxErrors: 0, consecutiveGatewayErrors: 2, interval: 1s, "
      "failurePercentageThreshold: 40, maxEjectionPercent: 50}}");
  ASSERT_TRUE(shipped.passiveHealth);
  EXPECT_EQ(shipped.passiveHealth->consecutive5XxErrors, 0u);
  EXPECT_EQ(shipped.passiveHealth->consecutiveGatewayErrors, 2u);
  EXPECT_EQ(shipped.passiveHealth->failurePercentage, 40u);
  EXPECT_EQ(shipped.passiveHealth->minimumRequests, 50u);
  EXPECT_EQ(shipped.passiveHealth->interval, std::chrono::seconds(1));
  EXPECT_EQ(shipped.passiveHealth->maxEjectionPercent, 50u);
  EXPECT_EQ(backendTraffic("healthCheck: {passive: {}}").passiveHealth->maxEjectionPercent, 10u);
  EXPECT_EQ(backendTraffic("healthCheck: {passive: {}}").passiveHealth->interval, std::chrono::seconds(3));
  EXPECT_EQ(backendTraffic("healthCheck: {passive: {maxEjectionPercent: 0, alwaysEjectOneEndpoint: true}}")
                .passiveHealth->maxEjectionPercent,
            1u);
  const TrafficPolicy proposed = backendTraffic(
      "healthChecking: {outlierDetection: {checkInterval: 1m, failurePercentage: {minimumRequests: 9}}}");
  ASSERT_TRUE(proposed.passiveHealth);
  EXPECT_EQ(proposed.passiveHealth->failurePercentage, 85u);
  EXPECT_EQ(proposed.passiveHealth->minimumRequests, 9u);
  EXPECT_EQ(proposed.passiveHealth->interval, std::chrono::minutes(1));
  EXPECT_EQ(backendTraffic("healthChecking: {outlierDetection: {}}").passiveHealth->failurePercentage, 0u);
}

TEST(BackendTrafficPolicies, RetryForTheStatusesOfTheirTriggers) {
  EXPECT_THAT(codesOf("retry: {retryOn: {triggers: [5xx]}}"), SizeIs(100));
  EXPECT_THAT(codesOf("retry: {retryOn: {triggers: [gateway-error, retriable-4xx]}}"), ElementsAre(409, 502, 503, 504));
  EXPECT_THAT(codesOf("retry: {retryOn: {triggers: [reset, connect-failure, refused-stream]}}"), IsEmpty());
  EXPECT_THAT(codesOf("retry: {retryOn: {triggers: [retriable-status-codes]}}"), ElementsAre(503));
  EXPECT_THAT(codesOf("retry: {retryOn: {triggers: [gateway-error, retriable-status-codes], httpStatusCodes: [429, "
                      "502]}}"),
              ElementsAre(429, 502, 503, 504));
  EXPECT_THAT(codesOf("retry: {retryOn: {httpStatusCodes: [429, 429]}}"), ElementsAre(429));
  EXPECT_THAT(codesOf("retryStrategy: {type: http, http: {retryOn: 5xx}}"), SizeIs(100));
  EXPECT_THAT(codesOf("retryStrategy: {type: http, http: {retryOn: gateway-error}}"), ElementsAre(502, 503, 504));
  EXPECT_THAT(codesOf("retryStrategy: {type: http, http: {retryOn: retriable-4xx}}"), ElementsAre(409));
  EXPECT_THAT(codesOf("retryStrategy: {type: http, http: {retryOn: disconnect-reset}}"), IsEmpty());
  EXPECT_THAT(codesOf("retryStrategy: {type: http, http: {retryOn: retriable-status-codes, retriableStatusCodes: "
                      "[429]}}"),
              ElementsAre(429));
}

TEST(BackendTrafficPolicies, TurnRetriesOff) {
  EXPECT_EQ(backendTraffic("retry: {numRetries: 0}").retry->attempts, 0u);
  EXPECT_EQ(backendTraffic("retryStrategy: {type: http, numRetries: 0, http: {retryOn: 5xx}}").retry->attempts, 0u);
}

TEST(BackendTrafficPolicies, OfTheProposalHaveItsDefaults) {
  const TrafficPolicy policy = backendTraffic(
      "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, retryStrategy: {type: http, http: "
      "{retryOn: gateway-error}, perRetry: {backoff: {baseInterval: 50ms}}}, healthChecking: {outlierDetection: "
      "{checkInterval: 10s}}");
  EXPECT_EQ(policy.retry->attempts, 1u);
  EXPECT_EQ(policy.retry->backoff, std::chrono::milliseconds(50));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 5u);
  EXPECT_THAT(policy.unsupported, IsEmpty());
  EXPECT_EQ(backendTraffic("healthChecking: {outlierDetection: {consecutive5XX: {threshold: 2}}}")
                .passiveHealth->consecutive5XxErrors,
            2u);
}

/// The example of the proposal, with a value for each of its fields.
constexpr const char* kTrafficProposal = R"(
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata:
  name: example-policy
spec:
  dns: {type: logical, respectDnsTtl: true}
  protocols: {enableIPv4: true, enableIPv6: false}
  circuitBreakers:
    - {priority: default, maxConnections: 1024, maxPendingRequests: 1024, maxParallelRequests: 1024}
  keepAliveProbes: {idleTime: 7200s, interval: 75s, maxProbes: 9}
  retryStrategy:
    type: http
    http:
      retryOn: retriable-status-codes
      retriableStatusCodes: [429, 503]
    grpc:
      retryOn: unavailable
    numRetries: 1
    perRetry:
      timeout: 1s
      idleTimeout: 1s
      backoff: {baseInterval: 25ms, maxInterval: 250ms}
    retryLimits:
      type: budget
      static: {maxParallel: 3}
      retryBudget: {activeRequestPercent: 20, minConcurrent: 3}
  healthChecking:
    activeChecks:
      - connectionTimeout: 1s
        healthyCheckInterval: 5s
        unhealthyCheckInterval: 10s
        unhealthyThreshold: 3
        healthyThreshold: 1
        logging: {enabled: false, alwaysLogFailures: false}
        type: grpc
        grpc: {upstreamName: a, authority: b}
        http:
          expectedStatuses: [{min: 200, max: 299}]
          path: /health
          hostname: a.test
          addRequestHeaders: {set: [{name: a, value: b}], add: [{name: c, value: d}]}
          removeRequestHeaders: [e]
    outlierDetection:
      checkInterval: 10s
      consecutive5XX: {threshold: 5}
      failurePercentage: {threshold: 85, minimumRequests: 50}
  timeouts: {connectTimeout: 1s, idleTimeout: 1s, clusterIdleTimeout: 1s, maxConnectionLifetime: 1s}
  loadBalancing:
    type: ringHash
    sessionAffinity: {type: cookie, cookie: {name: a, path: /, ttl: 1h}, header: {name: b}}
  observability:
    metrics: {clusterTag: a, statsName: b, statsPrefix: c}
    tracing: {samplePercentage: 1, addTracingTags: [{type: literal, name: a, literal: {value: b}}]}
  matching: {ignoreAuthorityPort: false, stripAuthorityPort: false, ignorePathParameters: false}
  integrations: {addLinkerdHeaders: false}
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}
)";

/// Returns the fields of a policy in YAML: "a.b" with the value c becomes "a: {b: c}".
std::string written(std::string_view field, const std::string& value) {
  const std::size_t dot = field.find('.');
  if (dot == std::string_view::npos) return std::string(field) + ": " + value;
  return std::string(field.substr(0, dot)) + ": {" + written(field.substr(dot + 1), value) + "}";
}

TEST(BackendTrafficPolicies, AcceptValuesThatAskForWhatHappensAnyway) {
  for (const UsualValue& each : usualShippedValues()) {
    const std::string fields = written(each.field, std::string(each.value));
    EXPECT_THAT(unsupportedIn(backendTraffic(fields)), IsEmpty()) << fields;
    const std::string other = written(each.field, "other");
    EXPECT_THAT(unsupportedIn(backendTraffic(other), /*closing=*/true), SizeIs(1)) << other;
  }
  for (const char* usual :
       {"matching: {}", "matching: {ignoreAuthorityPort: true}", "matching: {ignoreAuthorityPort: false}",
        "matching: {stripAuthorityPort: false}", "matching: {ignorePathParameters: false}", "integrations: {}",
        "integrations: {addLinkerdHeaders: false}"}) {
    EXPECT_THAT(unsupportedIn(backendTraffic(usual)), IsEmpty()) << usual;
  }
  EXPECT_THAT(unsupportedIn(backendTraffic("httpUpgrade: [{type: websocket}]")), IsEmpty());
  EXPECT_THAT(unsupportedIn(backendTraffic("httpUpgrade: [{type: websocket}, {type: CONNECT}]"), true), SizeIs(1));
  EXPECT_THAT(unsupportedIn(backendTraffic("compression: []")), IsEmpty());
  EXPECT_THAT(unsupportedIn(backendTraffic("admissionControl: {}"), true), SizeIs(1)) << "it turns something on";
}

TEST(BackendTrafficPolicies, MatchAtGatewaysAlone) {
  const std::string gateway = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, ";
  const std::string selector =
      "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {a: b}}], ";
  for (const std::string field : {"stripAuthorityPort", "ignorePathParameters"}) {
    const std::string fields = "matching: {" + field + ": true}";
    const TrafficPolicy ofGateway = backendTraffic(gateway + fields);
    EXPECT_THAT(unsupportedIn(ofGateway), IsEmpty()) << field;
    ASSERT_TRUE(ofGateway.matching) << field;
    EXPECT_EQ(ofGateway.matching->stripAuthorityPort, field == "stripAuthorityPort");
    EXPECT_EQ(ofGateway.matching->ignorePathParameters, field == "ignorePathParameters");
    EXPECT_THAT(unsupportedIn(backendTraffic(fields), /*closing=*/true), Contains("spec.matching")) << field;
    EXPECT_THAT(unsupportedIn(backendTraffic(selector + fields), true), Contains("spec.matching")) << field;
  }
  EXPECT_TRUE(backendTraffic("integrations: {addLinkerdHeaders: true}").integrations->addLinkerdHeaders);
}

TEST(BackendTrafficPolicies, ReadTheExampleOfTheProposal) {
  const Configuration configuration = loadText(kTrafficProposal);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  ASSERT_THAT(configuration.model.all<TrafficPolicy>(), SizeIs(1));
  const TrafficPolicy& policy = configuration.model.all<TrafficPolicy>().front();
  EXPECT_THAT(policy.retry->codes, ElementsAre(429, 503));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 5u);
  EXPECT_THAT(unsupportedIn(policy, /*closing=*/true), IsEmpty());
  EXPECT_THAT(unsupportedIn(policy), Contains("spec.retryStrategy.grpc"));
  EXPECT_THAT(unsupportedIn(policy), Contains("spec.healthChecking.activeChecks[0].http"));
  ASSERT_TRUE(policy.activeHealth);
  EXPECT_EQ(policy.activeHealth->at(0).service, "a");
  EXPECT_THAT(unsupportedIn(policy), Contains("spec.retryStrategy.retryLimits.static"));
  EXPECT_EQ(policy.retry->budget.percent, 20u);
  EXPECT_FALSE(policy.retry->budget.minPerSecond);
  EXPECT_EQ(policy.retry->attemptTimeout, std::chrono::seconds(1));
  EXPECT_EQ(policy.retry->longestBackoff, std::chrono::milliseconds(250));
  EXPECT_THAT(unsupportedIn(policy), Contains("spec.observability"));
}

TEST(BackendTrafficPolicies, HaveTimeoutsInBothForms) {
  const TrafficTimeouts shipped =
      backendTraffic("timeout: {tcp: {connectTimeout: 1s}, http: {requestTimeout: 2s}}").timeouts.value();
  EXPECT_EQ(shipped.connect, std::chrono::seconds(1));
  EXPECT_EQ(shipped.request, std::chrono::seconds(2));
  const TrafficTimeouts proposed =
      backendTraffic(
          "timeouts: {connectTimeout: 1s, idleTimeout: 2s, clusterIdleTimeout: 3s, maxConnectionLifetime: 4s}")
          .timeouts.value();
  EXPECT_EQ(proposed.connect, std::chrono::seconds(1));
  EXPECT_EQ(proposed.streamIdle, std::chrono::seconds(2));
  EXPECT_EQ(proposed.connectionIdle, std::chrono::seconds(3));
  EXPECT_EQ(proposed.connectionLifetime, std::chrono::seconds(4));
}

TEST(BackendTrafficPolicies, HaveKeepaliveInBothForms) {
  const base::TcpKeepalive shipped =
      backendTraffic("tcpKeepalive: {probes: 3, idleTime: 4s, interval: 5s}").keepalive.value();
  const base::TcpKeepalive proposed =
      backendTraffic("keepAliveProbes: {maxProbes: 3, idleTime: 4s, interval: 5s}").keepalive.value();
  EXPECT_EQ(shipped, (base::TcpKeepalive{3, std::chrono::seconds(4), std::chrono::seconds(5)}));
  EXPECT_EQ(proposed, shipped);
  EXPECT_EQ(backendTraffic("keepAliveProbes: {}").keepalive, base::TcpKeepalive());
}

TEST(BackendTrafficPolicies, HaveDnsInBothForms) {
  const TrafficDns shipped =
      backendTraffic("dns: {dnsRefreshRate: 10s, respectDnsTtl: false, lookupFamily: IPv6}").dns.value();
  EXPECT_FALSE(shipped.logical);
  EXPECT_EQ(shipped.terms, (base::DnsTerms{base::LookupFamily::kIpv6, false, std::chrono::seconds(10)}));
  const TrafficDns logical = backendTraffic("dns: {type: logical, respectDnsTtl: false}").dns.value();
  EXPECT_TRUE(logical.logical);
  EXPECT_EQ(logical.terms, (base::DnsTerms{base::LookupFamily::kOfSettings, false, std::nullopt}));
  const auto familyOf = [](const std::string& protocols) {
    return backendTraffic("protocols: {" + protocols + "}").dns.value().terms.family;
  };
  EXPECT_EQ(familyOf(""), base::LookupFamily::kIpv4);
  EXPECT_EQ(familyOf("enableIPv6: true"), base::LookupFamily::kBoth);
  EXPECT_EQ(familyOf("enableIPv4: false, enableIPv6: true"), base::LookupFamily::kIpv6);
}

TEST(BackendTrafficPolicies, HaveCircuitBreakersInBothForms) {
  const CircuitBreakerFields shipped =
      backendTraffic("circuitBreaker: {maxConnections: 1, maxPendingRequests: 2, maxParallelRequests: 3}")
          .circuitBreaker.value();
  const TrafficPolicy proposed = backendTraffic(
      "circuitBreakers: [{priority: default, maxConnections: 1, maxPendingRequests: 2, maxParallelRequests: 3}]");
  EXPECT_EQ(shipped.bounds, (base::CircuitBreakerBounds{1, 2, 3}));
  EXPECT_EQ(proposed.circuitBreaker->bounds, shipped.bounds);
  EXPECT_THAT(unsupportedIn(proposed), IsEmpty());
  EXPECT_EQ(backendTraffic("circuitBreakers: [{}]").circuitBreaker->bounds,
            (base::CircuitBreakerBounds{1024, 1024, 1024}))
      << "the defaults of the proposal";
  EXPECT_FALSE(backendTraffic("circuitBreakers: []").circuitBreaker);
  const TrafficPolicy both = backendTraffic("circuitBreakers: [{priority: high, maxConnections: 9}, {}]");
  EXPECT_EQ(both.circuitBreaker->high, (base::CircuitBreakerBounds{9, 1024, 1024}));
  EXPECT_EQ(both.circuitBreaker->bounds, (base::CircuitBreakerBounds{1024, 1024, 1024}));
  EXPECT_THAT(unsupportedIn(both), IsEmpty());
  EXPECT_FALSE(backendTraffic("circuitBreakers: [{priority: high}]").circuitBreaker->bounds.any());
  EXPECT_THAT(rendered(loadBackendTraffic("circuitBreakers: [{priority: high}, {priority: high}]").problems),
              ElementsAre(HasSubstr("spec.circuitBreakers[1].priority: repeats")));
  EXPECT_THAT(rendered(loadBackendTraffic("circuitBreakers: [{}, {}]").problems),
              ElementsAre(HasSubstr("spec.circuitBreakers[1].priority: repeats")));
}

TEST(BackendTrafficPolicies, OfEnvoyGatewayMayPreferTheZoneOfTheGateway) {
  const auto zones = [](const std::string& fields) {
    return backendTraffic("loadBalancer: {type: Random, zoneAware: {" + fields + "}}");
  };
  EXPECT_FALSE(zones("").loadBalancing->prefersZone);
  const base::LoadBalancing usual = *zones("preferLocal: {force: {}}").loadBalancing;
  EXPECT_TRUE(usual.prefersZone);
  EXPECT_EQ(usual.minEndpointsInZone, 1U);
  EXPECT_EQ(usual.minEndpoints, 6U) << "as in Envoy";
  const TrafficPolicy whole =
      zones("preferLocal: {force: {minEndpointsInZoneThreshold: 2}, minEndpointsThreshold: 3, percentageEnabled: 100}");
  EXPECT_EQ(whole.loadBalancing->minEndpointsInZone, 2U);
  EXPECT_EQ(whole.loadBalancing->minEndpoints, 3U);
  EXPECT_THAT(unsupportedIn(whole), IsEmpty());
  EXPECT_THAT(unsupportedIn(zones("preferLocal: {minEndpointsThreshold: 3}"), /*closing=*/true),
              ElementsAre("spec.loadBalancer.zoneAware.preferLocal"));
  EXPECT_THAT(unsupportedIn(zones("preferLocal: {force: {}, percentageEnabled: 50}"), /*closing=*/true),
              ElementsAre("spec.loadBalancer.zoneAware.preferLocal.percentageEnabled"));
}

TEST(BackendTrafficPolicies, BoundTheConnectionsOfEndpointsInEnvoyGatewaysForm) {
  const auto perEndpoint = [](const std::string& fields) {
    return backendTraffic("circuitBreaker: {perEndpoint: {" + fields + "}}").circuitBreaker->perEndpoint;
  };
  EXPECT_EQ(perEndpoint("maxConnections: 7"), (base::CircuitBreakerBounds{.connections = 7}));
  EXPECT_EQ(perEndpoint(""), (base::CircuitBreakerBounds{.connections = 1024})) << "Envoy Gateway's default";
  EXPECT_FALSE(backendTraffic("circuitBreaker: {}").circuitBreaker->perEndpoint.any());
  EXPECT_THAT(rendered(loadBackendTraffic("circuitBreaker: {perEndpoint: {maxPendingRequests: 1}}").problems),
              ElementsAre(HasSubstr("spec.circuitBreaker.perEndpoint.maxPendingRequests: unknown field")));
}

TEST(BackendTrafficPolicies, BoundTheRetriesThatAreOnTheirWay) {
  const auto budgetOf = [](const std::string& limits) {
    return backendTraffic("retryStrategy: {type: http, http: {retryOn: 5xx}, retryLimits: {" + limits + "}}")
        .retry->budget;
  };
  const RetryBudgetFields fixed = budgetOf("type: static, static: {maxParallel: 7}");
  EXPECT_EQ(fixed.minConcurrent, 7U);
  EXPECT_EQ(fixed.maxConcurrent, 7U);
  EXPECT_EQ(budgetOf("type: static, static: {}").maxConcurrent, 3U);
  const RetryBudgetFields share = budgetOf("type: budget, retryBudget: {activeRequestPercent: 9, minConcurrent: 4}");
  EXPECT_EQ(share.percent, 9U);
  EXPECT_EQ(share.minConcurrent, 4U);
  EXPECT_FALSE(share.maxConcurrent);
  EXPECT_EQ(budgetOf("type: budget, retryBudget: {activeRequestPercent: 9}").minConcurrent, 3U);
}

TEST(BackendTrafficPolicies, DoNotMixTheTwoForms) {
  const Configuration configuration = loadBackendTraffic("retry: {}, circuitBreakers: []");
  EXPECT_THAT(
      rendered(configuration.problems),
      ElementsAre(HasSubstr("spec: must not mix the two forms of this kind: retry is a field of Envoy Gateway's, "
                            "and circuitBreakers one of the proposal's")));
  const auto* legible = configuration.model.rejected.at(0).legible<TrafficPolicy>();
  ASSERT_NE(legible, nullptr);
  EXPECT_EQ(legible->targets.at(0).object.name, "r");
}

TEST(BackendTrafficPolicies, SayWhatIsWrongWithThem) {
  const std::pair<std::string, const char*> wrong[] = {
      {"targetRefs: [{group: '', kind: Service, name: s}], retry: {}", "spec.targetRefs[0].kind: must be Gateway"},
      {"targetSelectors: [{matchLabels: {a: b}}]", "spec.targetSelectors[0].kind: is required"},
      {"retry: {numRetries: -1}", "spec.retry.numRetries: "},
      {"retry: {retryOn: {httpStatusCodes: [600]}}", "spec.retry.retryOn.httpStatusCodes[0]: "},
      {"retry: {perRetry: {backOff: {baseInterval: soon}}}", "spec.retry.perRetry.backOff.baseInterval: "},
      {"retry: {perRetry: {backOff: {baseInterval: 2s, maxInterval: 1s}}}",
       "spec.retry.perRetry.backOff.maxInterval: must not be less than baseInterval"},
      {"retry: {attempts: 2}", "spec.retry.attempts: unknown field"},
      {"healthCheck: {passive: {baseEjectionTime: 0s}}", "passive.baseEjectionTime: must not be zero"},
      {"healthCheck: {passive: {maxEjectionPercent: 101}}", "passive.maxEjectionPercent: "},
      {"protocols: {enableIPv4: false}", "spec.protocols: must enable IPv4 or IPv6"},
      {"dns: {type: strict, lookupFamily: IPv4}", "spec.dns.lookupFamily: unknown field"},
      {"retries: {}", "spec.retries: unknown field"},
      {"retryStrategy: {http: {retryOn: 5xx}}", "spec.retryStrategy.type: is required"},
      {"retryStrategy: {type: http}", "spec.retryStrategy.http: is required"},
      {"retryStrategy: {type: grpc}", "spec.retryStrategy.grpc: is required"},
      {"retryStrategy: {type: http, http: {}}", "spec.retryStrategy.http.retryOn: is required"},
      {"retryStrategy: {type: http, http: {retryOn: never}}", "spec.retryStrategy.http.retryOn: "},
      {"retryStrategy: {type: http, http: {retryOn: retriable-status-codes}}",
       "spec.retryStrategy.http.retriableStatusCodes: is required"},
      {"retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {backoff: {}}}",
       "spec.retryStrategy.perRetry.backoff.baseInterval: is required"},
      {"retryStrategy: {type: http, http: {retryOn: 5xx}, retryLimits: {}}",
       "spec.retryStrategy.retryLimits.type: is required"},
      {"retryStrategy: {type: http, http: {retryOn: 5xx}, retryLimits: {type: static}}",
       "spec.retryStrategy.retryLimits.static: is required"},
      {"retryStrategy: {type: http, http: {retryOn: 5xx}, retryLimits: {type: budget, retryBudget: {}}}",
       "spec.retryStrategy.retryLimits.retryBudget.activeRequestPercent: is required"},
      {"retryStrategy: {type: http, http: {retryOn: 5xx}, retryLimits: {type: budget, retryBudget: "
       "{activeRequestPercent: 0}}}",
       "spec.retryStrategy.retryLimits.retryBudget.activeRequestPercent: "},
  };
  for (const auto& [fields, what] : wrong) {
    EXPECT_THAT(rendered(loadBackendTraffic(fields).problems), Contains(HasSubstr(what))) << fields;
  }
}

TEST(BackendTrafficPolicies, NoteWhatHasNoEffectWithoutClosingAnything) {
  for (const auto& [fields, path] :
       {std::pair("retry: {numRetries: 11}", "spec.retry.numRetries"),
        std::pair("retry: {retryOn: {triggers: [5xx], httpStatusCodes: [429]}}", "spec.retry.retryOn.httpStatusCodes"),
        std::pair("telemetry: {}", "spec.telemetry"), std::pair("observability: {}", "spec.observability"),
        std::pair("retryStrategy: {type: http, http: {retryOn: 5xx, retriableStatusCodes: [429]}}",
                  "spec.retryStrategy.http.retriableStatusCodes")}) {
    const TrafficPolicy policy = backendTraffic(fields);
    EXPECT_THAT(unsupportedIn(policy), ElementsAre(path)) << fields;
    EXPECT_THAT(unsupportedIn(policy, /*closing=*/true), IsEmpty()) << fields;
  }
  EXPECT_EQ(backendTraffic("retry: {numRetries: 11}").retry->attempts, 10u);
}

TEST(BackendTrafficPolicies, CloseForWhatIsNotSupported) {
  for (const auto& [fields, path] :
       {std::pair("retry: {retryOn: {triggers: [5xx, new-one]}}", "spec.retry.retryOn.triggers[1]"),
        std::pair("retry: {retryOn: {httpStatusCodes: [200]}}", "spec.retry.retryOn.httpStatusCodes[0]"),
        std::pair("healthCheck: {passive: {splitExternalLocalOriginErrors: true}}",
                  "spec.healthCheck.passive.splitExternalLocalOriginErrors"),
        std::pair("useClientProtocol: true", "spec.useClientProtocol"),
        std::pair("timeout: {http: {connectionIdleTimeout: 0s}}", "spec.timeout.http.connectionIdleTimeout"),
        std::pair("timeouts: {idleTimeout: 0s}", "spec.timeouts.idleTimeout"),
        std::pair("dns: {dnsRefreshRate: 0s}", "spec.dns.dnsRefreshRate")}) {
    EXPECT_THAT(unsupportedIn(backendTraffic(fields), /*closing=*/true), ElementsAre(path)) << fields;
  }
}

}  // namespace
}  // namespace sluice::config
