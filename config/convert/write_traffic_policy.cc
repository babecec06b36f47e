#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/convert/model_writers.h"
#include "proxy/base/grpc_status.h"

namespace sluice::config {
namespace {

using base::BalancerType;
using base::HashSource;
using base::LoadBalancing;
using base::LookupFamily;

constexpr Choice<BalancerType> kBalancerWords[] = {{"LeastRequest", BalancerType::kLeastRequest},
                                                   {"RoundRobin", BalancerType::kRoundRobin},
                                                   {"Random", BalancerType::kRandom},
                                                   {"RingHash", BalancerType::kRingHash},
                                                   {"Maglev", BalancerType::kMaglev}};
constexpr Choice<HashSource> kHashWords[] = {{"Cookie", HashSource::kCookie},
                                             {"Header", HashSource::kHeader},
                                             {"SourceIP", HashSource::kSourceIp},
                                             {"QueryParam", HashSource::kQueryParam}};
constexpr Choice<LookupFamily> kFamilyWords[] = {{"IPv4", LookupFamily::kIpv4},
                                                 {"IPv6", LookupFamily::kIpv6},
                                                 {"IPv4Preferred", LookupFamily::kIpv4Preferred},
                                                 {"IPv6Preferred", LookupFamily::kIpv6Preferred},
                                                 {"IPv4AndIPv6", LookupFamily::kBoth}};
constexpr Choice<bool> kDnsWords[] = {{"Strict", false}, {"Logical", true}};

std::vector<std::string> grpcStatusNames(std::uint32_t codes) {
  std::vector<std::string> names;
  for (std::size_t code = 0; code < base::kGrpcStatusNames.size(); ++code) {
    if ((codes >> code & 1U) != 0) names.emplace_back(base::kGrpcStatusNames[code]);
  }
  return names;
}

void writeRetryBudget(const RetryBudgetFields& budget, FieldWriter& to) {
  to.number("percent", budget.percent);
  to.number("minPerSecond", budget.minPerSecond);
  to.number("minConcurrent", budget.minConcurrent);
  to.number("maxConcurrent", budget.maxConcurrent);
}

void writeTrafficRetry(const TrafficRetry& retry, FieldWriter& to) {
  to.numbers("codes", retry.codes);
  to.texts("grpcCodes", grpcStatusNames(retry.grpcCodes));
  to.number("attempts", retry.attempts);
  to.time("backoff", retry.backoff);
  to.time("maxBackoff", retry.longestBackoff);
  to.time("attemptTimeout", retry.attemptTimeout);
  to.time("attemptIdleTimeout", ifSet(retry.attemptIdleTimeout));
  to.number("attemptsPerPriority", ifSet(retry.attemptsPerPriority));
  to.number("replayBytes", retry.replayBytes);
  to.map("budget", retry.budget, writeRetryBudget);
}

/// Writes timeouts. Those of 0s for which that is not supported were noted when they were read.
void writeTimeouts(const TrafficTimeouts& timeouts, FieldWriter& to) {
  to.map("tcp", timeouts,
         [](const TrafficTimeouts& of, FieldWriter& tcp) { tcp.time("connectTimeout", ifSet(of.connect)); });
  to.map("http", timeouts, [](const TrafficTimeouts& of, FieldWriter& http) {
    http.time("connectionIdleTimeout", ifSet(of.connectionIdle));
    http.time("maxConnectionDuration", of.connectionLifetime);
    http.time("requestTimeout", of.request);
    http.time("streamIdleTimeout", ifSet(of.streamIdle));
    http.time("maxStreamDuration", of.streamLifetime);
  });
}

void writeKeepalive(const base::TcpKeepalive& keepalive, FieldWriter& to) {
  to.number("probes", keepalive.probes);
  to.time("idleTime", keepalive.idleTime);
  to.time("interval", keepalive.interval);
}

void writeDns(const TrafficDns& dns, FieldWriter& to) {
  to.word("type", dns.logical, kDnsWords);
  to.word("lookupFamily", dns.terms.family, kFamilyWords);
  to.flag("respectDnsTtl", dns.terms.respectTtl);
  to.time("dnsRefreshRate", ifSet(dns.terms.refreshRate));
}

void writeBreakerBounds(const base::CircuitBreakerBounds& bounds, FieldWriter& to) {
  to.number("maxConnections", bounds.connections);
  to.number("maxPendingRequests", bounds.pendingRequests);
  to.number("maxParallelRequests", bounds.requests);
}

void writeCircuitBreaker(const CircuitBreakerFields& breaker, FieldWriter& to) {
  writeBreakerBounds(breaker.bounds, to);
  to.map("perEndpoint", breaker.perEndpoint, writeBreakerBounds);
  to.map("high", breaker.high, writeBreakerBounds);
  to.number("maxParallelRetries", breaker.maxParallelRetries);
  to.number("maxRequestsPerConnection", ifSet(breaker.requestsPerConnection));
}

/// Returns the reason why `hash` cannot express the hashing; empty if it can, or if there is none.
std::string_view whyNotHashed(const LoadBalancing& terms) {
  if (!terms.hashes()) return {};
  if (terms.source == HashSource::kClientCookie) return "cookies that clients have from elsewhere cannot be hashed";
  return terms.names.size() > 1 ? "several names cannot be hashed together" : std::string_view();
}

void writeHash(const LoadBalancing& terms, FieldWriter& to) {
  to.word("type", terms.source, kHashWords);
  if (!terms.names.empty()) to.text("name", terms.names.front());
  to.time("ttl", ifSet(terms.cookieTtl));
  to.text("path", terms.cookiePath);
}

void writeLoadBalancing(const LoadBalancing& terms, FieldWriter& to) {
  if (whyNotHashed(terms).empty()) to.word("type", terms.type, kBalancerWords);
  if (terms.hashes() && whyNotHashed(terms).empty()) {
    to.map("hash", terms, writeHash);
    if (terms.type == BalancerType::kMaglev) to.number("tableSize", terms.tableSize);
  }
  to.time("slowStart", ifSet(terms.slowStart));
  to.number("panicThreshold", ifSet(terms.panicThreshold));
  if (!terms.prefersZone) return;
  to.text("zone", "Prefer");
  to.number("minEndpointsInZone", terms.minEndpointsInZone);
}

void writeMatching(const base::RequestMatching& matching, FieldWriter& to) {
  to.flag("stripAuthorityPort", matching.stripAuthorityPort);
  to.flag("ignorePathParameters", matching.ignorePathParameters);
}

void writeIntegrations(const IntegrationFields& integrations, FieldWriter& to) {
  to.flag("addLinkerdHeaders", integrations.addLinkerdHeaders);
}

/// Adds the parts of the model that only other kinds have.
void addOtherKinds(const TrafficPolicy& policy, Leftovers& left) {
  left.add(policy.unsupported);
  if (policy.merges) {
    left.add("spec.mergeType",
             "each field is taken as a whole from the most specific TrafficPolicy, and not merged with those for the "
             "Gateway");
  }
  if (policy.retryConstraint) {
    left.add("spec.retryConstraint", "retry.budget of a TrafficPolicy is for Gateways and routes alone");
  }
  if (policy.sessionPersistence) {
    left.add(policy.sessionPersistence->path, "a TrafficPolicy has no sessions: give them to the rules of the routes");
  }
  if (policy.loadBalancing && !whyNotHashed(*policy.loadBalancing).empty()) {
    left.add("spec.loadBalancer.consistentHash", std::string(whyNotHashed(*policy.loadBalancing)));
  }
  if (policy.loadBalancing && policy.loadBalancing->minEndpoints > 0) {
    left.add("spec.loadBalancer.zoneAware.preferLocal.minEndpointsThreshold",
             "the zone comes first whatever the number of all endpoints is");
  }
}

}  // namespace

void writeTrafficPolicy(const TrafficPolicy& policy, FieldWriter& spec, Leftovers& left) {
  addOtherKinds(policy, left);
  writePolicyTargets(policy, spec, left);
  const std::size_t before = spec.size();
  spec.map("retry", policy.retry, writeTrafficRetry);
  spec.map("healthCheck", static_cast<const BackendTraffic&>(policy), writeHealthCheck);
  spec.map("timeout", policy.timeouts, writeTimeouts);
  spec.map("tcpKeepalive", policy.keepalive, writeKeepalive);
  spec.map("dns", policy.dns, writeDns);
  spec.map("circuitBreaker", policy.circuitBreaker, writeCircuitBreaker);
  spec.map("loadBalancing", policy.loadBalancing, writeLoadBalancing);
  spec.map("matching", policy.matching, writeMatching);
  spec.map("integrations", policy.integrations, writeIntegrations);
  if (spec.size() == before) left.refuse("spec", "a TrafficPolicy would have no field for any of its settings");
}

}  // namespace sluice::config
