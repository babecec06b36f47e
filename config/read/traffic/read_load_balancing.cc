// Reads which endpoint of a Backend gets a request.
#include <cstdint>
#include <string>
#include <string_view>

#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

using base::BalancerType;
using base::HashSource;
using base::LoadBalancing;

constexpr std::int64_t kMostMinEndpoints = 65535;

/// Reads `hash` of a TrafficPolicy.
void readHash(FieldReader& hash, LoadBalancing& terms) {
  static constexpr Choice<HashSource> kSources[] = {{"Cookie", HashSource::kCookie},
                                                    {"Header", HashSource::kHeader},
                                                    {"SourceIP", HashSource::kSourceIp},
                                                    {"QueryParam", HashSource::kQueryParam}};
  hash.read(required("type"), terms.source, kSources);
  if (terms.source == HashSource::kHeader) readHashedHeader(hash, terms);
  if (terms.source == HashSource::kQueryParam) readHashedParameter(hash, terms);
  if (terms.source == HashSource::kSourceIp && hash.has("name")) hash.error("name", "has no meaning with SourceIP");
  if (terms.source == HashSource::kCookie) return readHashCookie(hash, terms);
  for (const std::string_view key : {"ttl", "path"}) {
    if (hash.has(key)) hash.error(key, "is for the type Cookie");
  }
}

bool isPrime(std::uint32_t number) {
  for (std::uint32_t divisor = 2; divisor <= number / divisor; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return number >= 2;
}

}  // namespace

void readHashTableSize(FieldReader& reader, LoadBalancing& terms) {
  reader.read("tableSize", terms.tableSize, {2, LoadBalancing::kUsualTableSize});
  if (reader.has("tableSize") && !isPrime(terms.tableSize)) reader.error("tableSize", "must be a prime");
}

void readSlowStart(FieldReader& reader, std::string_view key, LoadBalancing& terms) {
  reader.read(key, terms.slowStart);
  const bool startsSlowly = terms.type == BalancerType::kLeastRequest || terms.type == BalancerType::kRoundRobin;
  if (terms.slowStart > base::Duration::zero() && !startsSlowly) {
    reader.error(key, "is for the types LeastRequest and RoundRobin");
  }
}

void readHashedHeader(FieldReader& reader, LoadBalancing& terms) {
  terms.names.push_back(base::toLower(reader.requiredText("name", rule::kHeaderName)));
}

void readHashedParameter(FieldReader& reader, LoadBalancing& terms) {
  terms.names.push_back(reader.requiredText("name", rule::kRefName));
}

void readHashCookie(FieldReader& reader, LoadBalancing& terms) {
  terms.names.push_back(reader.requiredText("name", rule::kHeaderName));
  reader.read("ttl", terms.cookieTtl);
  reader.read("path", terms.cookiePath, rule::kCookiePath);
}

void readLoadBalancing(FieldReader& reader, LoadBalancing& terms) {
  static constexpr Choice<BalancerType> kTypes[] = {{"LeastRequest", BalancerType::kLeastRequest},
                                                    {"RoundRobin", BalancerType::kRoundRobin},
                                                    {"Random", BalancerType::kRandom},
                                                    {"RingHash", BalancerType::kRingHash},
                                                    {"Maglev", BalancerType::kMaglev}};
  static constexpr Choice<bool> kZones[] = {{"Off", false}, {"Prefer", true}};
  reader.read("type", terms.type, kTypes);
  if (terms.hashes()) {
    reader.read(required("hash"), terms, readHash);
  } else if (reader.has("hash")) {
    reader.error("hash", "is for the types RingHash and Maglev");
  }
  readHashTableSize(reader, terms);
  if (reader.has("tableSize") && terms.type != BalancerType::kMaglev) {
    reader.error("tableSize", "is for the type Maglev");
  }
  readSlowStart(reader, "slowStart", terms);
  reader.read("panicThreshold", terms.panicThreshold, {0, 100});
  reader.read("zone", terms.prefersZone, kZones);
  reader.read("minEndpointsInZone", terms.minEndpointsInZone, {1, kMostMinEndpoints});
}

}  // namespace sluice::config
