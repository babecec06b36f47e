// Reads what a policy says of connections to Backends, and of the time that requests may take, in the spelling that
// TrafficPolicy and BackendTrafficPolicy as Envoy Gateway ships it share.
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr std::int64_t kMostAtATime = std::numeric_limits<std::uint32_t>::max();

void readKeepaliveTime(FieldReader& reader, std::string_view key, base::Duration& time) {
  const auto given = reader.duration(key);
  if (!given) return;
  time = *given;
  if (time < std::chrono::seconds(1) || time > base::TcpKeepalive::kLongestTime) {
    reader.error(key, "must be from 1s to 32767s");
  }
}

}  // namespace

std::optional<base::Duration> readSomeTime(FieldReader& reader, std::string_view key,
                                           std::vector<UnsupportedField>& unsupported) {
  const auto time = reader.duration(key);
  if (time == base::Duration::zero()) reader.unsupported(key, "0s is not supported", true, unsupported);
  return time;
}

TrafficTimeouts readTrafficTimeouts(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  TrafficTimeouts timeouts;
  FieldReader tcp = reader.map("tcp");
  timeouts.connect = readSomeTime(tcp, "connectTimeout", unsupported);
  tcp.finish();
  FieldReader http = reader.map("http");
  timeouts.connectionIdle = readSomeTime(http, "connectionIdleTimeout", unsupported);
  timeouts.connectionLifetime = http.duration("maxConnectionDuration");
  timeouts.request = http.duration("requestTimeout");
  timeouts.streamIdle = readSomeTime(http, "streamIdleTimeout", unsupported);
  timeouts.streamLifetime = http.duration("maxStreamDuration");
  http.finish();
  reader.finish();
  return timeouts;
}

void readProbes(FieldReader& reader, std::string_view key, base::TcpKeepalive& keepalive) {
  if (const auto probes = reader.integer(key, 1, base::TcpKeepalive::kMostProbes)) {
    keepalive.probes = static_cast<std::uint32_t>(*probes);
  }
  readKeepaliveTime(reader, "idleTime", keepalive.idleTime);
  readKeepaliveTime(reader, "interval", keepalive.interval);
  reader.finish();
}

base::TcpKeepalive readTcpKeepalive(FieldReader reader) {
  base::TcpKeepalive keepalive;
  readProbes(reader, "probes", keepalive);
  return keepalive;
}

void readDnsTerms(FieldReader& reader, base::DnsTerms& terms, std::vector<UnsupportedField>& unsupported) {
  using Family = base::LookupFamily;
  static constexpr Choice<Family> kFamilies[] = {{"IPv4", Family::kIpv4},
                                                 {"IPv6", Family::kIpv6},
                                                 {"IPv4Preferred", Family::kIpv4Preferred},
                                                 {"IPv6Preferred", Family::kIpv6Preferred},
                                                 {"IPv4AndIPv6", Family::kBoth}};
  terms.refreshRate = readSomeTime(reader, "dnsRefreshRate", unsupported);
  terms.respectTtl = reader.boolean("respectDnsTtl", true);
  terms.family = reader.choice("lookupFamily", kFamilies, Family::kOfSettings);
  reader.finish();
}

TrafficDns readTrafficDns(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  static constexpr Choice<bool> kTypes[] = {{"Strict", false}, {"Logical", true}};
  TrafficDns dns;
  dns.logical = reader.choice("type", kTypes, false);
  readDnsTerms(reader, dns.terms, unsupported);
  return dns;
}

base::CircuitBreakerBounds readCircuitBreakerBounds(FieldReader& reader, std::optional<std::uint32_t> usual) {
  const auto bound = [&](std::string_view key) {
    const auto given = reader.integer(key, 0, kMostAtATime);
    return given ? std::optional(static_cast<std::uint32_t>(*given)) : usual;
  };
  return {bound("maxConnections"), bound("maxPendingRequests"), bound("maxParallelRequests")};
}

CircuitBreakerFields readCircuitBreaker(FieldReader reader) {
  CircuitBreakerFields fields;
  fields.bounds = readCircuitBreakerBounds(reader, std::nullopt);
  if (const auto most = reader.integer("maxRequestsPerConnection", 0, kMostAtATime)) {
    fields.requestsPerConnection = static_cast<std::uint32_t>(*most);
  }
  if (const auto most = reader.integer("maxParallelRetries", 0, kMostAtATime)) {
    fields.maxParallelRetries = static_cast<std::uint32_t>(*most);
  }
  reader.finish();
  return fields;
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
