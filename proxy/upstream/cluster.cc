#include "proxy/upstream/cluster.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/dial_race.h"
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

std::optional<std::uint64_t> valueOf(const std::uint64_t* hash) {
  return hash != nullptr ? std::optional(*hash) : std::nullopt;
}

base::Error noEndpoint() {
  return base::Error::upstream(base::ErrorType::kDestinationUnavailable, "the backend has no endpoint that is ready");
}

base::Error tooManyWait(UpstreamContext& owner, std::string_view limit) {
  owner.onLimit(limit);
  return base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                               "too many requests wait for a connection to the backend")
      .ofLimit(limit);
}

/// Acquires a connection to one of the addresses that policies let the request dial.
base::Result<base::Handle<Connection>> acquireJudged(Cluster& cluster, http::Token waiter, const Wishes& wishes,
                                                     EndpointSeat* seat) {
  auto addresses = wishes.allowed != nullptr ? base::Result<net::Addresses>(*wishes.allowed) : cluster.resolve(waiter);
  if (!addresses.ok()) return addresses.error();
  if (addresses->empty()) return base::Handle<Connection>{};
  if (!wishes.dial->narrow(*addresses)) {
    cluster.abandon(waiter);  // it may have been moved to another endpoint
    return routing::egressDenied();
  }
  Wishes judged = wishes;
  judged.allowed = &*addresses;
  judged.dial = nullptr;
  return cluster.acquire(waiter, judged, seat);
}

}  // namespace

Cluster::Cluster(UpstreamContext& owner, std::shared_ptr<const routing::BackendPlan> plan)
    : owner_(owner),
      plan_(std::move(plan)),
      boundedAs_(plan_->boundedAs()),
      room_(owner.rooms().join(roomTermsOf(*plan_))),
      budget_(room_.budget()),
      idleGauge_(owner.metrics().at<observe::Metric::kClientOpenConnections>(plan_->name, "idle")),
      activeGauge_(owner.metrics().at<observe::Metric::kClientOpenConnections>(plan_->name, "active")),
      pools_(owner, *this),
      reach_(owner.worker().clock(), plan_) {
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
  owner_.rooms().leave(boundedAs_);
}

Place Cluster::enter(http::Token request, net::ClientNetwork client, bool seeks) {
  const Place place = places().enter(request, client, seeks);
  if (place != Place::kNone) ++users_;
  return place;
}

void Cluster::leave(http::Token request, Place place) {
  if (place == Place::kSought) abandon(request);  // it may have asked for addresses
  places().leave(request, place);
  --users_;
  if (!seekers_.empty()) wakeSeeker();
  if (!deserted()) return;
  pools_.each([](Pool& pool) { pool.markDirty(); });
}

void Cluster::adopt(const std::shared_ptr<const routing::BackendPlan>& plan) {
  const bool same = plan->endpoints == plan_->endpoints && plan->zones == plan_->zones;
  const std::shared_ptr<const routing::BackendPlan> before = std::exchange(plan_, plan);
  if (same) return;
  for (auto& pool : pools_.adopt(*before)) {
    pool->retire();
    std::erase_if(placements_, [this, gone = pool.get()](const auto& each) {
      if (each.second.pool != gone) return false;
      if (each.second.seeks) owner_.sinks().onPoolReady(each.first);
      return true;
    });
    owner_.keepUntilEmpty(std::move(pool));
  }
  onVacancy();
}

void Cluster::onVacancy() {
  pools_.recount();
  if (waiting_ == 0 || !hasChoice()) return;
  pools_.each([](Pool& pool) {
    if (!pool.waiting().empty()) pool.markDirty();
  });
}

void Cluster::retire() {
  retired_ = true;
  pools_.each([](Pool& pool) { pool.markDirty(); });
}

