// OwnZone chooses among those endpoints of a cluster that are for the zone of the gateway (loadBalancing.zone: Prefer).
//
// Each worker has its own. The endpoints of the zone are looked for when those of the cluster change, and counted a few
// times a second, so that no request takes longer if there are many of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/terms/endpoint_zones.h"
#include "proxy/base/terms/load_balancing.h"
#include "proxy/upstream/balance/balancer.h"

namespace sluice::upstream {

class OwnZone {
 public:
  /// `zone` is that of the gateway; empty: unknown.
  OwnZone(const base::LoadBalancing& terms, const std::string& zone) : zone_(zone), balancer_(terms) {}

  /// Called when the endpoints of the cluster are others, with the zones and the name of each of them. Names are needed
  /// with consistent hashing alone.
  void renew(std::span<const base::EndpointZones> zones, std::span<const std::string> names);
  /// Does the same as Balancer::choose(), among the endpoints of the zone. Returns nullopt also if the terms demand
  /// that all endpoints get the request. `endpoints` also has
  /// - available(i): whether it serves, also if this request avoids it;
  /// - failing: what serves(i) and available(i) depend on, but for connections; null if nothing;
  /// - now.
  template <typename Endpoints, typename Random>
  std::optional<std::size_t> choose(const Endpoints& endpoints, std::optional<std::uint64_t> hash, Random&& random) {
    if (members_.empty() || !suffices(endpoints)) return std::nullopt;
    const auto chosen = balancer_.choose(Part<Endpoints>{endpoints, members_, names_}, hash, random);
    return chosen ? std::optional(members_[*chosen]) : std::nullopt;
  }

 private:
  static constexpr base::Duration kCountPeriod = std::chrono::milliseconds(100);

  /// The endpoints of the zone, as Balancer sees them.
  template <typename Endpoints>
  struct Part {
    const Endpoints& all;
    std::span<const std::size_t> members;
    std::span<const std::string> ownNames;

    std::size_t count() const { return members.size(); }
    bool serves(std::size_t i) const { return all.serves(members[i]); }
    std::size_t load(std::size_t i) const { return all.load(members[i]); }
    base::Duration age(std::size_t i) const { return all.age(members[i]); }
    std::span<const std::string> names() const { return ownNames; }
    static bool isWhole() { return true; }
  };
  /// Whether enough endpoints were available at that time.
  struct Count {
    base::MonotonicTime at;
    const void* failing;
    bool suffices;
  };

  /// Returns whether enough endpoints are available. If one is enough, the choice itself shows whether there is one.
  template <typename Endpoints>
  bool suffices(const Endpoints& endpoints) {
    const std::size_t least = balancer_.terms().minEndpointsInZone;
    if (least <= 1) return true;
    if (counted_ && counted_->failing == endpoints.failing && endpoints.now - counted_->at < kCountPeriod) {
      return counted_->suffices;
    }
    std::size_t available = 0;
    for (const std::size_t i : members_) {
      if (available < least && endpoints.available(i)) ++available;
    }
    counted_ = Count{endpoints.now, endpoints.failing, available >= least};
    return counted_->suffices;
  }

  const std::string zone_;
  Balancer balancer_;
  std::vector<std::size_t> members_;  // the indices of its endpoints; none if requests go to all endpoints
  std::vector<std::string> names_;    // those of its endpoints
  std::optional<Count> counted_;
};

}  // namespace sluice::upstream
