// Everything towards backends of one worker: its clusters and the slab of their connections, with their part of the
// beat.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/base/beat_table.h"
#include "proxy/base/random.h"
#include "proxy/http/codec.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/policy/address_guard.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/budget.h"
#include "proxy/upstream/cluster.h"
#include "proxy/upstream/connection.h"
#include "proxy/upstream/dialer.h"
#include "proxy/upstream/pins.h"
#include "proxy/upstream/pool.h"
#include "proxy/upstream/waiters.h"

namespace sluice::upstream {

/// What a reload may change.
struct UpstreamPolicy {
  routing::AddressGuard guard;
  http::Limits limits;
  base::TimeoutSettings timeouts;
  std::size_t pendingBound;
};

/// All references outlive it.
struct UpstreamParts {
  net::Worker& worker;
  net::Resolver& resolver;
  Dialer& dialer;
  Budgets& budgets;
  http::ClientSink& sink;
  WaiterSink& waiters;
  observe::MetricShard& metrics;
  http::H2Memory& h2Memory;
  UpstreamPolicy policy;
  std::uint64_t randomSeed = 1;  // for the choice of endpoints; not 0
};

class Upstreams {
 public:
  explicit Upstreams(const UpstreamParts& parts) : parts_(parts), random_(parts.randomSeed) {}
  ~Upstreams();
  Upstreams(const Upstreams&) = delete;
  Upstreams& operator=(const Upstreams&) = delete;

  using Plans = std::vector<std::shared_ptr<const routing::BackendPlan>>;

  /// The worker's cluster of that Backend; made at first use. O(1). The plan stays where it is until the next adopt().
  Cluster& cluster(const std::shared_ptr<const routing::BackendPlan>& plan);
  /// Between beats: other rules, and other Backends. Those whose identity is among `plans` keep their clusters, their
  /// connections and what waits for them, but for those to endpoints that are no more; the others' go when the last
  /// exchange has left them. A connection to an address that is not allowed any more takes no new request.
  void adopt(const UpstreamPolicy& policy, const Plans& plans);
  /// The names of the Backends that clusters count for in metrics: also of those that just wait for their end.
  std::set<std::string_view> counting() const;
  /// Clusters have come to their end since it was asked last.
  bool takeLeft() { return std::exchange(left_, false); }
  Connection* find(base::Handle<Connection> handle) { return connections_.find(handle); }
  Pins& pins() { return pins_; }

  /// Beats.
  void drive();
  void flush() { connections_.flush(); }
  void reap() { connections_.reap(); }
  bool quiet() const { return dirtyPools_.empty() && connections_.quiet(); }
  /// Every connection is closed at once.
  void shutdown();

  /// For clusters and connections.
  net::Worker& worker() { return parts_.worker; }
  net::Resolver& resolver() { return parts_.resolver; }
  Dialer& dialer() { return parts_.dialer; }
  Budgets& budgets() { return parts_.budgets; }
  const routing::AddressGuard& guard() const { return parts_.policy.guard; }
  http::ClientSink& sink() { return parts_.sink; }
  WaiterSink& waiterSink() { return parts_.waiters; }
  const http::Limits& limits() const { return parts_.policy.limits; }
  const base::TimeoutSettings& timeouts() const { return parts_.policy.timeouts; }
  std::size_t pendingBound() const { return parts_.policy.pendingBound; }
  std::uint64_t random() { return random_.next(); }
  void createConnection(Pool& pool, net::Addresses addresses);
  /// A pool that its cluster has retired.
  void keepUntilEmpty(std::unique_ptr<Pool> pool) { leaving_.push_back(std::move(pool)); }
  void markDirty(Pool& pool);
  void markDirty(Connection& connection) { connections_.mark(connection); }
  http::H2Memory& h2Memory() { return parts_.h2Memory; }
  observe::MetricShard& metrics() { return parts_.metrics; }
  void onLimit(std::string_view limit) { metrics().at<observe::Metric::kLimitHits>(limit).add(); }

 private:
  const std::shared_ptr<const routing::BackendPlan>& newest(
      const std::shared_ptr<const routing::BackendPlan>& plan) const;

  UpstreamParts parts_;
  base::BeatTable<Connection> connections_;
  // By plan first: a pointer look-up for every request. Emptied when plans may go and others take their addresses.
  std::unordered_map<const routing::BackendPlan*, Cluster*> byPlan_;
  std::unordered_map<std::string, std::unique_ptr<Cluster>> byIdentity_;
  Plans plans_;                                    // of the last adopt()
  std::vector<std::unique_ptr<Cluster>> retired_;  // no new exchange comes to them
  std::vector<std::unique_ptr<Pool>> leaving_;     // of clusters that may be retired themselves
  bool left_ = false;
  std::vector<Pool*> dirtyPools_;
  base::Random random_;
  Pins pins_{*this};
};

}  // namespace sluice::upstream
