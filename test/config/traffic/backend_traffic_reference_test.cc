// Tests that the reference states for each field of a BackendTrafficPolicy, in both forms, whether it is supported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "config/read/traffic/traffic_readers.h"
#include "test/config/convert/converted.h"
#include "test/config/convert/described_models.h"
#include "test/config/traffic/backend_traffic.h"
#include "test/support/reference_page.h"

namespace sluice::config {
namespace {

using ::testing::IsEmpty;

/// Examples of fields, by their path.
using FieldExamples = std::map<std::string, std::string>;

constexpr const char* kSelectors =
    "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {a: b}, matchExpressions: "
    "[{key: c, operator: Exists}]}]";
const FieldExamples kShippedExamples = {
    {"targetRef", "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}"},
    {"targetRefs", kEnvoyTarget},
    {"targetSelectors", kSelectors},
    {"mergeType", "mergeType: StrategicMerge"},
    {"retry.numRetries", "retry: {numRetries: 3}"},
    {"retry.numAttemptsPerPriority", "retry: {numAttemptsPerPriority: 1}"},
    {"retry.retryOn.triggers", "retry: {retryOn: {triggers: [5xx]}}"},
    {"retry.retryOn.httpStatusCodes", "retry: {retryOn: {httpStatusCodes: [503]}}"},
    {"retry.perRetry.timeout", "retry: {perRetry: {timeout: 1s}}"},
    {"retry.perRetry.backOff.baseInterval", "retry: {perRetry: {backOff: {baseInterval: 1s}}}"},
    {"retry.perRetry.backOff.maxInterval", "retry: {perRetry: {backOff: {maxInterval: 1s}}}"},
    {"healthCheck.active.type", "healthCheck: {active: {type: TCP, tcp: {}}}"},
    {"healthCheck.active.timeout", "healthCheck: {active: {type: TCP, timeout: 2s}}"},
    {"healthCheck.active.interval", "healthCheck: {active: {type: TCP, interval: 2s}}"},
    {"healthCheck.active.unhealthyThreshold", "healthCheck: {active: {type: TCP, unhealthyThreshold: 2}}"},
    {"healthCheck.active.healthyThreshold", "healthCheck: {active: {type: TCP, healthyThreshold: 2}}"},
    {"healthCheck.active.initialJitter", "healthCheck: {active: {type: TCP, initialJitter: 1s}}"},
    {"healthCheck.active.overrides.port", "healthCheck: {active: {type: TCP, overrides: {port: 1}}}"},
    {"healthCheck.active.http.hostname", "healthCheck: {active: {type: HTTP, http: {path: /, hostname: a.test}}}"},
    {"healthCheck.active.http.path", "healthCheck: {active: {type: HTTP, http: {path: /}}}"},
    {"healthCheck.active.http.method", "healthCheck: {active: {type: HTTP, http: {path: /, method: HEAD}}}"},
    {"healthCheck.active.http.expectedStatuses",
     "healthCheck: {active: {type: HTTP, http: {path: /, expectedStatuses: [204]}}}"},
    {"healthCheck.active.http.expectedResponse",
     "healthCheck: {active: {type: HTTP, http: {path: /, expectedResponse: {type: Text, text: a}}}}"},
    {"healthCheck.active.http.retriableStatuses",
     "healthCheck: {active: {type: HTTP, http: {path: /, retriableStatuses: [503]}}}"},
    {"healthCheck.active.tcp.send", "healthCheck: {active: {type: TCP, tcp: {send: {type: Text, text: a}}}}"},
    {"healthCheck.active.tcp.receive", "healthCheck: {active: {type: TCP, tcp: {receive: {type: Text, text: a}}}}"},
    {"healthCheck.active.grpc.service", "healthCheck: {active: {type: GRPC, grpc: {service: a.B}}}"},
    {"healthCheck.panicThreshold", "healthCheck: {panicThreshold: 50}"},
    {"healthCheck.passive.consecutive5XxErrors", "healthCheck: {passive: {consecutive5XxErrors: 3}}"},
    {"healthCheck.passive.baseEjectionTime", "healthCheck: {passive: {baseEjectionTime: 1m}}"},
    {"healthCheck.passive.interval", "healthCheck: {passive: {interval: 1s}}"},
    {"healthCheck.passive.maxEjectionPercent", "healthCheck: {passive: {maxEjectionPercent: 50}}"},
    {"healthCheck.passive.alwaysEjectOneEndpoint", "healthCheck: {passive: {alwaysEjectOneEndpoint: true}}"},
    {"healthCheck.passive.consecutiveGatewayErrors", "healthCheck: {passive: {consecutiveGatewayErrors: 3}}"},
    {"healthCheck.passive.splitExternalLocalOriginErrors",
     "healthCheck: {passive: {splitExternalLocalOriginErrors: true}}"},
    {"healthCheck.passive.consecutiveLocalOriginFailures",
     "healthCheck: {passive: {consecutiveLocalOriginFailures: 3}}"},
    {"healthCheck.passive.failurePercentageThreshold", "healthCheck: {passive: {failurePercentageThreshold: 3}}"},
    {"loadBalancer.type", "loadBalancer: {type: BackendUtilization}"},
    {"loadBalancer.consistentHash.type", "loadBalancer: {type: ConsistentHash, consistentHash: {type: SourceIP}}"},
    {"loadBalancer.consistentHash.cookie.name",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: Cookie, cookie: {name: a}}}"},
    {"loadBalancer.consistentHash.cookie.ttl",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: Cookie, cookie: {name: a, ttl: 1h}}}"},
    {"loadBalancer.consistentHash.cookie.attributes",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: Cookie, cookie: {name: a, attributes: {b: c}}}}"},
    {"loadBalancer.consistentHash.header",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: Header, header: {name: a}}}"},
    {"loadBalancer.consistentHash.headers",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: Headers, headers: [{name: a}, {name: b}]}}"},
    {"loadBalancer.consistentHash.queryParams",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: QueryParams, queryParams: [{name: a}]}}"},
    {"loadBalancer.consistentHash.tableSize",
     "loadBalancer: {type: ConsistentHash, consistentHash: {type: SourceIP, tableSize: 1009}}"},
    {"loadBalancer.slowStart", "loadBalancer: {type: RoundRobin, slowStart: {window: 1s}}"},
    {"loadBalancer.zoneAware.preferLocal", "loadBalancer: {type: RoundRobin, zoneAware: {preferLocal: {}}}"},
    {"loadBalancer.zoneAware.preferLocal.force.minEndpointsInZoneThreshold",
     "loadBalancer: {type: RoundRobin, zoneAware: {preferLocal: {force: {minEndpointsInZoneThreshold: 2}}}}"},
    {"loadBalancer.zoneAware.preferLocal.minEndpointsThreshold",
     "loadBalancer: {type: RoundRobin, zoneAware: {preferLocal: {force: {}, minEndpointsThreshold: 2}}}"},
    {"loadBalancer.zoneAware.preferLocal.percentageEnabled",
     "loadBalancer: {type: RoundRobin, zoneAware: {preferLocal: {force: {}, percentageEnabled: 50}}}"},
    {"loadBalancer.zoneAware.weightedZones",
     "loadBalancer: {type: RoundRobin, zoneAware: {weightedZones: [{zone: a, weight: 1}]}}"},
    {"loadBalancer.endpointOverride",
     "loadBalancer: {type: RoundRobin, endpointOverride: {extractFrom: [{header: a}]}}"},
    {"loadBalancer.backendUtilization", "loadBalancer: {type: BackendUtilization, backendUtilization: {}}"},
    {"loadBalancer.dynamicModule", "loadBalancer: {type: DynamicModule, dynamicModule: {}}"},
    {"circuitBreaker.maxConnections", "circuitBreaker: {maxConnections: 1}"},
    {"circuitBreaker.maxPendingRequests", "circuitBreaker: {maxPendingRequests: 1}"},
    {"circuitBreaker.maxParallelRequests", "circuitBreaker: {maxParallelRequests: 1}"},
    {"circuitBreaker.maxParallelRetries", "circuitBreaker: {maxParallelRetries: 1}"},
    {"circuitBreaker.maxRequestsPerConnection", "circuitBreaker: {maxRequestsPerConnection: 1}"},
    {"circuitBreaker.perEndpoint.maxConnections", "circuitBreaker: {perEndpoint: {maxConnections: 1}}"},
    {"rateLimit", "rateLimit: {type: Local}"},
    {"bandwidthLimit", "bandwidthLimit: {}"},
    {"faultInjection", "faultInjection: {abort: {httpStatus: 500}}"},
    {"admissionControl", "admissionControl: {}"},
    {"tcpKeepalive.probes", "tcpKeepalive: {probes: 1}"},
    {"tcpKeepalive.idleTime", "tcpKeepalive: {idleTime: 1s}"},
    {"tcpKeepalive.interval", "tcpKeepalive: {interval: 1s}"},
    {"proxyProtocol", "proxyProtocol: {version: V2}"},
    {"timeout.tcp.connectTimeout", "timeout: {tcp: {connectTimeout: 1s}}"},
    {"timeout.http.connectionIdleTimeout", "timeout: {http: {connectionIdleTimeout: 1s}}"},
    {"timeout.http.maxConnectionDuration", "timeout: {http: {maxConnectionDuration: 1s}}"},
    {"timeout.http.requestTimeout", "timeout: {http: {requestTimeout: 1s}}"},
    {"timeout.http.streamIdleTimeout", "timeout: {http: {streamIdleTimeout: 1s}}"},
    {"timeout.http.maxStreamDuration", "timeout: {http: {maxStreamDuration: 1s}}"},
    {"connection", "connection: {bufferLimit: 1Mi}"},
    {"dns.dnsRefreshRate", "dns: {dnsRefreshRate: 1s}"},
    {"dns.respectDnsTtl", "dns: {respectDnsTtl: false}"},
    {"dns.lookupFamily", "dns: {lookupFamily: IPv6}"},
    {"http2", "http2: {}"},
    {"compression", "compression: [{type: Gzip}]"},
    {"compressor", "compressor: [{type: Gzip}]"},
    {"responseOverride", "responseOverride: [{response: {}}]"},
    {"httpUpgrade", "httpUpgrade: [{type: CONNECT}]"},
    {"requestBuffer", "requestBuffer: {limit: 1Mi}"},
    {"routingType", "routingType: Service"},
    {"useClientProtocol", "useClientProtocol: true"},
    {"telemetry", "telemetry: {tracing: {}}"},
};
std::string limitedBy(const std::string& limits) {
  return "retryStrategy: {type: http, http: {retryOn: 5xx}, retryLimits: {" + limits + "}}";
}
const FieldExamples kProposedExamples = {
    {"targetRef", "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}"},
    {"retryStrategy.type", "retryStrategy: {type: http, http: {retryOn: 5xx}}"},
    {"retryStrategy.http.retryOn", "retryStrategy: {type: http, http: {retryOn: 5xx}}"},
    {"retryStrategy.http.retriableStatusCodes",
     "retryStrategy: {type: http, http: {retryOn: retriable-status-codes, retriableStatusCodes: [503]}}"},
    {"retryStrategy.grpc.retryOn", "retryStrategy: {type: grpc, grpc: {retryOn: internal}}"},
    {"retryStrategy.numRetries", "retryStrategy: {type: http, http: {retryOn: 5xx}, numRetries: 3}"},
    {"retryStrategy.perRetry.timeout", "retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {timeout: 1s}}"},
    {"retryStrategy.perRetry.idleTimeout",
     "retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {idleTimeout: 1s}}"},
    {"retryStrategy.perRetry.backoff.baseInterval",
     "retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {backoff: {baseInterval: 1s}}}"},
    {"retryStrategy.perRetry.backoff.maxInterval",
     "retryStrategy: {type: http, http: {retryOn: 5xx}, perRetry: {backoff: {baseInterval: 1s, maxInterval: 1s}}}"},
    {"retryStrategy.retryLimits.type", limitedBy("type: budget, retryBudget: {activeRequestPercent: 1}")},
    {"retryStrategy.retryLimits.static.maxParallel", limitedBy("type: static, static: {maxParallel: 3}")},
    {"retryStrategy.retryLimits.retryBudget.activeRequestPercent",
     limitedBy("type: budget, retryBudget: {activeRequestPercent: 100}")},
    {"retryStrategy.retryLimits.retryBudget.minConcurrent",
     limitedBy("type: budget, retryBudget: {activeRequestPercent: 20, minConcurrent: 4}")},
    {"healthChecking.activeChecks.type", "healthChecking: {activeChecks: [{type: http, http: {}}]}"},
    {"healthChecking.activeChecks.connectionTimeout",
     "healthChecking: {activeChecks: [{type: http, http: {}, connectionTimeout: 2s}]}"},
    {"healthChecking.activeChecks.healthyCheckInterval",
     "healthChecking: {activeChecks: [{type: http, http: {}, healthyCheckInterval: 2s}]}"},
    {"healthChecking.activeChecks.unhealthyCheckInterval",
     "healthChecking: {activeChecks: [{type: http, http: {}, unhealthyCheckInterval: 2s}]}"},
    {"healthChecking.activeChecks.unhealthyThreshold",
     "healthChecking: {activeChecks: [{type: http, http: {}, unhealthyThreshold: 2}]}"},
    {"healthChecking.activeChecks.healthyThreshold",
     "healthChecking: {activeChecks: [{type: http, http: {}, healthyThreshold: 2}]}"},
    {"healthChecking.activeChecks.logging.enabled",
     "healthChecking: {activeChecks: [{type: http, http: {}, logging: {enabled: true}}]}"},
    {"healthChecking.activeChecks.logging.alwaysLogFailures",
     "healthChecking: {activeChecks: [{type: http, http: {}, logging: {enabled: true, alwaysLogFailures: true}}]}"},
    {"healthChecking.activeChecks.grpc.upstreamName",
     "healthChecking: {activeChecks: [{type: grpc, grpc: {upstreamName: a}}]}"},
    {"healthChecking.activeChecks.grpc.authority",
     "healthChecking: {activeChecks: [{type: grpc, grpc: {upstreamName: a, authority: b.test}}]}"},
    {"healthChecking.activeChecks.http.expectedStatuses",
     "healthChecking: {activeChecks: [{type: http, http: {expectedStatuses: [{min: 200, max: 204}]}}]}"},
    {"healthChecking.activeChecks.http.path", "healthChecking: {activeChecks: [{type: http, http: {path: /a}}]}"},
    {"healthChecking.activeChecks.http.hostname",
     "healthChecking: {activeChecks: [{type: http, http: {hostname: a.test}}]}"},
    {"healthChecking.activeChecks.http.addRequestHeaders",
     "healthChecking: {activeChecks: [{type: http, http: {addRequestHeaders: {set: [{name: a, value: b}]}}}]}"},
    {"healthChecking.activeChecks.http.removeRequestHeaders",
     "healthChecking: {activeChecks: [{type: http, http: {removeRequestHeaders: [user-agent]}}]}"},
    {"healthChecking.outlierDetection.checkInterval", "healthChecking: {outlierDetection: {checkInterval: 1s}}"},
    {"healthChecking.outlierDetection.consecutive5XX.threshold",
     "healthChecking: {outlierDetection: {consecutive5XX: {threshold: 3}}}"},
    {"healthChecking.outlierDetection.failurePercentage.minimumRequests",
     "healthChecking: {outlierDetection: {failurePercentage: {minimumRequests: 9}}}"},
    {"healthChecking.outlierDetection.failurePercentage.threshold",
     "healthChecking: {outlierDetection: {failurePercentage: {threshold: 3}}}"},
    {"dns.type", "dns: {type: strict}"},
    {"dns.respectDnsTtl", "dns: {respectDnsTtl: false}, timeouts: {}"},
    {"protocols.enableIPv4", "protocols: {enableIPv4: true}"},
    {"protocols.enableIPv6", "protocols: {enableIPv6: true}"},
    {"circuitBreakers.priority", "circuitBreakers: [{priority: high}]"},
    {"circuitBreakers.maxConnections", "circuitBreakers: [{maxConnections: 1}]"},
    {"circuitBreakers.maxPendingRequests", "circuitBreakers: [{maxPendingRequests: 1}]"},
    {"circuitBreakers.maxParallelRequests", "circuitBreakers: [{maxParallelRequests: 1}]"},
    {"keepAliveProbes.maxProbes", "keepAliveProbes: {maxProbes: 1}"},
    {"keepAliveProbes.idleTime", "keepAliveProbes: {idleTime: 1s}"},
    {"keepAliveProbes.interval", "keepAliveProbes: {interval: 1s}"},
    {"timeouts.connectTimeout", "timeouts: {connectTimeout: 1s}"},
    {"timeouts.idleTimeout", "timeouts: {idleTimeout: 1s}"},
    {"timeouts.clusterIdleTimeout", "timeouts: {clusterIdleTimeout: 1s}"},
    {"timeouts.maxConnectionLifetime", "timeouts: {maxConnectionLifetime: 1s}"},
    {"loadBalancing.type", "loadBalancing: {type: roundRobin}"},
    {"loadBalancing.sessionAffinity.type", "loadBalancing: {type: maglev, sessionAffinity: {type: sourceIp}}"},
    {"loadBalancing.sessionAffinity.cookie",
     "loadBalancing: {type: maglev, sessionAffinity: {type: cookie, cookie: {name: a, path: /b, ttl: 1h}}}"},
    {"loadBalancing.sessionAffinity.header",
     "loadBalancing: {type: ringHash, sessionAffinity: {type: header, header: {name: a}}}"},
    {"observability", "observability: {metrics: {statsName: a}}"},
    {"matching", "matching: {stripAuthorityPort: true}"},
    {"integrations", "integrations: {addLinkerdHeaders: true}"},
};

