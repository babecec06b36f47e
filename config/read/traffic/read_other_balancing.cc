// Reads which endpoint of a Backend gets a request, in both forms of BackendTrafficPolicy.
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "config/read/traffic/traffic_readers.h"
#include "config/read/traffic/usual_values.h"

namespace sluice::config {
namespace {

using base::BalancerType;
using base::HashSource;
using base::LoadBalancing;

constexpr std::string_view kUnsupportedShipped[] = {"endpointOverride", "backendUtilization", "dynamicModule"};
constexpr std::size_t kMostHashedNames = 8;
constexpr NumberRange kThresholds{0, std::numeric_limits<std::uint32_t>::max()};
constexpr std::uint32_t kUsualThreshold = 6;  // Envoy's, of endpoints in all zones
constexpr std::uint32_t kAllRequests = 100;   // percent

/// Reads a list of names, whose values are hashed together.
template <typename Fields>
void readHashedNames(FieldReader& hash, std::string_view key, LoadBalancing& terms, Fields&& fields) {
  hash.require(key);
  if (hash.has(key) && hash.list(key, kMostHashedNames).empty()) hash.error(key, "must have at least one item");
  for (const Item& item : hash.list(key, kMostHashedNames)) hash.map(item).readInto(terms, fields);
}

/// Without a time, the cookie is one that clients have from elsewhere.
void readShippedCookie(FieldReader& cookie, LoadBalancing& terms) {
  terms.names.push_back(cookie.requiredText("name", rule::kHeaderName));
  cookie.read("ttl", terms.cookieTtl);
  terms.source = cookie.has("ttl") ? HashSource::kCookie : HashSource::kClientCookie;
  cookie.unsupported("attributes", "its attributes are those of sessions", false);
}

/// Reads `consistentHash` of Envoy Gateway's form, which is the table of Maglev.
void readShippedHash(FieldReader& hash, LoadBalancing& terms) {
  static constexpr std::string_view kTypes[] = {"SourceIP", "Header", "Headers", "Cookie", "QueryParams"};
  const std::string_view type = hash.word(required("type"), kTypes, {});
  if (type == "SourceIP") terms.source = HashSource::kSourceIp;
  if (type == "Header" || type == "Headers") terms.source = HashSource::kHeader;
  if (type == "QueryParams") terms.source = HashSource::kQueryParam;
  if (type == "Header") hash.read(required("header"), terms, readHashedHeader);
  if (type == "Headers") readHashedNames(hash, "headers", terms, readHashedHeader);
  if (type == "QueryParams") readHashedNames(hash, "queryParams", terms, readHashedParameter);
  if (type == "Cookie") {
    hash.read(required("cookie"), terms, readShippedCookie);
  }
  readHashTableSize(hash, terms);
  for (const std::string_view key : {"header", "headers", "queryParams", "cookie"}) hash.ignore(key);
}

void readForcedZone(FieldReader& force, LoadBalancing& terms) {
  terms.prefersZone = true;
  force.read("minEndpointsInZoneThreshold", terms.minEndpointsInZone, kThresholds);
}

void readLocalZone(FieldReader& local, LoadBalancing& terms) {
  terms.minEndpoints = kUsualThreshold;
  local.read("minEndpointsThreshold", terms.minEndpoints, kThresholds);
  local.read("force", terms, readForcedZone);
  std::uint32_t percentage = kAllRequests;
  local.read("percentageEnabled", percentage, {0, kAllRequests});
  if (percentage != kAllRequests) local.refuse("percentageEnabled");
}

/// Reads `zoneAware` of Envoy Gateway's form.
void readShippedZones(FieldReader& zones, LoadBalancing& terms) {
  zones.read("preferLocal", terms, readLocalZone);
  if (!terms.prefersZone) {
    zones.unsupported("preferLocal", "is not supported without force: each zone would get as many requests as others");
  }
  zones.refuse("weightedZones");
}

/// Reads `sessionAffinity` of the proposal.
void readAffinity(FieldReader& affinity, LoadBalancing& terms) {
  static constexpr Choice<HashSource> kSources[] = {
      {"cookie", HashSource::kCookie}, {"header", HashSource::kHeader}, {"sourceIp", HashSource::kSourceIp}};
  affinity.read(required("type"), terms.source, kSources);
  if (terms.source == HashSource::kHeader) affinity.read(required("header"), terms, readHashedHeader);
  if (terms.source == HashSource::kCookie) affinity.read(required("cookie"), terms, readHashCookie);
  for (const std::string_view key : {"cookie", "header", "sourceIp"}) affinity.ignore(key);
}

}  // namespace

void readShippedBalancer(FieldReader& reader, LoadBalancing& terms) {
  static constexpr std::string_view kTypes[] = {"ConsistentHash", "LeastRequest",       "Random",
                                                "RoundRobin",     "BackendUtilization", "DynamicModule"};
  const std::string_view type = reader.word("type", kTypes, {});
  if (type == "RoundRobin") terms.type = BalancerType::kRoundRobin;
  if (type == "Random") terms.type = BalancerType::kRandom;
  if (type == "BackendUtilization" || type == "DynamicModule") reader.refuse("type");
  if (type == "ConsistentHash") {
    terms.type = BalancerType::kMaglev;
    reader.read(required("consistentHash"), terms, readShippedHash);
  } else {
    reader.unsupported("consistentHash", "has no effect without type: ConsistentHash", false);
  }
  FieldReader slowStart = reader.map("slowStart");
  readSlowStart(slowStart, "window", terms);
  slowStart.finish();
  reader.read("zoneAware", terms, readShippedZones);
  for (const std::string_view key : kUnsupportedShipped) {
    refuseUnusual(reader, "loadBalancer", key, usualShippedValues());
  }
}

void readProposedBalancing(FieldReader& reader, LoadBalancing& terms) {
  static constexpr Choice<BalancerType> kTypes[] = {{"leastRequest", BalancerType::kLeastRequest},
                                                    {"roundRobin", BalancerType::kRoundRobin},
                                                    {"ringHash", BalancerType::kRingHash},
                                                    {"maglev", BalancerType::kMaglev}};
  reader.read(required("type"), terms.type, kTypes);
  if (terms.hashes()) {
    reader.read(required("sessionAffinity"), terms, readAffinity);
  } else {
    reader.unsupported("sessionAffinity", "has no effect without type: ringHash or maglev", false);
  }
  // These types have no configuration.
  for (const std::string_view key : {"roundRobin", "leastRequest", "ringHash", "maglev"}) reader.ignore(key);
}

}  // namespace sluice::config
