#include "proxy/upstream/cluster.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/pins.h"

namespace sluice::upstream {
namespace {

// A request tries at most this many dead endpoints.
constexpr unsigned kMostTries = 4;

std::vector<std::string> alpnFor(routing::UpstreamProtocol protocol) {
  switch (protocol) {
    case routing::UpstreamProtocol::kAuto:
      return {"h2", "http/1.1"};
    case routing::UpstreamProtocol::kHttp11:
      return {"http/1.1"};
    case routing::UpstreamProtocol::kHttp2:
      return {"h2"};
    case routing::UpstreamProtocol::kOpaque:
      return {};
  }
  return {};
}

std::vector<std::string> splitAtColons(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find(':')));
    text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
  }
  return parts;
}

net::TlsClientSettings tlsSettings(const routing::BackendPlan& plan) {
  net::TlsClientSettings settings;
  settings.serverName = plan.tls->serverName;
  settings.subjectAltNames = plan.tls->subjectAltNames;
  settings.trust = plan.tls->trust;
  settings.clientCertificate = plan.tls->clientCertificate;
  settings.clientKey = plan.tls->clientKey;
  settings.insecureSkipVerify = plan.tls->insecureSkipVerify;
  settings.spkiPins = plan.tls->spkiPins;
  if (!plan.tls->minVersion.empty()) settings.minVersion = plan.tls->minVersion;
  settings.cipherSuites = splitAtColons(plan.tls->cipherSuites);
  settings.alpn = alpnFor(plan.protocol);
  return settings;
}

bool contains(const net::Addresses& addresses, const net::Address& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

/// Returns true if the pool is that of one of these endpoints.
bool fails(const Pool& pool, const routing::Endpoints* failing) {
  if (failing == nullptr) return false;
  const routing::Endpoint endpoint{pool.endpoint()->ip(), pool.endpoint()->port()};
  return std::binary_search(failing->begin(), failing->end(), endpoint);
}

base::Error noEndpoint() {
  return base::Error::upstream(base::ErrorType::kDestinationUnavailable, "the backend has no endpoint that is ready");
}

/// Acquires a connection to one of the addresses that policies let the request dial.
base::Result<base::Handle<Connection>> acquireJudged(Cluster& cluster, http::Token waiter, const Wishes& wishes) {
  auto addresses = wishes.allowed != nullptr ? base::Result<net::Addresses>(*wishes.allowed) : cluster.resolve(waiter);
  if (!addresses.ok()) return addresses.error();
  if (addresses->empty()) return base::Handle<Connection>{};
  if (!wishes.dial->narrow(*addresses)) return routing::egressDenied();
  Wishes judged = wishes;
  judged.allowed = &*addresses;
  judged.dial = nullptr;
  return cluster.acquire(waiter, judged);
}

}  // namespace

Cluster::Cluster(UpstreamContext& owner, std::shared_ptr<const routing::BackendPlan> plan)
    : owner_(owner),
      plan_(std::move(plan)),
      boundedAs_(plan_->boundedAs()),
      room_(owner.rooms().join(*plan_)),
      budget_(room_.budget()),
      idleGauge_(owner.metrics().at<observe::Metric::kClientOpenConnections>(plan_->name, "idle")),
      activeGauge_(owner.metrics().at<observe::Metric::kClientOpenConnections>(plan_->name, "active")) {
  if (plan_->endpoints) {
    for (const routing::Endpoint& endpoint : *plan_->endpoints) pools_.push_back(makePool(endpoint));
  } else {
    pools_.push_back(std::make_unique<Pool>(owner_, *this, std::nullopt));
  }
  if (!plan_->tls) return;
  auto context = net::TlsClientContext::make(tlsSettings(*plan_));
  if (context.ok()) {
    tls_ = std::move(*context);
  } else {
    broken_ = context.error();
    ++owner_.failingOf(*plan_);
  }
}

Cluster::~Cluster() {
  if (broken_) --owner_.failingOf(*plan_);
  countWaiters(-static_cast<int>(waiting_));
  // The pools leave the room before the cluster does.
  pools_.clear();
  ofAddress_.clear();
  owner_.rooms().leave(boundedAs_);
}