/// Checks that the table has a row for each example. The row must have UnsupportedValue if the field of the example is
/// not supported.
void expectTable(const std::string& head, const FieldExamples& examples) {
  std::set<std::string> listed;
  for (const test::PageRow& row : test::pageTable(test::referencePage("traffic-policy.md"), head)) {
    const std::string field = test::quotedWords(row.at(0)).at(0);
    listed.insert(field);
    const auto example = examples.find(field);
    if (example == examples.end()) {
      ADD_FAILURE() << field << " has no example here";
      continue;
    }
    std::set<std::string> unsupported;
    for (const std::string& path : unsupportedIn(backendTraffic(example->second))) {
      unsupported.insert(std::regex_replace(path, std::regex(R"re(\[0\])re"), ""));
    }
    const bool isRefused = unsupported.contains("spec." + field);
    EXPECT_EQ(row.at(2).find("UnsupportedValue") != std::string::npos, isRefused) << field;
  }
  for (const auto& [field, example] : examples) EXPECT_TRUE(listed.contains(field)) << field << " is not in the table";
}

/// Checks that there is an example for each field of a form.
void expectExamples(std::span<const std::string_view> fields, const FieldExamples& examples) {
  for (const std::string_view field : fields) {
    const bool has = std::any_of(examples.begin(), examples.end(), [&](const auto& each) {
      return each.first == field || each.first.starts_with(std::string(field) + ".");
    });
    EXPECT_TRUE(has) << field << " has no example";
  }
}

