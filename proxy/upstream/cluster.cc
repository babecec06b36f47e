#include "proxy/upstream/cluster.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::upstream {
namespace {

// HTTP/2: about three connections use a backend's cores better than one. A second is opened once the first has so many
// streams, the third once two have half as many.
constexpr std::size_t kSharedConnections = 3;
constexpr std::size_t kSpreadAbove = 8;

std::vector<std::string> alpnFor(routing::UpstreamProtocol protocol) {
  switch (protocol) {
    case routing::UpstreamProtocol::kAuto: return {"h2", "http/1.1"};
    case routing::UpstreamProtocol::kHttp11: return {"http/1.1"};
    case routing::UpstreamProtocol::kHttp2: return {"h2"};
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

// Worth another HTTP/2 connection beside it and its like, `count` of them.
bool isBusy(Connection& connection, std::size_t count) {
  return connection.codec()->activeStreams() * count >= kSpreadAbove || connection.available() == 0;
}

}  // namespace

Cluster::Cluster(Upstreams& owner, std::shared_ptr<const routing::BackendPlan> plan)
    : owner_(owner),
      plan_(std::move(plan)),
      budget_(owner.budgets().join(plan_->identity)),
      idleGauge_(owner.metrics().at<observe::Metric::kClientOpenConnections>(plan_->name, "idle")),
      activeGauge_(owner.metrics().at<observe::Metric::kClientOpenConnections>(plan_->name, "active")) {
  if (!plan_->tls) {
    version_ = plan_->protocol == routing::UpstreamProtocol::kHttp2 ? http::Version::kHttp2 : http::Version::kHttp11;
    return;
  }
  if (plan_->protocol == routing::UpstreamProtocol::kHttp11) version_ = http::Version::kHttp11;
  auto context = net::TlsClientContext::make(tlsSettings(*plan_));
  if (context.ok()) {
    tls_ = std::move(*context);
  } else {
    broken_ = context.error();
  }
}

Cluster::~Cluster() { owner_.budgets().leave(plan_->identity); }

bool Cluster::tryEnter() {
  if (!budget_.requests.tryAdd()) return false;
  ++users_;
  return true;
}

void Cluster::leave() {
  budget_.requests.release();
  --users_;
  if (retired_) markDirty();
}

void Cluster::retire() {
  retired_ = true;
  markDirty();
}

void Cluster::detach() {
  --attached_;
  if (retired_) markDirty();
}

void Cluster::drainAll() {
  const std::vector<base::Handle<Connection>> idle = idle_;
  const std::vector<base::Handle<Connection>> shared = shared_;
  for (const auto* handles : {&idle, &shared}) {
    for (const auto handle : *handles) {
      if (Connection* connection = owner_.find(handle)) connection->drain();
    }
  }
}

base::Result<base::Handle<Connection>> Cluster::acquire(http::Token waiter) {
  if (broken_) return *broken_;
  // Whatever version the last handshake chose: servers behind one name may differ.
  Connection* connection = leastLoaded();
  if (connection == nullptr) connection = takeIdle();
  if (connection != nullptr) {
    if (shared_.size() + connecting_ < kSharedConnections && isBusy(*connection, shared_.size())) markDirty();
    return connection->handle();
  }
  if (waiters_.size() >= owner_.pendingBound()) {
    owner_.onLimit("backendPending");
    return base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many requests wait for a connection to the backend");
  }
  waiters_.push_back(waiter);
  markDirty();
  return base::Handle<Connection>{};
}

void Cluster::abandon(http::Token waiter) {
  const auto found = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (found != waiters_.end()) waiters_.erase(found);
  // It may have been told of a connection that it now leaves to somebody else.
  if (!waiters_.empty()) markDirty();
}

void Cluster::settle() {
  if (retired_ && users_ == 0) drainAll();
  wakeWaiters();
  while (wantsAnother(waiters_.size())) {
    if (!open()) return;
  }
}

bool Cluster::wantsAnother(std::size_t waiting) const {
  if (!version_) return waiting > 0 && connecting_ == 0;
  if (*version_ == http::Version::kHttp11) return waiting > connecting_;
  if (shared_.size() + connecting_ < kSharedConnections && !shared_.empty()) {
    return connecting_ == 0 && std::all_of(shared_.begin(), shared_.end(), [this](auto handle) {
      Connection* connection = owner_.find(handle);
      return connection != nullptr && isBusy(*connection, shared_.size());
    });
  }
  return waiting > 0 && connecting_ == 0;
}

bool Cluster::open() {
  const base::Result<net::Addresses>* addresses = owner_.resolver().cached(plan_->hostname);
  if (addresses == nullptr) {
    if (!resolving_) {
      resolving_ = true;
      // The cluster lives until it is told, or as long as the worker's Upstreams, which outlives the resolver.
      owner_.resolver().resolve(plan_->hostname, [this] {
        resolving_ = false;
        markDirty();
      });
    }
    return false;
  }
  if (!addresses->ok()) {
    failWaiters(addresses->error(), waiters_.size());
    return false;
  }
  if (!budget_.connections.tryAdd()) {
    owner_.onLimit("backendConnections");
    if (open_ == 0) {
      failWaiters(base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many connections to the backend"),
                  waiters_.size());
    }
    return false;
  }
  ++connecting_;
  ++open_;
  owner_.createConnection(*this, net::chooseAddresses(net::DnsStrategy::kStrict, **addresses));
  return true;
}

base::Result<http::Version> Cluster::negotiated(const net::TlsFacts* tls) {
  if (tls == nullptr) return *version_;
  if (tls->alpn == "h2") {
    version_ = http::Version::kHttp2;
  } else if (plan_->protocol == routing::UpstreamProtocol::kHttp2) {
    return base::Error::upstream(base::ErrorType::kTlsProtocolError, "backend did not agree to HTTP/2 by ALPN");
  } else {
    version_ = http::Version::kHttp11;
  }
  return *version_;
}

void Cluster::onServing(Connection& connection) {
  --connecting_;
  if (connection.codec()->version() == http::Version::kHttp2) shared_.push_back(connection.handle());
  // At once, or the drive beat that comes before the connection's first flush would open another one for the same waiter.
  onCapacity(connection);
}

observe::Gauge* Cluster::gauge(ConnectionUse use) {
  switch (use) {
    case ConnectionUse::kNone: return nullptr;
    case ConnectionUse::kIdle: return &idleGauge_;
    case ConnectionUse::kActive: return &activeGauge_;
  }
  return nullptr;
}

void Cluster::onUse(ConnectionUse before, ConnectionUse now) {
  if (observe::Gauge* left = gauge(before)) left->add(-1);
  if (observe::Gauge* entered = gauge(now)) entered->add(1);
}

void Cluster::onCapacity(Connection& connection) {
  if (connection.codec()->version() != http::Version::kHttp2 && !connection.idle && connection.available() > 0) {
    connection.idle = true;
    idle_.push_back(connection.handle());
  }
  if ((retired_ || !waiters_.empty()) && connection.available() > 0) markDirty();
}

void Cluster::onGone(Connection& connection, const base::Error* error) {
  if (connection.gone) return;
  connection.gone = true;
  budget_.connections.release();
  --open_;
  std::erase(shared_, connection.handle());
  if (connection.idle) std::erase(idle_, connection.handle());
  if (error != nullptr) {
    --connecting_;
    // Others may still come for the rest; without any, nobody waits in vain.
    failWaiters(*error, open_ == 0 || !version_ ? waiters_.size() : 1);
  }
  if (!waiters_.empty()) markDirty();
}

Connection* Cluster::leastLoaded() {
  Connection* best = nullptr;
  for (const auto handle : shared_) {
    Connection* connection = owner_.find(handle);
    if (connection == nullptr) continue;
    if (best != nullptr && connection->codec()->activeStreams() >= best->codec()->activeStreams()) continue;
    if (connection->available() > 0) best = connection;
  }
  return best;
}

Connection* Cluster::takeIdle() {
  while (!idle_.empty()) {
    Connection* connection = owner_.find(idle_.back());
    idle_.pop_back();
    if (connection == nullptr) continue;
    connection->idle = false;
    if (connection->available() > 0) return connection;
  }
  return nullptr;
}

std::size_t Cluster::spare() {
  std::size_t count = idle_.size();
  for (const auto handle : shared_) {
    if (Connection* connection = owner_.find(handle)) count += connection->available();
  }
  return count;
}

void Cluster::wakeWaiters() {
  for (std::size_t room = spare(); room > 0 && !waiters_.empty();) {
    const http::Token waiter = waiters_.front();
    waiters_.pop_front();
    if (owner_.waiterSink().onPoolReady(waiter)) --room;
  }
}

void Cluster::failWaiters(const base::Error& error, std::size_t count) {
  while (count > 0 && !waiters_.empty()) {
    const http::Token waiter = waiters_.front();
    waiters_.pop_front();
    if (owner_.waiterSink().onPoolFailed(waiter, error)) --count;
  }
}

void Cluster::markDirty() { owner_.markDirty(*this); }

}  // namespace sluice::upstream
