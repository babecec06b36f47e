#include "proxy/upstream/pool.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/pins.h"

namespace sluice::upstream {
namespace {

// HTTP/2: about three connections use a backend's cores better than one. A second is opened once the first has this
// many streams, the third once two have half as many.
constexpr std::size_t kSharedConnections = 3;
constexpr std::size_t kSpreadAbove = 8;

// Returns true if another HTTP/2 connection is worth while beside this one and its like, `count` of them in all.
bool isBusy(Connection& connection, std::size_t count) {
  return connection.codec()->activeStreams() * count >= kSpreadAbove || connection.available() == 0;
}

std::optional<base::Result<net::Addresses>> alone(const std::optional<net::Address>& endpoint) {
  if (!endpoint) return std::nullopt;
  return base::Result<net::Addresses>(net::Addresses{*endpoint});
}

}  // namespace

Pool::Pool(UpstreamContext& owner, PoolOwner& cluster, const std::optional<net::Address>& endpoint)
    : owner_(owner),
      cluster_(cluster),
      fixed_(alone(endpoint)),
      waiting_(*this, cluster, owner.sinks()),
      health_(owner.failing()) {
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

bool Pool::permits(std::span<const std::uint8_t> address) const {
  const routing::BackendPlan& plan = cluster_.plan();
  const bool isInside = plan.endpoints || plan.ofSettings;
  return isInside ? owner_.guard().permitsEndpoint(address) : owner_.guard().permits(address);
}

bool Pool::admits(const net::Address& address) const {
  if (permits(address.bytes())) return true;
  const std::string_view why = routing::addressClassName(routing::classify(address.bytes()));
  owner_.metrics().at<observe::Metric::kAddressDenied>(why).add();
  return false;
}

Connection* Pool::take() {
  // Both kinds are tried, whatever version the last handshake chose, because servers behind one name may differ.
  Connection* connection = leastLoaded();
  if (connection == nullptr) connection = takeIdle();
  if (connection != nullptr && !shared_.empty() && shared_.size() + connecting_.size() < kSharedConnections &&
      isBusy(*connection, shared_.size())) {
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
  // It may have been told of a connection that it now leaves to another waiter.
  if (!waiting_.empty()) markDirty();
}

std::size_t Pool::load() const {
  std::size_t requests = waiting_.size() + open_ - connecting_.size() - idle_.size() - shared_.size();
  for (const auto handle : shared_) {
    if (Connection* connection = owner_.find(handle)) requests += connection->codec()->activeStreams();
  }
  return requests;
}

// Requests are told of connections in the order in which both came. A pool that does not know its version yet, or
// speaks HTTP/2, makes one connection for all of them.
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
  retired_ = true;
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
  cluster_.budget().connections.release();
  cluster_.detach();
  if (closing() || !waiting_.empty()) markDirty();
}

bool Pool::closing() const { return retired_ || cluster_.deserted(); }

void Pool::drainAll() {
  owner_.pins().drain(*this);
  const std::vector<base::Handle<Connection>> idle = idle_;
  const std::vector<base::Handle<Connection>> shared = shared_;
  for (const auto* handles : {&idle, &shared}) {
    for (const auto handle : *handles) {
      if (Connection* connection = owner_.find(handle)) connection->drain();
    }
  }
}

void Pool::settle() {
  if (closing()) drainAll();
  if (!waiting_.empty()) waiting_.wake(spare());
  if (!resolving_) waiting_.wakeAskers();
  while (wantsAnother(waiting_.size())) {
    if (!open()) return;
  }
}

bool Pool::wantsAnother(std::size_t waiting) const {
  if (!version_) return waiting > 0 && connecting_.empty();
  if (*version_ != http::Version::kHttp2) return waiting > connecting_.size();
  if (shared_.size() + connecting_.size() < kSharedConnections && !shared_.empty()) {
    return connecting_.empty() && std::all_of(shared_.begin(), shared_.end(), [this](auto handle) {
             Connection* connection = owner_.find(handle);
             return connection != nullptr && isBusy(*connection, shared_.size());
           });
  }
  return waiting > 0 && connecting_.empty();
}

const base::Result<net::Addresses>* Pool::addresses() {
  if (fixed_) return &*fixed_;
  const std::string& hostname = cluster_.plan().hostname;
  const base::DnsTerms& terms = cluster_.plan().connection.dns;
  const base::Result<net::Addresses>* known = owner_.resolver().cached(hostname, terms);
  if (known == nullptr && !resolving_) {
    resolving_ = true;
    // The pool lives until the resolver answers, or as long as the worker's Upstreams, which outlives the resolver.
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
  if (!cluster_.budget().connections.tryAdd()) {
    owner_.onLimit("backendConnections");
    if (owner_.pins().makeRoom(cluster_)) return false;
    // Open connections serve them in time, and those that only end, such as a tunnel, make room.
    if (open_ == 0) waiting_.move(Elsewhere::kConnected);
    if (attached_ == 0) {
      waiting_.failAll(
          base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many connections to the backend")
              .ofLimit("backendConnections"),
          Elsewhere::kConnected);
    }
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
  if (connection.codec()->version() == http::Version::kHttp2) shared_.push_back(connection.handle());
  // This happens at once; otherwise the drive beat before the connection's first flush would open another one for the
  // same waiter.
  onCapacity(connection);
}

void Pool::onCapacity(Connection& connection) {
  if (connection.available() == 0) return;
  if (connection.pinnedTo() != http::kNoToken) {
    owner_.pins().trim(connection);
  } else if (connection.codec()->version() != http::Version::kHttp2 && !connection.idle) {
    connection.idle = true;
    idle_.push_back(connection.handle());
  }
  if (!waiting_.empty() || closing()) markDirty();
}

void Pool::onPinned(Connection& connection) {
  std::erase(shared_, connection.handle());
  if (std::exchange(connection.idle, false)) std::erase(idle_, connection.handle());
  if (!waiting_.empty()) markDirty();
}

void Pool::onGone(Connection& connection, const base::Error* error) {
  if (connection.gone) return;
  connection.gone = true;
  --open_;
  std::erase(shared_, connection.handle());
  if (connection.idle) std::erase(idle_, connection.handle());
  if (error != nullptr) {
    std::erase(connecting_, connection.handle());
    health_.onFailure(owner_.worker().now());
    cluster_.onUnreached(*error);
    // Other connections may still come for the rest; if there are none, no request may wait in vain.
    waiting_.fail(*error, open_ == 0 || !version_ ? waiting_.size() : 1, Elsewhere::kReachable);
  }
  if (!waiting_.empty()) markDirty();
}

void Pool::onSlow() {
  health_.onFailure(owner_.worker().now());
  waiting_.move(Elsewhere::kReachable);
}

Connection* Pool::leastLoaded() {
  Connection* best = nullptr;
  std::size_t least = 0;
  for (const auto handle : shared_) {
    Connection* connection = owner_.find(handle);
    if (connection == nullptr) continue;
    const std::size_t streams = connection->codec()->activeStreams();
    if ((best != nullptr && streams >= least) || connection->available() == 0) continue;
    best = connection;
    least = streams;
  }
  return best;
}

Connection* Pool::takeIdle() {
  while (!idle_.empty()) {
    Connection* connection = owner_.find(idle_.back());
    idle_.pop_back();
    if (connection == nullptr) continue;
    connection->idle = false;
    if (connection->available() > 0) return connection;
  }
  return nullptr;
}

std::size_t Pool::spare() {
  std::size_t count = idle_.size();
  for (const auto handle : shared_) {
    if (Connection* connection = owner_.find(handle)) count += connection->available();
  }
  return count;
}

void Pool::markDirty() { owner_.markDirty(*this); }

}  // namespace sluice::upstream