TEST(BackendTrafficPolicies, AreInTheReferenceWithEveryField) {
  expectExamples(shippedTrafficFields(), kShippedExamples);
  expectExamples(proposedTrafficFields(), kProposedExamples);
  expectTable("| field of Envoy Gateway's form | its default | here |", kShippedExamples);
  expectTable("| field of the proposal's form | its default | here |", kProposedExamples);
}

TEST(BackendTrafficPolicies, AreInTheReferenceWithEveryTrigger) {
  for (const test::PageRow& row :
       test::pageTable(test::referencePage("traffic-policy.md"), "| trigger | the proposal's word | here |")) {
    for (const std::string& word : test::quotedWords(row.at(0))) {
      const TrafficPolicy policy = backendTraffic("retry: {retryOn: {triggers: [" + word + "]}}");
      EXPECT_EQ(row.at(2).find("UnsupportedValue") != std::string::npos, !policy.unsupported.empty()) << word;
    }
    for (const std::string& word : test::quotedWords(row.at(1))) {
      const TrafficPolicy policy =
          backendTraffic("retryStrategy: {type: http, http: {retryOn: " + word + ", retriableStatusCodes: [503]}}");
      EXPECT_THAT(unsupportedIn(policy, /*closing=*/true), IsEmpty()) << word;
    }
  }
}

