// The pools of one cluster, and the choice of the pool that a request goes to.
//
// A Service has a pool for each of its endpoints, a Backend with a name has one for the name. Requests that go to
// chosen addresses of a name have pools of their own, one for each address: the connections of such a pool go to that
// address, whatever the name resolves to by then. Owned by the cluster; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/balance/balancer.h"
#include "proxy/upstream/balance/own_zone.h"
#include "proxy/upstream/pool.h"
#include "proxy/upstream/pool_owner.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

bool contains(const net::Addresses& addresses, const net::Address& address);
/// Returns true if the address is that of one of these endpoints; they may be null.
bool isAmong(const net::Address& address, const routing::Endpoints* endpoints);

/// The conditions for a choice among endpoints; see Wishes.
struct EndpointTerms {
  const Pool* avoided = nullptr;
  const net::Addresses* allowed = nullptr;
  const routing::Endpoints* failing = nullptr;
  std::optional<std::uint64_t> hash = std::nullopt;
};

class EndpointPools {
 public:
  /// Both outlive it. The cluster has its plan and its room already.
  EndpointPools(UpstreamContext& owner, PoolOwner& cluster);

  /// Returns true if the endpoints are those of a Service.
  bool areOfService() const { return cluster_.plan().endpoints.has_value(); }
  /// Returns true if a balancer chooses among the addresses of a name.
  bool balanceName() const { return balancesName_; }
  /// Returns true if a request may find another endpoint.
  bool haveChoice() const { return pools_.size() > 1 || ofAddress_.size() > 1 || addressCount_ > 1; }
  /// Returns the sum of Pool::vacancy() of those that are not ejected, without the moves since. It is counted once in a
  /// beat, unless it grows, because many pools may ask for it.
  std::size_t vacancy();
  /// Called when it may have grown.
  void recount() { vacancy_.reset(); }
  /// Called when a request was moved for room.
  void onMoved() {
    if (vacancy_ && vacancy_->left > 0) --vacancy_->left;
  }
  /// Called when no endpoint had room for a request that may go to all.
  void onNoRoom() {
    if (vacancy_) vacancy_->left = 0;
  }
  /// Returns how many endpoints there are, as far as that is known.
  std::size_t count() const { return std::max(pools_.size(), addressCount_); }
  /// Returns true if one of those that requests go to is not ejected.
  bool serve() const;
  bool empty() const { return pools_.empty(); }
  Pool& first() const { return *pools_.front(); }
  /// Returns the pool with that address; nullptr if there is none.
  Pool* at(const net::Address& address) const;
  /// Returns the addresses of a Service.
  net::Addresses addresses() const;
  /// Returns the addresses of a name to which there are connections.
  net::Addresses connected() const;
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const auto& pool : pools_) visit(*pool);
    for (const auto& pool : ofAddress_) visit(*pool);
  }

  /// Returns those endpoints that fail their health checks; nullptr if too few of the cluster's pass them for that to
  /// be heeded. `allowed` are the addresses of a name.
  const routing::Endpoints* heeded(const routing::Endpoints* failing, const net::Addresses* allowed) const;
  /// Returns nullptr if the terms exclude all endpoints. A name needs allowed addresses.
  Pool* choose(Elsewhere among, EndpointTerms terms);
  /// Called with the number of addresses when a balanced name was resolved.
  void onResolved(std::size_t addresses) { addressCount_ = addresses; }
  /// Called when the plan of the cluster has other endpoints than `before`. Returns the pools of those that have gone.
  std::vector<std::unique_ptr<Pool>> adopt(const routing::BackendPlan& before);
  void clear();

 private:
  struct Vacancy {
    base::MonotonicTime at;
    std::size_t left;
  };

  std::unique_ptr<Pool> make(const routing::Endpoint& endpoint);
  Pool* ofAddress(const net::Address& address) const;
  Pool& makeOfAddress(const net::Address& address);
  /// Returns the pool of the first of a name's addresses that serves, in the order in which a connection would try
  /// them.
  Pool* firstOf(const net::Addresses& allowed, Elsewhere among, const Pool* avoided);

  UpstreamContext& owner_;
  PoolOwner& cluster_;
  const bool bounded_;  // the endpoints have bounds of their own
  const bool balancesName_;
  /// The pools are in the order of the plan's endpoints; a Backend with a name has only one.
  std::vector<std::unique_ptr<Pool>> pools_;
  std::vector<std::string> names_;  // those of the endpoints, if consistent hashing needs them
  std::size_t addressCount_ = 0;    // of a balanced name, when it was resolved last
  Balancer balancer_;
  OwnZone ownZone_;                               // comes before balancer_, for the endpoints of a Service
  std::optional<Vacancy> vacancy_;                // at pools
  std::vector<std::unique_ptr<Pool>> ofAddress_;  // for chosen addresses of a name
};

}  // namespace sluice::upstream