base::Result<net::Addresses> Cluster::resolve(http::Token waiter) {
  if (broken_) return *broken_;
  if (pools_.empty()) return noEndpoint();
  Pool& any = pools_.first();
  net::Addresses found;
  if (pools_.areOfService()) {
    found = pools_.addresses();
  } else if (const base::Result<net::Addresses>* known = any.addresses(); known == nullptr) {
    if (const auto limit = waitBarrier(nullptr); !limit.empty()) return tooManyWait(owner_, limit);
    any.waiting().addAsker(waiter);
    return found;
  } else if (!known->ok()) {
    reach_.onUnreached(known->error());
    return known->error();
  } else {
    found = dialOrder(owner_, *plan_, **known);
  }
  net::Addresses admitted = found;
  std::erase_if(admitted, [&](const net::Address& address) {
    if (any.permits(address)) return false;
    owner_.onDenied(address);
    return true;
  });
  if (admitted.empty()) {
    base::Error error = prohibited(found.back());
    reach_.onUnreached(error);
    return error;
  }
  if (pools_.balanceName()) pools_.onResolved(admitted.size());
  return admitted;
}

base::Result<base::Handle<Connection>> Cluster::acquire(http::Token waiter, const Wishes& wishes, EndpointSeat* seat) {
  if (wishes.dial != nullptr) {
    Wishes known = wishes;
    // A request that waits for a connection is not resolved again: its name may lead elsewhere by now.
    const auto found = placements_.find(waiter);
    if (found != placements_.end() && found->second.allowed) known.allowed = &*found->second.allowed;
    return acquireJudged(*this, waiter, known, seat);
  }
  if (broken_) return *broken_;
  if (!owner_.pins().empty()) {
    Connection* own = wishes.client != http::kNoToken ? owner_.pins().find(wishes.client, *this) : nullptr;
    const bool allowed = own != nullptr && (wishes.allowed == nullptr || contains(*wishes.allowed, own->peer()));
    if (allowed) {
      abandon(waiter);  // it may have been notified of another connection
      const auto taken = takePinned(waiter, seat, *own);
      if (!taken.ok()) return taken.error();
      return *taken ? own->handle() : base::Handle<Connection>{};
    }
  }
  if (pools_.balanceName() && wishes.allowed == nullptr) {
    Wishes known = wishes;
    if (const auto found = placements_.find(waiter); found != placements_.end()) {
      // A request that waits for a connection is not resolved again.
      known.allowed = &*found->second.allowed;
      return acquire(waiter, known, seat);
    }
    auto addresses = resolve(waiter);
    if (!addresses.ok()) {
      // The connections that there are still serve.
      net::Addresses connected = pools_.connected();
      if (connected.empty()) return addresses.error();
      addresses = std::move(connected);
    }
    if (addresses->empty()) return base::Handle<Connection>{};
    known.allowed = &*addresses;
    return acquire(waiter, known, seat);
  }
  const bool hasPlace = pools_.areOfService() || wishes.allowed != nullptr;
  Pool* pool = hasPlace ? place(waiter, wishes) : &pools_.first();
  if (pool == nullptr) return noEndpoint();
  if (pool->places() != nullptr && seat != nullptr) {
    const auto taken = takeEndpoint(waiter, wishes, *seat, *pool);
    if (!taken.ok()) return taken.error();
    pool = *taken;
    if (pool == nullptr) return base::Handle<Connection>{};
  }
  if (Connection* connection = pool->take()) {
    if (hasPlace) placements_.erase(waiter);
    return connection->handle();
  }
  if (const auto limit = waitBarrier(pool); !limit.empty()) {
    placements_.erase(waiter);
    return tooManyWait(owner_, limit);
  }
  if (hasPlace) remember(waiter, *pool, wishes);
  pool->wait(waiter);
  return base::Handle<Connection>{};
}

Cluster::Placement& Cluster::remember(http::Token waiter, Pool& pool, const Wishes& wishes) {
  const auto allowed = wishes.allowed != nullptr ? std::optional(*wishes.allowed) : std::nullopt;
  const bool stays = wishes.preferred != nullptr && pool.endpoint() != nullptr && *pool.endpoint() == *wishes.preferred;
  return placements_.try_emplace(waiter, Placement{&pool, 1, allowed, wishes.failing, valueOf(wishes.hash), stays})
      .first->second;
}