// compile() lets only addresses through.
std::unique_ptr<Pool> Cluster::makePool(const routing::Endpoint& endpoint) {
  const std::optional<net::Address> address = net::Address::parse(endpoint.ip, endpoint.port);
  assert(address);
  return std::make_unique<Pool>(owner_, *this, address);
}

Place Cluster::enter(http::Token request, net::ClientNetwork client, bool seeks) {
  const Place place = places().enter(request, client, seeks);
  if (place != Place::kNone) ++users_;
  return place;
}

bool Cluster::serves() const {
  const base::MonotonicTime now = owner_.worker().now();
  return !broken_ && std::any_of(pools_.begin(), pools_.end(), [now](const auto& pool) { return !pool->ejected(now); });
}

void Cluster::leave(http::Token request, Place place) {
  if (place == Place::kSought) abandon(request);  // it may have asked for addresses
  places().leave(request, place);
  --users_;
  if (!deserted()) return;
  eachPool([](Pool& pool) { pool.markDirty(); });
}

void Cluster::adopt(const std::shared_ptr<const routing::BackendPlan>& plan) {
  const bool same = plan->endpoints == plan_->endpoints;
  const std::shared_ptr<const routing::BackendPlan> before = std::exchange(plan_, plan);
  if (same) return;
  std::map<routing::Endpoint, std::unique_ptr<Pool>> known;
  for (std::size_t i = 0; i < pools_.size(); ++i) known.emplace((*before->endpoints)[i], std::move(pools_[i]));
  pools_.clear();
  for (const routing::Endpoint& endpoint : *plan_->endpoints) {
    const auto found = known.find(endpoint);
    pools_.push_back(found != known.end() ? std::move(found->second) : makePool(endpoint));
    if (found != known.end()) known.erase(found);
  }
  for (auto& [endpoint, pool] : known) {
    pool->retire();
    std::erase_if(placements_, [gone = pool.get()](const auto& each) { return each.second.pool == gone; });
    owner_.keepUntilEmpty(std::move(pool));
  }
}

void Cluster::detach() {
  --attached_;
  if (waiting_ == 0 || !hasChoice()) return;
  // There is room now for a connection of any pool, whichever pool had this one.
  eachPool([](Pool& pool) { pool.markDirty(); });
}

void Cluster::retire() {
  retired_ = true;
  eachPool([](Pool& pool) { pool.markDirty(); });
}

base::Result<net::Addresses> Cluster::resolve(http::Token waiter) {
  if (broken_) return *broken_;
  if (pools_.empty()) return noEndpoint();
  Pool& any = *pools_.front();
  net::Addresses found;
  if (isBalanced()) {
    for (const auto& pool : pools_) found.push_back(*pool->endpoint());
  } else if (const base::Result<net::Addresses>* known = any.addresses(); known == nullptr) {
    if (!mayWait()) return tooManyWait();
    any.ask(waiter);
    return found;
  } else if (!known->ok()) {
    return known->error();
  } else {
    found = net::chooseAddresses(any.dnsStrategy(), **known);
    for (net::Address& address : found) address = address.withPort(plan_->port);
  }
  net::Addresses admitted = found;
  std::erase_if(admitted, [&](const net::Address& address) {
    if (any.permits(address)) return false;
    owner_.onDenied(address);
    return true;
  });
  if (admitted.empty()) return prohibited(found.back());
  return admitted;
}

