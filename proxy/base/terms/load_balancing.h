// LoadBalancing says which of a Backend's endpoints gets a request (TrafficPolicy.spec.loadBalancing). A value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/base/clock.h"

namespace sluice::base {

enum class BalancerType : std::uint8_t {
  kLeastRequest,  // the less busy of two that are chosen at random
  kRoundRobin,    // one after the other, in each worker
  kRandom,
  kRingHash,  // consistent hashing: requests with the same value go to the same endpoint
  kMaglev     // likewise, with equal shares and a constant time of look-up
};

/// The part of a request that consistent hashing takes its value from.
enum class HashSource : std::uint8_t { kNone, kHeader, kSourceIp, kQueryParam, kCookie, kClientCookie };

struct LoadBalancing {
  /// The number of places in the table of kMaglev, a prime; no table is larger, because each worker has one for each
  /// Backend.
  static constexpr std::uint32_t kUsualTableSize = 65'537;

  BalancerType type = BalancerType::kLeastRequest;
  HashSource source = HashSource::kNone;
  std::vector<std::string> names = {};  // of the header fields, in lower case, of the parameters, or of the cookie
  /// The Max-Age of the cookie that the gateway makes. Zero: it ends with the browser's session.
  Duration cookieTtl = Duration::zero();
  std::string cookiePath = {};  // empty: all paths
  std::uint32_t tableSize = kUsualTableSize;
  /// In this time after it has come, an endpoint gets a growing part of its share. Zero: all of it at once.
  Duration slowStart = Duration::zero();
  /// If fewer than this percentage of the endpoints pass their health checks, the checks are ignored.
  std::uint32_t panicThreshold = 0;
  /// Endpoints for the zone of the gateway come first, if at least so many of them are available, and if there are at
  /// least so many in all zones together.
  bool prefersZone = false;
  std::uint32_t minEndpointsInZone = 1;
  std::uint32_t minEndpoints = 0;

  bool hashes() const { return type >= BalancerType::kRingHash; }

  friend bool operator==(const LoadBalancing&, const LoadBalancing&) = default;
};

}  // namespace sluice::base
