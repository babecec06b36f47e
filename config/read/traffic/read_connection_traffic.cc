// Reads the settings of a policy for connections to Backends and for the timeouts of requests. TrafficPolicy has the
// same spelling of them as BackendTrafficPolicy in Envoy Gateway's form.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string_view>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr TimeRule kKeepaliveTime{std::chrono::seconds(1), base::TcpKeepalive::kLongestTime,
                                  "must be from 1s to 32767s"};

void readEndpointBounds(FieldReader& reader, base::CircuitBreakerBounds& bounds) {
  readCircuitBreakerBounds(reader, bounds);
  constexpr std::string_view kAll[] = {"maxConnections", "maxPendingRequests", "maxParallelRequests"};
  if (std::none_of(std::begin(kAll), std::end(kAll), [&](auto key) { return reader.has(key); })) {
    reader.error("must have maxConnections, maxPendingRequests or maxParallelRequests");
  }
}

}  // namespace

void readSomeTime(FieldReader& reader, std::string_view key, std::optional<base::Duration>& time) {
  reader.read(key, time);
  if (time == base::Duration::zero()) reader.unsupported(key, "0s is not supported");
}

void readTrafficTimeouts(FieldReader& reader, TrafficTimeouts& timeouts) {
  FieldReader tcp = reader.map("tcp");
  readSomeTime(tcp, "connectTimeout", timeouts.connect);
  tcp.finish();
  FieldReader http = reader.map("http");
  readSomeTime(http, "connectionIdleTimeout", timeouts.connectionIdle);
  http.read("maxConnectionDuration", timeouts.connectionLifetime);
  http.read("requestTimeout", timeouts.request);
  readSomeTime(http, "streamIdleTimeout", timeouts.streamIdle);
  http.read("maxStreamDuration", timeouts.streamLifetime);
  http.finish();
}

void readProbes(FieldReader& reader, std::string_view key, base::TcpKeepalive& keepalive) {
  reader.read(key, keepalive.probes, {1, base::TcpKeepalive::kMostProbes});
  reader.read("idleTime", keepalive.idleTime, kKeepaliveTime);
  reader.read("interval", keepalive.interval, kKeepaliveTime);
}

void readTcpKeepalive(FieldReader& reader, base::TcpKeepalive& keepalive) { readProbes(reader, "probes", keepalive); }

void readDnsTerms(FieldReader& reader, base::DnsTerms& terms) {
  using Family = base::LookupFamily;
  static constexpr Choice<Family> kFamilies[] = {{"IPv4", Family::kIpv4},
                                                 {"IPv6", Family::kIpv6},
                                                 {"IPv4Preferred", Family::kIpv4Preferred},
                                                 {"IPv6Preferred", Family::kIpv6Preferred},
                                                 {"IPv4AndIPv6", Family::kBoth}};
  readSomeTime(reader, "dnsRefreshRate", terms.refreshRate);
  reader.read("respectDnsTtl", terms.respectTtl);
  reader.read("lookupFamily", terms.family, kFamilies);
}

void readTrafficDns(FieldReader& reader, TrafficDns& dns) {
  static constexpr Choice<bool> kTypes[] = {{"Strict", false}, {"Logical", true}};
  reader.read("type", dns.logical, kTypes);
  readDnsTerms(reader, dns.terms);
}

void readCircuitBreakerBounds(FieldReader& reader, base::CircuitBreakerBounds& bounds) {
  reader.read("maxConnections", bounds.connections, kAtATime);
  reader.read("maxPendingRequests", bounds.pendingRequests, kAtATime);
  reader.read("maxParallelRequests", bounds.requests, kAtATime);
}

void readCircuitBreaker(FieldReader& reader, CircuitBreakerFields& breaker) {
  readCircuitBreakerBounds(reader, breaker.bounds);
  reader.read("maxRequestsPerConnection", breaker.requestsPerConnection, kAtATime);
  reader.read("maxParallelRetries", breaker.maxParallelRetries, kAtATime);
}

void readOwnCircuitBreaker(FieldReader& reader, CircuitBreakerFields& breaker) {
  readCircuitBreaker(reader, breaker);
  reader.read("perEndpoint", breaker.perEndpoint, readEndpointBounds);
  reader.read("high", breaker.high, readCircuitBreakerBounds);
}

void refuseRequestSettings(FieldReader& spec, const BackendTraffic& traffic) {
  if (traffic.timeouts && traffic.timeouts->ofRequests()) {
    spec.context().error(spec.positionOf("timeout"), spec.pathOf("timeout") + ".http",
                         "must not have requestTimeout, streamIdleTimeout or maxStreamDuration for a Backend or a "
                         "Service, because they begin before a request has one");
  }
  if (traffic.circuitBreaker && traffic.circuitBreaker->maxParallelRetries) {
    spec.context().error(spec.positionOf("circuitBreaker"), spec.pathOf("circuitBreaker") + ".maxParallelRetries",
                         "is for Gateways and routes alone, not for a Backend or a Service");
  }
}

}  // namespace sluice::config
