#include "proxy/upstream/endpoint_pools.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <span>
#include <utility>

namespace sluice::upstream {
namespace {

/// Returns the name of an endpoint, by which all replicas know it.
std::string nameOf(const net::Address& address) { return address.ip() + " " + std::to_string(address.port()); }

/// Returns the names of all endpoints if consistent hashing needs them.
std::vector<std::string> namesOf(const std::vector<std::unique_ptr<Pool>>& pools, const base::LoadBalancing& terms) {
  std::vector<std::string> names;
  for (const auto& pool : pools) {
    if (terms.hashes() && pool->endpoint() != nullptr) names.push_back(nameOf(*pool->endpoint()));
  }
  return names;
}

/// The conditions for a choice among pools.
struct PoolConditions {
  Elsewhere among;
  const Pool* avoided;
  const routing::Endpoints* failing;
  base::MonotonicTime now;
  bool shunsFull = false;  // another one may have room
  bool any = false;        // none serves, and one is tried nevertheless

  /// The pool of an address may be null.
  bool fit(const net::Address& address, const Pool* pool) const {
    if (any) return true;
    if (isAmong(address, failing)) return false;
    if (pool == nullptr) return among != Elsewhere::kConnected;
    if (pool == avoided || (shunsFull && pool->vacancy() == 0)) return false;
    return among == Elsewhere::kConnected ? pool->openConnections() > 0 : !pool->ejected(now);
  }
};

/// The endpoints of a Service, as Balancer sees them; `allowed` is null if a request may go to all.
struct ServiceEndpoints : PoolConditions {
  const std::vector<std::unique_ptr<Pool>>& pools;
  const std::vector<std::string>& allNames;
  const net::Addresses* allowed;

  std::size_t count() const { return pools.size(); }
  bool serves(std::size_t i) const {
    const net::Address& address = *pools[i]->endpoint();
    return (allowed == nullptr || contains(*allowed, address)) && fit(address, pools[i].get());
  }
  bool available(std::size_t i) const { return !pools[i]->ejected(now) && !isAmong(*pools[i]->endpoint(), failing); }
  std::size_t load(std::size_t i) const { return pools[i]->load(); }
  base::Duration age(std::size_t i) const { return now - pools[i]->since; }
  std::span<const std::string> names() const { return allNames; }
  static bool isWhole() { return true; }
};

/// The addresses of a name.
struct NameAddresses : PoolConditions {
  const net::Addresses& addresses;
  std::vector<Pool*> pools;
  std::vector<std::string> allNames;

