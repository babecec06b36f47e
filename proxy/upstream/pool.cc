#include "proxy/upstream/pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/connection_room.h"
#include "proxy/upstream/dial_race.h"
#include "proxy/upstream/health/reach_notes.h"
#include "proxy/upstream/pins.h"

namespace sluice::upstream {
namespace {

// Up to this many connections of HTTP/2 are opened when the existing ones are busy; further ones only when all are
// full.
constexpr std::size_t kSharedConnections = 3;

// The least number of streams that servers of HTTP/2 should allow (RFC 9113 section 6.5.2).
constexpr std::size_t kUsualStreams = 100;

std::optional<base::Result<net::Addresses>> alone(const std::optional<net::Address>& endpoint) {
  if (!endpoint) return std::nullopt;
  return base::Result<net::Addresses>(net::Addresses{*endpoint});
}

}  // namespace

Pool::Pool(UpstreamContext& owner, PoolOwner& cluster, const std::optional<net::Address>& endpoint)
    : since(owner.worker().now()),
      owner_(owner),
      cluster_(cluster),
      fixed_(alone(endpoint)),
      room_(cluster.room()),
      places_(endpoint ? EndpointPlaces::make(owner.rooms(), cluster.plan(), *endpoint) : nullptr),
      ready_(owner),
      waiting_(*this, cluster, owner.sinks(), places_.get()),
      health_(owner.failingOf(cluster.plan())) {
  room_.add(*this);
  if (places_ != nullptr) places_->room().add(*this);
  const bool byAlpn = cluster.plan().tls.has_value();
  switch (cluster.plan().protocol) {
    case routing::UpstreamProtocol::kAuto:
      if (!byAlpn) version_ = http::Version::kHttp11;
      break;
    case routing::UpstreamProtocol::kHttp11:
      version_ = http::Version::kHttp11;
      break;
    case routing::UpstreamProtocol::kHttp2:
      if (!byAlpn) version_ = http::Version::kHttp2;
      break;
    case routing::UpstreamProtocol::kOpaque:
      version_ = http::Version::kOpaque;
      break;
  }
}

Pool::~Pool() {
  if (places_ != nullptr) places_->room().remove(*this);
  room_.remove(*this);
}

bool Pool::permits(const net::Address& address) const {
  const routing::BackendPlan& plan = cluster_.plan();
  const bool isInside = plan.endpoints || plan.ofSettings;
  return isInside ? owner_.guard().permitsEndpoint(address.bytes()) : owner_.guard().permits(address.bytes());
}

Connection* Pool::take() {
  Connection* connection = ready_.take();
  if (connection != nullptr && ready_.shared() > 0 && ready_.shared() + connecting_.size() < kSharedConnections &&
      ready_.isBusy(*connection)) {
    markDirty();
  }
  return connection;
}

void Pool::wait(http::Token waiter) {
  waiting_.add(waiter);
  markDirty();
}

void Pool::abandon(http::Token waiter) {
  const bool wasExpected = waiting_.expected() > 0;
  if (!waiting_.empty() || waiting_.hasAskers() || wasExpected) waiting_.remove(waiter);
  if (wasExpected) cluster_.onVacancy();
  // It may have been notified of a connection, which now goes to another waiter.
  if (!waiting_.empty()) return markDirty();
  room_.forget(*this);
  if (places_ != nullptr) places_->room().forget(*this);
}

// The requests that wait or are expected come first. A connection of HTTP/2 has room for many, and so may the first of
// all.
std::size_t Pool::vacancy() const {
  if (places_ == nullptr) return std::numeric_limits<std::size_t>::max();
  std::size_t capacity = ready_.spare();
  if (places_->mayWait()) {
    const bool oneForAll = !version_ || *version_ == http::Version::kHttp2;
    const std::size_t coming = connecting_.size() + places_->spareConnections();
    capacity += oneForAll && coming > 0 ? kUsualStreams : coming;
  }
  const std::size_t room = std::min(capacity - std::min(capacity, waiting_.size()), places_->places().free());
  return room - std::min(room, waiting_.expected());
}

std::size_t Pool::load() const {
  return waiting_.size() + waiting_.expected() + open_ - connecting_.size() - ready_.idle() - ready_.shared() +
         ready_.streams();
}

// Requests are notified of connections in the order in which both came. A pool that does not know its version yet, or
// uses HTTP/2, makes one connection for all of them.
ConnectionWait Pool::waitOf(http::Token waiter) const {
  using Stage = ConnectionWait::Stage;
  const std::optional<std::size_t> ahead = waiting_.ahead(waiter);
  if (!ahead && !waiting_.asks(waiter)) return {};
  if (ahead && !connecting_.empty()) {
    const bool oneForAll = !version_ || *version_ == http::Version::kHttp2;
    const std::size_t place = oneForAll ? 0 : *ahead;
    const Connection* coming = place < connecting_.size() ? owner_.find(connecting_[place]) : nullptr;
    if (coming != nullptr) {
      return {coming->shakesHands() ? Stage::kHandshake : Stage::kDial, coming->peer().toString()};
    }
  }
  if (resolving_) return {Stage::kResolver, cluster_.plan().hostname};
  return {ahead ? Stage::kQueue : Stage::kNone};
}

void Pool::retire() {
  retired_ = attentive_ = true;
  waiting_.failAll(
      base::Error::upstream(base::ErrorType::kDestinationUnavailable, "the backend has no endpoint any more"),
      Elsewhere::kAny);
  waiting_.expectNone();
  markDirty();
}

void Pool::attach(const Connection& connection) {
  ++attached_;
  connecting_.push_back(connection.handle());
  cluster_.attach();
}

void Pool::detach() {
  --attached_;
  room_.giveBack();
  if (places_ != nullptr) places_->room().giveBack();
  cluster_.detach();
  if (places_ != nullptr && waiting_.empty()) cluster_.onVacancy();
  if (closing() || !waiting_.empty()) markDirty();
}

bool Pool::closing() const { return retired_ || cluster_.deserted(); }

void Pool::settle() {
  if (closing()) {
    owner_.pins().drain(*this);
    ready_.drain();
  }
  // Pools without a connection come before the requests that wait here.
  if (attentive_) {
    const bool isWanted = places_ != nullptr && places_->room().offer();
    attentive_ = room_.offer() || isWanted || retired_;
  }
  if (!waiting_.empty()) waiting_.wake(ready_.spare());
  if (!resolving_) waiting_.wakeAskers();
  while (lacking() > 0 && open()) {
  }
  if (!waiting_.empty()) return;
  room_.forget(*this);
  if (places_ != nullptr) places_->room().forget(*this);
}

std::size_t Pool::lacking() const {
  const std::size_t waiting = waiting_.size();
  if (version_ && *version_ != http::Version::kHttp2) return waiting - std::min(waiting, connecting_.size());
  if (!connecting_.empty()) return 0;
  if (version_ && ready_.shared() > 0 && ready_.shared() < kSharedConnections) return ready_.allBusy() ? 1 : 0;
  return waiting > 0 ? 1 : 0;
}

const base::Result<net::Addresses>* Pool::addresses() {
  if (fixed_) return &*fixed_;
  const std::string& hostname = cluster_.plan().hostname;
  const base::DnsTerms& terms = cluster_.plan().connection.dns;
  const base::Result<net::Addresses>* known = owner_.resolver().cached(hostname, terms);
  if (known == nullptr && !resolving_) {
    resolving_ = true;
    // The pool lives until the resolver answers, or until the worker's Upstreams is destroyed, which outlives the
    // resolver.
    owner_.resolver().resolve(hostname, terms, [this] {
      resolving_ = false;
      markDirty();
    });
  }
  return known;
}

bool Pool::open() {
  const base::Result<net::Addresses>* known = addresses();
  if (known == nullptr) return false;
  if (!known->ok()) {
    health_.onFailure(owner_.worker().now());
    cluster_.reach().onUnreached(known->error());
    waiting_.failAll(known->error(), Elsewhere::kReachable);
    return false;
  }
  if (places_ != nullptr && !places_->room().tryTake(*this)) {
    // Other endpoints need not wait until it gets a connection to the Backend.
    room_.forget(*this);
    onFull(places_->room());
    return false;
  }
  if (!room_.tryTake(*this)) {
    if (places_ != nullptr) places_->room().untake();
    onFull(room_);
    return false;
  }
  ++open_;
  owner_.createConnection(*this, fixed_ ? **known : dialOrder(owner_, cluster_.plan(), **known));
  return true;
}

void Pool::onFull(ConnectionRoom& room) {
  owner_.onLimit(room.limit());
  if (waiting_.empty()) return;
  if (&room != &room_) {
    waiting_.move(Elsewhere::kRoomy, connecting_.size(), cluster_.vacancy());
    if (lacking() == 0) return;
  }
  if (owner_.pins().makeRoom(room)) return room.enlist(*this);
  if (open_ == 0) waiting_.move(Elsewhere::kConnected);
  if (waiting_.empty() || room.seek(*this, lacking())) return;
  // Open connections serve these requests in time; connections that can only end, such as those of tunnels, make room.
  if (attached_ > 0) return room.seekElsewhere(*this);
  waiting_.failAll(
      base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many connections to the backend")
          .ofLimit(room.limit()),
      Elsewhere::kConnected);
}

base::Result<http::Version> Pool::negotiated(const net::TlsFacts* tls) {
  if (tls == nullptr || version_ == http::Version::kOpaque) return *version_;
  if (tls->alpn == "h2") {
    version_ = http::Version::kHttp2;
  } else if (cluster_.plan().protocol == routing::UpstreamProtocol::kHttp2) {
    return base::Error::upstream(base::ErrorType::kTlsProtocolError, "backend did not agree to HTTP/2 by ALPN");
  } else {
    version_ = http::Version::kHttp11;
  }
  return *version_;
}

void Pool::onServing(Connection& connection) {
  std::erase(connecting_, connection.handle());
  health_.onSuccess();
  if (connection.codec()->version() == http::Version::kHttp2) ready_.share(connection);
  // This happens at once; otherwise the drive beat before the connection's first flush would open another one for the
  // same waiter.
  onCapacity(connection);
}

void Pool::onCapacity(Connection& connection) {
  if (connection.available() == 0) return;
  if (connection.pinnedTo() != http::kNoToken) {
    owner_.pins().trim(connection);
  } else if (connection.codec()->version() != http::Version::kHttp2) {
    ready_.addIdle(connection);
  }
  if (!waiting_.empty() || attentive_ || cluster_.deserted()) markDirty();
  if (places_ != nullptr && waiting_.empty()) cluster_.onVacancy();
}

void Pool::withhold(Connection& connection) {
  ready_.remove(connection);
  if (!waiting_.empty()) markDirty();
}

void Pool::onGone(Connection& connection, const base::Error* error) {
  if (connection.gone) return;
  connection.gone = true;
  --open_;
  ready_.remove(connection);
  if (error != nullptr) {
    std::erase(connecting_, connection.handle());
    health_.onFailure(owner_.worker().now());
    cluster_.reach().onUnreached(*error);
    // Other connections may still open for the others; if there are none, no request may be left waiting.
    waiting_.fail(*error, open_ == 0 || !version_ ? waiting_.size() : 1, Elsewhere::kReachable);
  }
  if (!waiting_.empty()) markDirty();
}

void Pool::onSlow() {
  health_.onFailure(owner_.worker().now());
  waiting_.move(Elsewhere::kReachable);
}

// A connection is made for a request, which it serves first.
Connection* Pool::leastRecentlyUsed() {
  return ready_.leastRecentlyUsed(owner_.worker().now() - ConnectionRoom::kRest);
}

void Pool::markDirty() { owner_.markDirty(*this); }

}  // namespace sluice::upstream
