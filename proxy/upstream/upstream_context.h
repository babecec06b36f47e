// Clusters, pools, connections and requests of one worker share an UpstreamContext: its parts, its policy, and the way
// to each other. Implemented by Upstreams; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/random.h"
#include "proxy/base/settings.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/worker.h"
#include "proxy/observe/bounded_log.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/policy/address_guard.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/dial/dialer.h"
#include "proxy/upstream/dial/failed_addresses.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/request_sinks.h"

namespace sluice::upstream {

class AsyncRequest;
class Cluster;
class Connection;
class ConnectionRooms;
class Pins;
class Places;
class Pool;

/// The settings that a reload may change.
struct UpstreamPolicy {
  routing::AddressGuard guard;
  http::Limits limits;
  base::TimeoutSettings timeouts;
  std::size_t pendingBound;
  std::size_t requestedBound;  // limits.dynamicClusters
};

/// All references outlive the context.
struct UpstreamParts {
  net::Worker& worker;
  net::Resolver& resolver;
  Dialer& dialer;
  CircuitBreakers& budgets;
  FailedAddresses& failedAddresses;
  observe::MetricShard& metrics;
  http::H2Memory& h2Memory;
  UpstreamPolicy policy;
  std::uint64_t randomSeed = 1;             // for the choice of endpoints; must not be 0
  observe::BoundedLog* debugLog = nullptr;  // null: nothing is written about connections
  std::string zone = {};                    // where the gateway is; empty: unknown
};

class UpstreamContext {
 public:
  explicit UpstreamContext(const UpstreamParts& parts)
      : parts_(parts), sinks_(parts.metrics), random_(parts.randomSeed) {}
  UpstreamContext(const UpstreamContext&) = delete;
  UpstreamContext& operator=(const UpstreamContext&) = delete;

  net::Worker& worker() { return parts_.worker; }
  net::Resolver& resolver() { return parts_.resolver; }
  Dialer& dialer() { return parts_.dialer; }
  CircuitBreakers& budgets() { return parts_.budgets; }
  FailedAddresses& failedAddresses() { return parts_.failedAddresses; }
  const routing::AddressGuard& guard() const { return parts_.policy.guard; }
  RequestSinks& sinks() { return sinks_; }
  const http::Limits& limits() const { return parts_.policy.limits; }
  const base::TimeoutSettings& timeouts() const { return parts_.policy.timeouts; }
  std::size_t pendingBound() const { return parts_.policy.pendingBound; }
  std::size_t requestedBound() const { return parts_.policy.requestedBound; }
  http::H2Memory& h2Memory() { return parts_.h2Memory; }
  observe::MetricShard& metrics() { return parts_.metrics; }
  void onLimit(std::string_view limit) { metrics().at<observe::Metric::kLimitHits>(limit).add(); }
  /// Counts an address to which no connection may go.
  void onDenied(const net::Address& address) {
    metrics().at<observe::Metric::kAddressDenied>(routing::addressClassName(routing::classify(address.bytes()))).add();
  }
  observe::BoundedLog* debugLog() const { return parts_.debugLog; }
  const std::string& zone() const { return parts_.zone; }
  std::uint64_t random() { return random_.next(); }
  /// How many endpoints took no connection lately, and how many Backends none of whose endpoints takes one.
  std::size_t& failing() { return failing_; }
  /// Returns the count to which a cluster with this plan adds. Destinations that requests have named have a count of
  /// their own, because no rule chooses another Backend in their place.
  std::size_t& failingOf(const routing::BackendPlan& plan) {
    return plan.requestedOf != nullptr ? requestedFailing_ : failing_;
  }

  /// Returns the worker's cluster of that Backend, made at first use. O(1).
  virtual Cluster& cluster(const std::shared_ptr<const routing::BackendPlan>& plan) = 0;
  /// Returns nullptr if the connection is gone.
  virtual Connection* find(base::Handle<Connection> handle) = 0;
  virtual Pins& pins() = 0;
  virtual Places& places() = 0;
  virtual ConnectionRooms& rooms() = 0;
  virtual void createConnection(Pool& pool, net::Addresses addresses) = 0;
  /// Keeps a pool that its cluster has retired.
  virtual void keepUntilEmpty(std::unique_ptr<Pool> pool) = 0;
  /// Marks the object to be driven in this beat.
  virtual void markDirty(Pool& pool) = 0;
  virtual void markDirty(AsyncRequest& request) = 0;
  /// Returns the request's token for codecs and pools, which is valid until it leaves.
  virtual http::Token enroll(AsyncRequest& request) = 0;
  virtual void leave(AsyncRequest& request) = 0;

 protected:
  ~UpstreamContext() = default;
  void setPolicy(const UpstreamPolicy& policy) { parts_.policy = policy; }

 private:
  UpstreamParts parts_;
  RequestSinks sinks_;
  base::Random random_;
  std::size_t failing_ = 0;
  std::size_t requestedFailing_ = 0;
};

}  // namespace sluice::upstream