  std::size_t count() const { return pools.size(); }
  bool serves(std::size_t i) const { return fit(addresses[i], pools[i]); }
  std::size_t load(std::size_t i) const { return pools[i] != nullptr ? pools[i]->load() : 0; }
  base::Duration age(std::size_t i) const {
    return pools[i] != nullptr ? now - pools[i]->since : base::Duration::max();
  }
  std::span<const std::string> names() const { return allNames; }
  static bool isWhole() { return false; }
};

/// Returns true if too few of the endpoints pass their health checks.
bool panics(std::size_t failing, std::size_t count, const base::LoadBalancing& terms) {
  return (count - std::min(count, failing)) * 100 < count * terms.panicThreshold;
}

}  // namespace

bool contains(const net::Addresses& addresses, const net::Address& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

bool isAmong(const net::Address& address, const routing::Endpoints* endpoints) {
  if (endpoints == nullptr) return false;
  const routing::Endpoint endpoint{address.ip(), address.port()};
  return std::binary_search(endpoints->begin(), endpoints->end(), endpoint);
}

EndpointPools::EndpointPools(UpstreamContext& owner, PoolOwner& cluster)
    : owner_(owner),
      cluster_(cluster),
      bounded_(cluster.plan().connection.perEndpoint.any()),
      balancesName_(!areOfService() && cluster.plan().connection.choosesAddress()),
      balancer_(cluster.plan().connection.balancing),
      ownZone_(balancer_.terms(), owner.zone()) {
  if (areOfService()) {
    for (const routing::Endpoint& endpoint : *cluster_.plan().endpoints) pools_.push_back(make(endpoint));
  } else {
    pools_.push_back(std::make_unique<Pool>(owner_, cluster_, std::nullopt));
  }
  names_ = namesOf(pools_, balancer_.terms());
  ownZone_.renew(cluster_.plan().zones, names_);
}

void EndpointPools::clear() {
  pools_.clear();
  ofAddress_.clear();
}

// compile() lets only addresses through.
std::unique_ptr<Pool> EndpointPools::make(const routing::Endpoint& endpoint) {
  const std::optional<net::Address> address = net::Address::parse(endpoint.ip, endpoint.port);
  assert(address);
  return std::make_unique<Pool>(owner_, cluster_, address);
}

// An address without a pool may have room.
std::size_t EndpointPools::vacancy() {
  const base::MonotonicTime now = owner_.worker().now();
  if (!vacancy_ || vacancy_->at != now) {
    vacancy_ = Vacancy{now, 0};
    each([&](const Pool& pool) {
      if (pool.places() != nullptr && !pool.ejected(now)) vacancy_->left += pool.vacancy();
    });
  }
  return vacancy_->left + addressCount_ - std::min(addressCount_, ofAddress_.size());
}

bool EndpointPools::serve() const {
  const base::MonotonicTime now = owner_.worker().now();
  const auto anyServes = [now](const auto& pools) {
    return std::any_of(pools.begin(), pools.end(), [now](const auto& pool) { return !pool->ejected(now); });
  };
  // Requests to a balanced name go to pools of its addresses.
  const bool ofAddresses = balanceName() && ofAddress_.size() >= std::max<std::size_t>(addressCount_, 1);
  return anyServes(pools_) && (!ofAddresses || anyServes(ofAddress_));
}

net::Addresses EndpointPools::addresses() const {
  net::Addresses all;
  for (const auto& pool : pools_) all.push_back(*pool->endpoint());
  return all;
}

net::Addresses EndpointPools::connected() const {
  net::Addresses some;
  for (const auto& pool : ofAddress_) {
    if (pool->openConnections() > 0) some.push_back(*pool->endpoint());
  }
  return some;
}

std::vector<std::unique_ptr<Pool>> EndpointPools::adopt(const routing::BackendPlan& before) {
  std::map<routing::Endpoint, std::unique_ptr<Pool>> known;
  for (std::size_t i = 0; i < pools_.size(); ++i) known.emplace((*before.endpoints)[i], std::move(pools_[i]));
  pools_.clear();
  for (const routing::Endpoint& endpoint : *cluster_.plan().endpoints) {
    const auto found = known.find(endpoint);
    pools_.push_back(found != known.end() ? std::move(found->second) : make(endpoint));
    if (found != known.end()) known.erase(found);
  }
  balancer_.renew();
  names_ = namesOf(pools_, balancer_.terms());
  ownZone_.renew(cluster_.plan().zones, names_);
  std::vector<std::unique_ptr<Pool>> gone;
  for (auto& [endpoint, pool] : known) gone.push_back(std::move(pool));
  return gone;
}

// compile() writes addresses in the form of Address.
Pool* EndpointPools::at(const net::Address& address) const {
  if (!areOfService()) return ofAddress(address);
  const std::vector<routing::Endpoint>& endpoints = *cluster_.plan().endpoints;
  const routing::Endpoint wanted{address.ip(), address.port()};
  const auto found = std::lower_bound(endpoints.begin(), endpoints.end(), wanted);
  if (found == endpoints.end() || *found != wanted) return nullptr;
  return pools_[static_cast<std::size_t>(found - endpoints.begin())].get();
}

Pool* EndpointPools::ofAddress(const net::Address& address) const {
  const auto found = std::find_if(ofAddress_.begin(), ofAddress_.end(),
                                  [&](const auto& pool) { return *pool->endpoint() == address; });
  return found != ofAddress_.end() ? found->get() : nullptr;
}

// A name may resolve to ever other addresses, so pools that are not used any more make room.
Pool& EndpointPools::makeOfAddress(const net::Address& address) {
  std::erase_if(ofAddress_,
                [this](const auto& pool) { return pool->unused(owner_.worker().now()) && !cluster_.isAwaited(*pool); });
  recount();
  return *ofAddress_.emplace_back(std::make_unique<Pool>(owner_, cluster_, address));
}

// Some of those that fail may be no endpoints any more.
const routing::Endpoints* EndpointPools::heeded(const routing::Endpoints* failing,
                                                const net::Addresses* allowed) const {
  if (failing == nullptr) return failing;
  const std::size_t all = areOfService() ? pools_.size() : allowed->size();
  if (!panics(failing->size(), all, balancer_.terms())) return failing;
  const auto isEndpoint = [this](const routing::Endpoint& each) {
    const std::vector<routing::Endpoint>& endpoints = *cluster_.plan().endpoints;
    return std::binary_search(endpoints.begin(), endpoints.end(), each);
  };
  const auto count = areOfService()
                         ? std::count_if(failing->begin(), failing->end(), isEndpoint)
                         : std::count_if(allowed->begin(), allowed->end(),
                                         [failing](const net::Address& each) { return isAmong(each, failing); });
  return panics(static_cast<std::size_t>(count), all, balancer_.terms()) ? nullptr : failing;
}

// An endpoint that fails its health checks is still better than one that takes no connections. A request waits for one
// that is full rather than going to such an endpoint.
Pool* EndpointPools::choose(Elsewhere among, EndpointTerms terms) {
  if (!areOfService() && !balanceName()) return firstOf(*terms.allowed, among, terms.avoided);
  const auto random = [this] { return owner_.random(); };
  const base::MonotonicTime now = owner_.worker().now();
  const auto chooseFrom = [&](auto endpoints) {
    auto chosen = balancer_.choose(endpoints, terms.hash, random);
    if (among == Elsewhere::kRoomy) return chosen;
    if (!chosen && std::exchange(endpoints.shunsFull, false)) chosen = balancer_.choose(endpoints, terms.hash, random);
    if (!chosen && endpoints.failing != nullptr && among != Elsewhere::kConnected) {
      endpoints.failing = nullptr;
      chosen = balancer_.choose(endpoints, terms.hash, random);
    }
    if (chosen || among != Elsewhere::kAny) return chosen;
    endpoints.any = true;
    return balancer_.choose(endpoints, terms.hash, random);
  };
  const PoolConditions conditions{.among = among,
                                  .avoided = terms.avoided,
                                  .failing = heeded(terms.failing, terms.allowed),
                                  .now = now,
                                  .shunsFull = bounded_};
  if (areOfService()) {
    const ServiceEndpoints endpoints{conditions, pools_, names_, terms.allowed};
    auto chosen = ownZone_.choose(endpoints, terms.hash, random);
    if (!chosen) chosen = chooseFrom(endpoints);
    return chosen ? pools_[*chosen].get() : nullptr;
  }
  NameAddresses addresses{conditions, *terms.allowed, {}, {}};
  for (const net::Address& address : *terms.allowed) {
    addresses.pools.push_back(ofAddress(address));
    if (terms.hash) addresses.allNames.push_back(nameOf(address));
  }
  const auto chosen = chooseFrom(addresses);
  if (!chosen) return nullptr;
  Pool* const pool = addresses.pools[*chosen];
  return pool != nullptr ? pool : &makeOfAddress((*terms.allowed)[*chosen]);
}

Pool* EndpointPools::firstOf(const net::Addresses& allowed, Elsewhere among, const Pool* avoided) {
  const auto poolFor = [this](const net::Address& address) {
    Pool* pool = ofAddress(address);
    return pool != nullptr ? pool : &makeOfAddress(address);
  };
  for (const net::Address& address : allowed) {
    const Pool* pool = ofAddress(address);
    if (pool != nullptr && pool == avoided) continue;
    const bool serves = among == Elsewhere::kConnected ? pool != nullptr && pool->openConnections() > 0
                                                       : pool == nullptr || !pool->ejected(owner_.worker().now());
    if (serves) return poolFor(address);
  }
  return among == Elsewhere::kAny && !allowed.empty() ? poolFor(allowed.front()) : nullptr;
}

}  // namespace sluice::upstream