base::Result<base::Handle<Connection>> Cluster::acquire(http::Token waiter, const Wishes& wishes) {
  if (wishes.dial != nullptr) {
    Wishes known = wishes;
    // A request that waits for a connection is not resolved again: its name may lead elsewhere by now.
    const auto found = placements_.find(waiter);
    if (found != placements_.end() && found->second.allowed) known.allowed = &*found->second.allowed;
    return acquireJudged(*this, waiter, known);
  }
  if (broken_) return *broken_;
  if (!owner_.pins().empty()) {
    Connection* own = wishes.client != http::kNoToken ? owner_.pins().find(wishes.client, *this) : nullptr;
    const bool allowed = own != nullptr && (wishes.allowed == nullptr || contains(*wishes.allowed, own->peer()));
    if (allowed) {
      abandon(waiter);  // it may have been notified of another connection
      return own->handle();
    }
  }
  const bool hasPlace = isBalanced() || wishes.allowed != nullptr;
  Pool* pool = hasPlace ? place(waiter, wishes) : pools_.front().get();
  if (pool == nullptr) return noEndpoint();
  if (Connection* connection = pool->take()) {
    if (hasPlace) placements_.erase(waiter);
    return connection->handle();
  }
  if (!mayWait()) {
    placements_.erase(waiter);
    return tooManyWait();
  }
  if (hasPlace) {
    const auto allowed = wishes.allowed != nullptr ? std::optional(*wishes.allowed) : std::nullopt;
    placements_.try_emplace(waiter, Placement{pool, 1, allowed, wishes.failing});
  }
  pool->wait(waiter);
  return base::Handle<Connection>{};
}

bool Cluster::mayWait() const {
  const std::optional<std::uint32_t>& bound = plan_->connection.bounds.pendingRequests;
  return bound ? budget_.pending.load(std::memory_order_relaxed) < *bound : waiting_ < owner_.pendingBound();
}

// A negative `more` becomes a large unsigned number, so that the addition wraps around and subtracts.
void Cluster::countWaiters(int more) {
  waiting_ += static_cast<std::size_t>(more);
  if (!plan_->connection.bounds.pendingRequests) return;
  budget_.pending.fetch_add(static_cast<std::uint64_t>(static_cast<std::int64_t>(more)), std::memory_order_relaxed);
}

base::Error Cluster::tooManyWait() {
  const std::string_view limit = pendingLimit(plan_->connection.bounds);
  owner_.onLimit(limit);
  return base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                               "too many requests wait for a connection to the backend")
      .ofLimit(limit);
}

void Cluster::abandon(http::Token waiter) {
  const auto found = placements_.find(waiter);
  if (found != placements_.end()) {
    found->second.pool->abandon(waiter);
    placements_.erase(found);
  } else if (!isBalanced()) {
    pools_.front()->abandon(waiter);
  }
}

ConnectionWait Cluster::waitOf(http::Token waiter) const {
  const auto found = placements_.find(waiter);
  if (found != placements_.end()) return found->second.pool->waitOf(waiter);
  return pools_.empty() ? ConnectionWait{} : pools_.front()->waitOf(waiter);
}

// A request that was notified by a pool comes back to that pool, because elsewhere it would have to wait again.
Pool* Cluster::place(http::Token waiter, const Wishes& wishes) {
  if (const auto found = placements_.find(waiter); found != placements_.end()) return found->second.pool;
  const auto allows = [&wishes](const net::Address& address) {
    return wishes.allowed == nullptr || contains(*wishes.allowed, address);
  };
  Pool* const preferred =
      wishes.preferred != nullptr && allows(*wishes.preferred) ? poolAt(*wishes.preferred) : nullptr;
  const routing::Endpoints* const failing = wishes.failing.get();
  const bool serves = preferred != nullptr && !preferred->ejected(owner_.worker().now()) && !fails(*preferred, failing);
  if (serves) return preferred;
  return choose(Elsewhere::kAny,
                {wishes.avoided != nullptr ? poolAt(*wishes.avoided) : nullptr, wishes.allowed, failing});
}

// compile() writes addresses in the form of Address.
Pool* Cluster::poolAt(const net::Address& address) const {
  if (!isBalanced()) return ofAddress(address);
  const std::vector<routing::Endpoint>& endpoints = *plan_->endpoints;
  const routing::Endpoint wanted{address.ip(), address.port()};
  const auto found = std::lower_bound(endpoints.begin(), endpoints.end(), wanted);
  if (found == endpoints.end() || *found != wanted) return nullptr;
  return pools_[static_cast<std::size_t>(found - endpoints.begin())].get();
}

Pool* Cluster::ofAddress(const net::Address& address) const {
  const auto found = std::find_if(ofAddress_.begin(), ofAddress_.end(),
                                  [&](const auto& pool) { return *pool->endpoint() == address; });
  return found != ofAddress_.end() ? found->get() : nullptr;
}

