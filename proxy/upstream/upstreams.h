// One worker's side towards backends: its clusters and the slab of their connections, with their part of the beat.
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
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/async_requests.h"
#include "proxy/upstream/cluster.h"
#include "proxy/upstream/connection.h"
#include "proxy/upstream/connection_room.h"
#include "proxy/upstream/pins.h"
#include "proxy/upstream/places/places.h"
#include "proxy/upstream/pool.h"
#include "proxy/upstream/requested/requested_plans.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

class Upstreams final : public UpstreamContext {
 public:
  explicit Upstreams(const UpstreamParts& parts);
  ~Upstreams();

  using Plans = std::vector<std::shared_ptr<const routing::BackendPlan>>;

  /// Returns the worker's cluster of that Backend, made at first use. The plan's identity alone decides which one that
  /// is. O(1).
  Cluster& cluster(const std::shared_ptr<const routing::BackendPlan>& plan) override;
  /// Returns the plan of a destination that a request has named.
  std::shared_ptr<const routing::BackendPlan> requested(const routing::RequestedTarget& target) const;
  /// Called when a request of `client` goes to such a plan now. Returns false if limits.dynamicClusters has no room for
  /// it.
  bool takeRequested(const std::shared_ptr<const routing::BackendPlan>& plan, net::ClientNetwork client);
  /// Returns Cluster::serves() of that Backend.
  bool serves(const std::shared_ptr<const routing::BackendPlan>& plan) { return allServe() || cluster(plan).serves(); }
  /// Returns true if serves() is true of every Backend.
  bool allServe() { return failing() == 0; }
  /// Called when a client's connection is gone: connections that serve it alone close as soon as they are done.
  void releaseClient(http::Token client) { pins_.release(client); }
  /// Takes other rules and other Backends, between beats. Backends whose identity is among `plans` keep their clusters,
  /// with connections and waiting requests, except those of endpoints that are gone. The clusters of the others go when
  /// the last request has left them. A connection to an address that is not allowed any more takes no new request.
  void adopt(const UpstreamPolicy& policy, const Plans& plans);
  /// Returns the names of the Backends whose clusters have metrics, including clusters that only wait for their end.
  std::set<std::string_view> counting() const;
  /// Returns true if clusters have ended since the last call.
  bool takeLeft() { return std::exchange(left_, false); }
  Connection* find(base::Handle<Connection> handle) override { return connections_.find(handle); }
  Pins& pins() override { return pins_; }
  Places& places() override { return places_; }
  ConnectionRooms& rooms() override { return rooms_; }

  /// The parts of the beat.
  void drive();
  void flush() { connections_.flush(); }
  void reap() { connections_.reap(); }
  bool quiet() const { return dirtyPools_.empty() && asyncRequests_.quiet() && connections_.quiet(); }
  /// Closes every connection at once.
  void shutdown();

  // UpstreamContext
  void createConnection(Pool& pool, net::Addresses addresses) override;
  void keepUntilEmpty(std::unique_ptr<Pool> pool) override { leaving_.push_back(std::move(pool)); }
  void markDirty(Pool& pool) override;
  void markDirty(AsyncRequest& request) override { asyncRequests_.mark(request); }
  http::Token enroll(AsyncRequest& request) override { return asyncRequests_.add(request); }
  void leave(AsyncRequest& request) override { asyncRequests_.remove(request); }

 private:
  template <typename T>
  using ByIdentity = std::unordered_map<routing::BackendIdentity, T, routing::BackendIdentity::Hash>;

  Cluster& makeCluster(const std::shared_ptr<const routing::BackendPlan>& plan);
  const std::shared_ptr<const routing::BackendPlan>& newest(
      const std::shared_ptr<const routing::BackendPlan>& plan) const;
  bool isServed(const std::shared_ptr<const routing::BackendPlan>& plan) const;
  bool isBusy(const routing::BackendPlan& plan) const;
  void retire(const routing::BackendIdentity& identity);

  ConnectionRooms rooms_{*this};
  base::BeatTable<Connection> connections_;
  ByIdentity<std::unique_ptr<Cluster>> clusters_;
  /// The cluster that was found last, where most requests go; null if there is none.
  const ByIdentity<std::unique_ptr<Cluster>>::value_type* recent_ = nullptr;
  Plans plans_;  // of the last adopt()
  RequestedPlans requested_{{.areBusy = [this](const auto& plan) { return isBusy(plan); },
                             .retire =
                                 [this](const auto& plan) {
                                   retire(plan.identity);
                                   if (plan.http11 != nullptr) retire(plan.http11->identity);
                                 }}};
  std::vector<std::unique_ptr<Cluster>> retired_;  // clusters that get no new requests
  std::vector<std::unique_ptr<Pool>> leaving_;     // of removed endpoints; their clusters may be retired, too
  bool left_ = false;
  std::vector<Pool*> dirtyPools_;
  Pins pins_{*this};
  Places places_{worker(), budgets(), sinks(), metrics(),
                 [this](const routing::BackendIdentity& boundedAs) { rooms_.closeIdle(boundedAs); }};
  AsyncRequests asyncRequests_;
};

}  // namespace sluice::upstream