/// Fields without a counterpart in a TrafficPolicy that are supported nevertheless. A policy that has only a target
/// stays as it is.
const std::set<std::string> kSupportedHereAlone = {
    "targetRef",
    "targetRefs",
    "targetSelectors",
    "mergeType",
    "loadBalancer.consistentHash.cookie.name",
    "loadBalancer.consistentHash.headers",
    "loadBalancer.zoneAware.preferLocal.force.minEndpointsInZoneThreshold",
    "loadBalancer.zoneAware.preferLocal.minEndpointsThreshold"};

TEST(BackendTrafficPolicies, AreConvertedWithEveryFieldThatIsSupported) {
  FieldExamples examples = kShippedExamples;
  examples.insert(kProposedExamples.begin(), kProposedExamples.end());
  for (const auto& [field, example] : examples) {
    const std::string text = backendTrafficText(example);
    const TrafficPolicy before = backendTraffic(example);
    const ConvertedTexts converted = convertText(text);
    EXPECT_EQ(converted.complete, before.unsupported.empty() && !kSupportedHereAlone.contains(field)) << converted.text;
    if (!converted.complete) continue;
    const Model after = convertedModel(text);
    const auto* policy = after.find<TrafficPolicy>(kOwnGroup, TrafficPolicy::kKind, "default", "p");
    ASSERT_NE(policy, nullptr) << field;
    EXPECT_EQ(described(*policy), described(before)) << field;
  }
}

}  // namespace
}  // namespace sluice::config