// A name may resolve to ever other addresses, so pools that are not used any more make room.
Pool& Cluster::makeOfAddress(const net::Address& address) {
  std::erase_if(ofAddress_, [this](const auto& pool) {
    return pool->unused(owner_.worker().now()) &&
           std::none_of(placements_.begin(), placements_.end(),
                        [&](const auto& each) { return each.second.pool == pool.get(); });
  });
  return *ofAddress_.emplace_back(std::make_unique<Pool>(owner_, *this, address));
}

bool Cluster::relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) {
  const auto found = placements_.find(waiter);
  if (found == placements_.end()) return false;
  Placement& placement = found->second;
  const net::Addresses* allowed = placement.allowed ? &*placement.allowed : nullptr;
  const Terms terms{&from, allowed, placement.failing.get()};
  Pool* next = placement.tries < kMostTries ? choose(elsewhere, terms) : nullptr;
  if (next == nullptr) return false;
  placement.pool = next;
  ++placement.tries;
  next->wait(waiter);
  return true;
}

Pool* Cluster::choose(Elsewhere among, const Terms& terms) {
  if (terms.allowed == nullptr) return spread(pools_, among, terms);
  if (!isBalanced()) return firstOf(*terms.allowed, among, terms.avoided);
  std::vector<Pool*> left;
  for (const net::Address& address : *terms.allowed) {
    if (Pool* pool = poolAt(address)) left.push_back(pool);
  }
  return spread(left, among, terms);
}

template <typename Pools>
Pool* Cluster::spread(const Pools& pools, Elsewhere among, const Terms& terms) {
  const std::size_t count = pools.size();
  if (count == 0) return nullptr;
  const std::uint64_t random = owner_.random();
  const std::size_t first = (random >> 32) * count >> 32;
  const std::size_t second = count == 1 ? first : (first + 1 + ((random & 0xFFFFFFFF) * (count - 1) >> 32)) % count;
  const base::MonotonicTime now = owner_.worker().now();
  const auto serves = [&](const Pool& pool) {
    if (&pool == terms.avoided || fails(pool, terms.failing)) return false;
    return among == Elsewhere::kConnected ? pool.openConnections() > 0 : !pool.ejected(now);
  };
  Pool& one = *pools[first];
  Pool& other = *pools[second];
  const bool oneServes = serves(one);
  const bool otherServes = serves(other);
  if (oneServes && otherServes) return other.load() < one.load() ? &other : &one;
  if (oneServes || otherServes) return oneServes ? &one : &other;
  for (std::size_t i = 0; i < count; ++i) {
    Pool& each = *pools[(first + i) % count];
    if (serves(each)) return &each;
  }
  // An endpoint that fails its health checks is still better than one that takes no connections.
  if (terms.failing != nullptr && among != Elsewhere::kConnected) {
    return spread(pools, among, {terms.avoided, terms.allowed, nullptr});
  }
  return among == Elsewhere::kAny ? &one : nullptr;
}

Pool* Cluster::firstOf(const net::Addresses& allowed, Elsewhere among, const Pool* avoided) {
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

// A Backend with open connections is not unreachable, even if another connection fails.
void Cluster::onUnreached(const base::Error& error) {
  if (plan_->reach == nullptr || error.type == base::ErrorType::kDestinationIpProhibited) return;
  bool serves = false;
  eachPool([&](const Pool& pool) { serves = serves || pool.openConnections() > pool.connecting(); });
  if (!serves) plan_->reach->onFailure(processing::causeOf(error), owner_.worker().clock().wallNow());
}

void Cluster::onUse(ConnectionUse before, ConnectionUse now) {
  observe::Gauge* const gauges[] = {nullptr, &idleGauge_, &activeGauge_};  // by use
  if (observe::Gauge* left = gauges[static_cast<std::size_t>(before)]) left->add(-1);
  if (observe::Gauge* entered = gauges[static_cast<std::size_t>(now)]) entered->add(1);
}

}  // namespace sluice::upstream
