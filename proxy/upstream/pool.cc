#include "proxy/upstream/pool.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/connection_room.h"
#include "proxy/upstream/pins.h"

namespace sluice::upstream {
namespace {

// Up to this many connections of HTTP/2 are opened when the existing ones are busy; further ones only when all are
// full.
constexpr std::size_t kSharedConnections = 3;

std::optional<base::Result<net::Addresses>> alone(const std::optional<net::Address>& endpoint) {
  if (!endpoint) return std::nullopt;
  return base::Result<net::Addresses>(net::Addresses{*endpoint});
}

}  // namespace

Pool::Pool(UpstreamContext& owner, PoolOwner& cluster, const std::optional<net::Address>& endpoint)
    : owner_(owner),
      cluster_(cluster),
      fixed_(alone(endpoint)),
      room_(cluster.room()),
      ready_(owner),
      waiting_(*this, cluster, owner.sinks()),
      health_(owner.failingOf(cluster.plan())) {
  room_.add(*this);
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

Pool::~Pool() { room_.remove(*this); }

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

void Pool::ask(http::Token waiter) { waiting_.addAsker(waiter); }

void Pool::abandon(http::Token waiter) {
  if (!waiting_.empty() || waiting_.hasAskers()) waiting_.remove(waiter);
  // It may have been notified of a connection, which now goes to another waiter.
  if (!waiting_.empty()) return markDirty();
  room_.forget(*this);
}

std::size_t Pool::load() const {
  return waiting_.size() + open_ - connecting_.size() - ready_.idle() - ready_.shared() + ready_.streams();
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
  cluster_.detach();
  if (closing() || !waiting_.empty()) markDirty();
}

bool Pool::closing() const { return retired_ || cluster_.deserted(); }

void Pool::settle() {
  if (closing()) {
    owner_.pins().drain(*this);
    ready_.drain();
  }
  // Pools without a connection come before the requests that wait here.
  if (attentive_) attentive_ = room_.offer() || retired_;
  if (!waiting_.empty()) waiting_.wake(ready_.spare());
  if (!resolving_) waiting_.wakeAskers();
  while (lacking() > 0 && open()) {
  }
  if (waiting_.empty()) room_.forget(*this);
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

net::DnsStrategy Pool::dnsStrategy() const {
  return cluster_.plan().connection.logicalDns ? net::DnsStrategy::kLogical : net::DnsStrategy::kStrict;
}

bool Pool::open() {
  const base::Result<net::Addresses>* known = addresses();
  if (known == nullptr) return false;
  if (!known->ok()) {
    health_.onFailure(owner_.worker().now());
    cluster_.onUnreached(known->error());
    waiting_.failAll(known->error(), Elsewhere::kReachable);
    return false;
  }
  if (!room_.tryTake(*this)) {
    onFull();
    return false;
  }
  ++open_;
  net::Addresses chosen = net::chooseAddresses(dnsStrategy(), **known);
  if (!fixed_) {
    for (net::Address& address : chosen) address = address.withPort(cluster_.plan().port);
  }
  owner_.createConnection(*this, std::move(chosen));
  return true;
}

void Pool::onFull() {
  const std::string_view limit = connectionLimit(cluster_.plan().connection.bounds);
  owner_.onLimit(limit);
  if (waiting_.empty()) return;
  if (owner_.pins().makeRoom(room_)) return room_.enlist(*this);
  if (open_ == 0) waiting_.move(Elsewhere::kConnected);
  if (waiting_.empty() || room_.seek(*this, lacking())) return;
  // Open connections serve these requests in time; connections that can only end, such as those of tunnels, make room.
  if (attached_ > 0) return room_.seekElsewhere(*this);
  waiting_.failAll(
      base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many connections to the backend")
          .ofLimit(limit),
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
  cluster_.onReached();
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
    cluster_.onUnreached(*error);
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