base::Result<Pool*> Cluster::takeEndpoint(http::Token waiter, const Wishes& wishes, EndpointSeat& seat, Pool& pool) {
  pool.waiting().arrive(waiter);
  Pool* chosen = &pool;
  if (!seat.takeFree(pool.places(), waiter)) {
    // Other requests may have taken the last place since the choice, or another endpoint may have one by now.
    const auto found = placements_.find(waiter);
    Pool* other = nullptr;
    if (found == placements_.end()) {
      other = place(waiter, wishes);
    } else if (!found->second.stays) {
      other = choose(Elsewhere::kRoomy, found->second, &pool);
    }
    if (other != nullptr) chosen = other;
    if (!seat.takeFree(chosen->places(), waiter)) {
      if (Pool* const own = poolOf(seat, wishes)) chosen = own;
    }
    if (found != placements_.end()) found->second.pool = chosen;
    const auto taken = seat.take(chosen->places(), waiter);
    if (!taken.ok()) {
      placements_.erase(waiter);
      owner_.onLimit(EndpointPlaces::kRequestLimit);
      return taken.error();
    }
    if (!*taken) {
      if (!std::exchange(remember(waiter, *chosen, wishes).seeks, true)) seekers_.push_back(waiter);
      return nullptr;
    }
  }
  if (const auto found = placements_.find(waiter); found != placements_.end()) found->second.seeks = false;
  return chosen;
}

// A request that was moved, or looked for a place elsewhere, in vain, loses nothing.
Pool* Cluster::poolOf(const EndpointSeat& seat, const Wishes& wishes) const {
  Pool* own = nullptr;
  if (!seat.isTaken()) return own;
  pools_.each([&](Pool& pool) {
    if (pool.places() != nullptr && seat.isAt(*pool.places())) own = &pool;
  });
  if (own == nullptr || own->ejected(owner_.worker().now())) return nullptr;
  if (wishes.allowed != nullptr && !contains(*wishes.allowed, *own->endpoint())) return nullptr;
  return seat.seeks() || own->openConnections() > 0 ? own : nullptr;
}

void Cluster::wakeSeeker() {
  while (!seekers_.empty()) {
    const http::Token oldest = seekers_.front();
    seekers_.pop_front();
    const auto found = placements_.find(oldest);
    if (found == placements_.end() || !found->second.seeks || !owner_.sinks().onPoolReady(oldest)) continue;
    seekers_.push_back(oldest);
    return;
  }
}

base::Result<bool> Cluster::takePinned(http::Token waiter, EndpointSeat* seat, const Connection& own) {
  if (seat == nullptr) return true;
  const Pool* pool = pools_.at(own.peer());
  if (pool == nullptr) seat->leave(waiter);  // it may seek a place at the endpoint, which has gone
  if (pool == nullptr || pool->places() == nullptr) return true;
  auto taken = seat->take(pool->places(), waiter);
  if (!taken.ok()) owner_.onLimit(EndpointPlaces::kRequestLimit);
  return taken;
}

// Requests that wait for an endpoint that is full leave room for those to the others, for each as much.
std::string_view Cluster::waitBarrier(const Pool* pool) const {
  const base::CircuitBreakerBounds& bounds = plan_->connection.bounds;
  const std::uint64_t bound = bounds.pendingRequests ? *bounds.pendingRequests : owner_.pendingBound();
  const std::uint64_t waiting = bounds.pendingRequests ? budget_.pending.load(std::memory_order_relaxed) : waiting_;
  if (waiting >= bound) return pendingLimit(bounds);
  const EndpointPlaces* places = pool != nullptr ? pool->places().get() : nullptr;
  if (places == nullptr) return {};
  if (!places->mayWait()) return EndpointPlaces::kPendingLimit;
  const std::uint64_t share = (bound + pools_.count() - 1) / pools_.count();
  return pool->vacancy() == 0 && places->waiting() >= share ? pendingLimit(bounds) : std::string_view{};
}

