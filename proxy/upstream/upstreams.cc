#include "proxy/upstream/upstreams.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice::upstream {

Upstreams::Upstreams(const UpstreamParts& parts) : UpstreamContext(parts) {
  sinks().serve(User::kAsyncRequest, asyncRequests_, asyncRequests_);
}

// Connections detach from their clusters, so they go first.
Upstreams::~Upstreams() { shutdown(); }

Cluster& Upstreams::cluster(const std::shared_ptr<const routing::BackendPlan>& plan) {
  if (recent_ != nullptr && recent_->first == plan->identity) return *recent_->second;
  const auto found = clusters_.find(plan->identity);
  if (found == clusters_.end()) return makeCluster(plan);
  recent_ = &*found;
  return *found->second;
}

Cluster& Upstreams::makeCluster(const std::shared_ptr<const routing::BackendPlan>& plan) {
  // The configuration has no plan of a destination that a request has named.
  const auto& served = plan->requestedOf != nullptr ? plan : newest(plan);
  auto cluster = std::make_unique<Cluster>(*this, served);
  if (!isServed(served)) {
    cluster->retire();
    // A destination that has left the table since the request found it: it serves that request alone.
    if (served->requestedOf != nullptr) return *retired_.emplace_back(std::move(cluster));
  }
  return *clusters_.emplace(plan->identity, std::move(cluster)).first->second;
}

bool Upstreams::isServed(const std::shared_ptr<const routing::BackendPlan>& plan) const {
  if (plan->requestedOf != nullptr) return requested_.holds(plan->identity);
  return plans_.empty() || std::find(plans_.begin(), plans_.end(), plan) != plans_.end();
}

std::shared_ptr<const routing::BackendPlan> Upstreams::requested(const routing::RequestedTarget& target) const {
  auto known = requested_.find(target);
  return known != nullptr ? known : routing::requestedPlan(target);
}

bool Upstreams::takeRequested(const std::shared_ptr<const routing::BackendPlan>& plan, net::ClientNetwork client) {
  if (requested_.take(plan, client, requestedBound())) return true;
  onLimit(kRequestedLimit);
  return false;
}

bool Upstreams::isBusy(const routing::BackendPlan& plan) const {
  const auto found = clusters_.find(plan.identity);
  if (found != clusters_.end() && found->second->isBusy()) return true;
  return plan.http11 != nullptr && isBusy(*plan.http11);
}

void Upstreams::retire(const routing::BackendIdentity& identity) {
  const auto found = clusters_.find(identity);
  if (found == clusters_.end()) return;
  recent_ = nullptr;
  found->second->retire();
  retired_.push_back(std::move(found->second));
  clusters_.erase(found);
}

// The first request may be one of an exchange that began under an earlier snapshot, with earlier endpoints, or to a
// Backend that is not served any more.
const std::shared_ptr<const routing::BackendPlan>& Upstreams::newest(
    const std::shared_ptr<const routing::BackendPlan>& plan) const {
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const auto& each) { return each->identity == plan->identity; });
  return found != plans_.end() ? *found : plan;
}

void Upstreams::adopt(const UpstreamPolicy& policy, const Plans& plans) {
  setPolicy(policy);
  plans_ = plans;
  recent_ = nullptr;
  requested_.keepOf(plans);
  ByIdentity<const std::shared_ptr<const routing::BackendPlan>*> wanted;
  for (const auto& plan : plans) wanted.emplace(plan->identity, &plan);
  for (auto entry = clusters_.begin(); entry != clusters_.end();) {
    const auto found = wanted.find(entry->first);
    if (requested_.holds(entry->first)) {
      ++entry;
    } else if (found != wanted.end() && !entry->second->retired()) {
      if ((*found->second)->endpoints) entry->second->adopt(*found->second);
      ++entry;
    } else {
      entry->second->retire();
      retired_.push_back(std::move(entry->second));
      entry = clusters_.erase(entry);
    }
  }
  connections_.forEach([](Connection& connection) { connection.obeyGuard(); });
}

void Upstreams::drive() {
  // Requests come before the pools: one that leaves may be the last one of a cluster, and its pools must know that when
  // they settle.
  asyncRequests_.drive();
  for (std::size_t i = 0; i < dirtyPools_.size(); ++i) {
    dirtyPools_[i]->dirty = false;
    dirtyPools_[i]->settle();
  }
  dirtyPools_.clear();
  // Pools refer to their clusters, so they go first.
  std::erase_if(leaving_, [](const auto& pool) { return pool->abandoned(); });
  if (std::erase_if(retired_, [](const auto& cluster) { return cluster->abandoned(); }) > 0) left_ = true;
}

std::set<std::string_view> Upstreams::counting() const {
  std::set<std::string_view> names;
  for (const auto& [identity, cluster] : clusters_) names.insert(cluster->plan().name);
  for (const auto& cluster : retired_) names.insert(cluster->plan().name);
  return names;
}

void Upstreams::shutdown() {
  connections_.forEach([](Connection& connection) { connection.pool().onGone(connection, nullptr); });
  connections_.clear();
  dirtyPools_.clear();
}

void Upstreams::createConnection(Pool& pool, net::Addresses addresses) {
  connections_.create(*this, connections_, pool, std::move(addresses));
}

void Upstreams::markDirty(Pool& pool) {
  if (std::exchange(pool.dirty, true)) return;
  dirtyPools_.push_back(&pool);
}

}  // namespace sluice::upstream
