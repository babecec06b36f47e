#include "proxy/upstream/upstreams.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace sluice::upstream {

// Connections tell their cluster when they go, so they go first.
Upstreams::~Upstreams() { shutdown(); }

Cluster& Upstreams::cluster(const std::shared_ptr<const routing::BackendPlan>& plan) {
  if (const auto found = byPlan_.find(plan.get()); found != byPlan_.end()) return *found->second;
  auto& cluster = byIdentity_[plan->identity];
  if (!cluster) cluster = std::make_unique<Cluster>(*this, plan);
  byPlan_.emplace(plan.get(), cluster.get());
  return *cluster;
}

void Upstreams::adopt(const UpstreamPolicy& policy, const Plans& plans) {
  parts_.policy = policy;
  byPlan_.clear();
  std::unordered_set<std::string_view> wanted;
  for (const auto& plan : plans) wanted.insert(plan->identity);
  for (auto entry = byIdentity_.begin(); entry != byIdentity_.end();) {
    if (wanted.contains(entry->first)) {
      ++entry;
    } else {
      entry->second->retire();
      retired_.push_back(std::move(entry->second));
      entry = byIdentity_.erase(entry);
    }
  }
  connections_.forEach([](Connection& connection) { connection.obeyGuard(); });
}

void Upstreams::drive() {
  for (std::size_t i = 0; i < dirtyClusters_.size(); ++i) {
    dirtyClusters_[i]->dirty = false;
    dirtyClusters_[i]->settle();
  }
  dirtyClusters_.clear();
  std::erase_if(retired_, [](const auto& cluster) { return cluster->abandoned(); });
}

void Upstreams::shutdown() {
  connections_.forEach([](Connection& connection) { connection.cluster().onGone(connection, nullptr); });
  connections_.clear();
  dirtyClusters_.clear();
}

void Upstreams::createConnection(Cluster& cluster, const net::Addresses& addresses) {
  connections_.create(*this, cluster, addresses);
}

void Upstreams::markDirty(Cluster& cluster) {
  if (std::exchange(cluster.dirty, true)) return;
  dirtyClusters_.push_back(&cluster);
}

}  // namespace sluice::upstream