// A negative `more` becomes a large unsigned number, so that the addition wraps around and subtracts.
void Cluster::countWaiters(int more) {
  waiting_ += static_cast<std::size_t>(more);
  if (!plan_->connection.bounds.pendingRequests) return;
  budget_.pending.fetch_add(static_cast<std::uint64_t>(static_cast<std::int64_t>(more)), std::memory_order_relaxed);
}

void Cluster::abandon(http::Token waiter) {
  const auto found = placements_.find(waiter);
  if (found != placements_.end()) {
    found->second.pool->abandon(waiter);
    placements_.erase(found);
  } else if (!pools_.areOfService()) {
    pools_.first().abandon(waiter);
  }
}

ConnectionWait Cluster::waitOf(http::Token waiter) const {
  const auto found = placements_.find(waiter);
  if (found != placements_.end()) return found->second.pool->waitOf(waiter);
  return pools_.empty() ? ConnectionWait{} : pools_.first().waitOf(waiter);
}

// A request that was notified by a pool comes back to that pool, because elsewhere it would have to wait again.
Pool* Cluster::place(http::Token waiter, const Wishes& wishes) {
  if (const auto found = placements_.find(waiter); found != placements_.end()) return found->second.pool;
  const auto allows = [&wishes](const net::Address& address) {
    return wishes.allowed == nullptr || contains(*wishes.allowed, address);
  };
  Pool* const preferred =
      wishes.preferred != nullptr && allows(*wishes.preferred) ? pools_.at(*wishes.preferred) : nullptr;
  const routing::Endpoints* const failing = wishes.failing.get();
  const bool serves = preferred != nullptr && !preferred->ejected(owner_.worker().now()) &&
                      !isAmong(*wishes.preferred, pools_.heeded(failing, wishes.allowed));
  if (serves) return preferred;
  return pools_.choose(Elsewhere::kAny, {wishes.avoided != nullptr ? pools_.at(*wishes.avoided) : nullptr,
                                         wishes.allowed, failing, valueOf(wishes.hash)});
}

// A move for room is none of the tries. Such moves end, because each needs room that no other request is to get.
bool Cluster::relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) {
  const auto found = placements_.find(waiter);
  if (found == placements_.end()) return false;
  Placement& placement = found->second;
  const bool forRoom = elsewhere == Elsewhere::kRoomy;
  if (placement.tries >= kMostTries || (forRoom && (placement.stays || vacancy() == 0))) return false;
  Pool* next = choose(elsewhere, placement, &from);
  if (next == nullptr && forRoom && !placement.allowed) pools_.onNoRoom();
  if (next == nullptr) return false;
  placement.pool = next;
  if (forRoom) {
    pools_.onMoved();
  } else {
    ++placement.tries;
  }
  if (next->places() == nullptr) {
    next->wait(waiter);
  } else if (owner_.sinks().onPoolReady(waiter)) {  // it takes a place there first
    next->waiting().expect(waiter);
  } else {
    placements_.erase(found);
  }
  return true;
}

Pool* Cluster::choose(Elsewhere among, const Placement& placement, const Pool* avoided) {
  const net::Addresses* allowed = placement.allowed ? &*placement.allowed : nullptr;
  return pools_.choose(among, {avoided, allowed, placement.failing.get(), placement.hash});
}

bool Cluster::isAwaited(const Pool& pool) const {
  return std::any_of(placements_.begin(), placements_.end(),
                     [&pool](const auto& each) { return each.second.pool == &pool; });
}

void Cluster::onUse(ConnectionUse before, ConnectionUse now) {
  observe::Gauge* const gauges[] = {nullptr, &idleGauge_, &activeGauge_};  // by use
  if (observe::Gauge* left = gauges[static_cast<std::size_t>(before)]) left->add(-1);
  if (observe::Gauge* entered = gauges[static_cast<std::size_t>(now)]) entered->add(1);
}

}  // namespace sluice::upstream
