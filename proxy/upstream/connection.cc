#include "proxy/upstream/connection.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/health/reach_notes.h"

namespace sluice::upstream {
namespace {

// One flush encodes this much before it writes: as much as one read brings, which keeps system calls few and is fair to
// other connections.
constexpr std::size_t kFlushBytes = 256 * 1024;
// If a Backend states how long it keeps a connection, the connection is not used in the last moment of that time, when
// a request and the close could cross.
constexpr base::Duration kBeforeEnd = std::chrono::seconds(1);
// The socket of a connection that was used just now is not checked, because that would be a system call per request.
constexpr base::Duration kRest = std::chrono::seconds(1);
// A certificate is not replaced again within this time.
constexpr base::Duration kRecent = std::chrono::minutes(1);

std::unique_ptr<http::ClientCodec> makeCodec(http::Version version, UpstreamContext& owner) {
  RequestSinks& sinks = owner.sinks();
  base::ChunkPool& chunks = owner.worker().chunks();
  switch (version) {
    case http::Version::kHttp10:
    case http::Version::kHttp11:
      break;
    case http::Version::kHttp2:
      return http::makeH2ClientCodec(sinks, chunks, owner.limits(), owner.worker().clock(), &owner.h2Memory());
    case http::Version::kOpaque:
      return http::makeOpaqueClientCodec(sinks, chunks, owner.limits());
  }
  return http::makeH1ClientCodec(sinks, chunks, owner.limits());
}

/// Returns why a codec takes no further requests although it was neither drained nor notified of the connection's end.
ConnectionEnd endOf(const http::ClientCodec& codec) {
  if (!codec.peerLeaves()) return ConnectionEnd::kNotReusable;
  return codec.version() == http::Version::kHttp2 ? ConnectionEnd::kGoaway : ConnectionEnd::kConnectionClose;
}

/// Returns for how long the gateway keeps a connection that no request uses.
base::Duration ownIdleTimeout(const routing::ConnectionSettings& settings, const base::TimeoutSettings& timeouts) {
  return settings.idleTimeout.value_or(timeouts.upstreamIdle);
}

/// Returns the same time, or a shorter one if the Backend announces that it closes idle connections earlier.
base::Duration idleTimeout(base::Duration own, const http::ClientCodec& codec) {
  const base::Duration said = codec.keepAlive();
  return std::min(own, said - std::min(said, kBeforeEnd));
}

base::Duration connectTimeout(PoolOwner& cluster, UpstreamContext& owner) {
  return cluster.plan().connection.connectTimeout.value_or(owner.timeouts().connect);
}

}  // namespace

Connection::Connection(base::Handle<Connection> self, UpstreamContext& owner, Table& table, ConnectionOwner& pool,
                       net::Addresses addresses)
    : self_(self),
      owner_(owner),
      table_(table),
      pool_(pool),
      cluster_(pool.cluster()),
      connectBy_(owner.worker().now() + connectTimeout(cluster_, owner)),
      race_(std::make_unique<DialRace>(
          DialEvents{[this](std::unique_ptr<net::Transport> transport) { onDialled(std::move(transport)); },
                     [this] { touch(); }},
          owner, pool, std::move(addresses), connectBy_)),
      out_(owner.worker().chunks()),
      log_(owner.debugLog(), owner.worker().now()) {
  pool_.attach(*this);
  proceed();
}

Connection::~Connection() {
  log_.tellEnd(cluster_.plan().name, peer(), requests_, owner_.worker().now());
  race_.reset();
  count(ConnectionUse::kNone);
  if (answered_) cluster_.reach().onEnd(*answered_);
  pool_.detach();
}

std::size_t Connection::available() const {
  if (state_ != State::kServing || !codec_ || liveness_.isSuspect()) return 0;
  return std::min<std::size_t>(codec_->availableStreams(), mostRequests_ - requests_);
}

bool Connection::isFresh() const { return owner_.worker().now() - lastUsed_ < kRest || transport_->isQuiet(); }

void Connection::proceed() {
  const std::optional<base::Error> lost = race_->proceed();
  log_.onDial(race_->started());
  if (lost) return fail(*lost);
  owner_.worker().timers().set(*this, std::min(connectBy_, race_->due()));
}

http::StreamId Connection::begin(http::Token token, const http::RequestHead& head) {
  const routing::BackendPlan& plan = cluster_.plan();
  const http::StreamId stream = codec_->sendRequest(token, head, plan.tls ? http::Scheme::kHttps : http::Scheme::kHttp);
  if (stream == 0) return 0;
  lastUsed_ = owner_.worker().now();
  if (codec_->version() == http::Version::kHttp2) {
    const bool isFirst = codec_->activeStreams() == 1;
    if (isFirst) liveness_.onWait(lastUsed_);
    if (isFirst || codec_->awaitsSettings()) arm(deadline());
  }
  if (++requests_ == mostRequests_) {
    log_.note(ConnectionEnd::kLifetime);
    drain();
  }
  touch();
  return stream;
}

const std::string& Connection::certificate() {
  if (certificate_.empty() && transport_ != nullptr) certificate_ = transport_->certificateDigest();
  return certificate_;
}

bool Connection::discardOutdated() {
  const net::TlsFacts* tls = transport_->tls();
  if (tls == nullptr || (!tls->resumed && owner_.worker().now() - opened_ < kRecent)) return false;
  cluster_.tlsContext()->forgetSessions();
  drain();
  return true;
}

void Connection::pin(http::Token client) {
  pinnedTo_ = client;
  pool_.withhold(*this);
}

void Connection::suspect() {
  if (state_ != State::kServing || codec_->version() != http::Version::kHttp2) return;
  if (!liveness_.suspect()) return;
  pool_.withhold(*this);
  arm(deadline());
  touch();
}

void Connection::onDialled(std::unique_ptr<net::Transport> transport) {
  log_.onDial(race_->started());
  transport_ = std::move(transport);
  transport_->setSink(*this);
  onOpen();
}

void Connection::onOpen() {
  const net::TlsFacts* tls = transport_->tls();
  base::Result<http::Version> version = pool_.negotiated(tls);
  if (!version.ok()) {
    fail(version.error());
    return;
  }
  countHandshake(owner_, cluster_, "success", tls != nullptr && tls->resumed);
  codec_ = makeCodec(*version, owner_);
  state_ = State::kServing;
  lastUsed_ = opened_ = owner_.worker().now();
  connectBy_ = opened_ + connectTimeout(cluster_, owner_);
  if (const std::uint32_t most = cluster_.plan().connection.requestsPerConnection) mostRequests_ = most;
  const base::Duration lifetime = cluster_.plan().connection.lifetime;
  if (lifetime != base::Duration::zero()) expiresAt_ = lastUsed_ + lifetime;
  const base::Duration own = ownIdleTimeout(cluster_.plan().connection, owner_.timeouts());
  owner_.worker().timers().set(*this, std::min(lastUsed_ + own, expiresAt_));
  log_.tellOpen(cluster_.plan().name, peer(), *version, tls, lastUsed_);
  answered_ = false;
  cluster_.reach().onOpen(tls != nullptr ? tls->peerEnds : base::WallTime{});
  pool_.onServing(*this);
  touch();
}

void Connection::onBytes(std::string_view bytes) {
  if (state_ == State::kDead) return;
  touch();
  if (answered_) cluster_.reach().onBytes(std::exchange(*answered_, true));
  if (liveness_.feed(*codec_, bytes, owner_.worker().now()) && state_ == State::kServing) pool_.onServing(*this);
}

void Connection::onEnd(bool clean) {
  if (state_ == State::kDead) return;
  log_.note(codec_->state() == http::CodecState::kOpen ? ConnectionEnd::kPeerClosed : endOf(*codec_));
  codec_->feedEnd(clean);
  touch();
}

void Connection::onFailed(const base::Error& error) {
  if (state_ == State::kDead) return;
  log_.note(error);
  // The connection is not dead yet, because a codec whose consumer is slow may still have the last bytes of a complete
  // response.
  codec_->feedLost(error);
  retire();
  state_ = State::kLost;
  if (answered_ == false && base::isOfTls(error.type)) {
    base::Error told = error;
    told.address = peer().toString();
    cluster_.reach().onRejected(told);
  }
  touch();
}

/// Sets the timer to `due`, or to an earlier time at which its liveness is checked or requests wait no longer.
void Connection::arm(base::MonotonicTime due) {
  base::MonotonicTime earliest = std::min(due, liveness_.due(*codec_, owner_.timeouts().upstreamPing));
  if (codec_->awaitsSettings()) earliest = std::min(earliest, connectBy_);
  if (earliest != deadline() || !isSet()) owner_.worker().timers().set(*this, earliest);
}

void Connection::onTimer() {
  if (state_ == State::kConnecting) {
    if (owner_.worker().now() < connectBy_) {
      if (race_->takeSlow()) pool_.onSlow();
      return touch();
    }
    owner_.onLimit("connect");
    return fail(race_->expire());
  }
  const base::MonotonicTime now = owner_.worker().now();
  if (state_ != State::kLost && !liveness_.check(*codec_, owner_.timeouts().upstreamPing, now)) {
    owner_.onLimit("upstreamPing");
    return onFailed(base::Error::upstream(base::ErrorType::kConnectionTerminated,
                                          "the backend's connection is dead: it did not answer a PING")
                        .ofLimit("upstreamPing"));
  }
  if (codec_->awaitsSettings() && now >= connectBy_) refuseWaiting();
  if (codec_->wantsProduce()) touch();  // a ping
  const base::Duration own = ownIdleTimeout(cluster_.plan().connection, owner_.timeouts());
  if (state_ == State::kServing && now >= expiresAt_) {
    log_.note(ConnectionEnd::kLifetime);
    drain();
    return arm(now + own);
  }
  // The timer is not moved with every request: the deadline is checked when it fires.
  const base::Duration most = idleTimeout(own, *codec_);
  const base::MonotonicTime deadline = lastUsed_ + most;
  const bool busy = codec_->activeStreams() > 0;
  if (busy || deadline > now) {
    const base::MonotonicTime next = busy ? now + own : deadline;
    return arm(state_ == State::kServing ? std::min(next, expiresAt_) : next);
  }
  if (state_ != State::kServing) {
    return fail(base::Error::upstream(base::ErrorType::kConnectionTerminated, "the backend did not take our goodbye"));
  }
  if (most == own) owner_.onLimit("upstreamIdle");
  log_.note(ConnectionEnd::kIdle);
  drain();
}

// A backend sends its SETTINGS as soon as the connection is open, so they get as much time again.
void Connection::refuseWaiting() {
  owner_.onLimit("connect");
  codec_->refuseWaiting(base::Error::upstream(base::ErrorType::kConnectionTimeout,
                                              "the backend did not say by SETTINGS in time whether it takes WebSockets")
                            .ofLimit("connect"));
  touch();
}

void Connection::drain() {
  if (state_ != State::kServing) return;
  log_.note(ConnectionEnd::kDrained);
  codec_->drain();
  retire();
  touch();
}

void Connection::obeyGuard() {
  if (state_ == State::kConnecting) return touch();
  if (!pool_.permits(peer())) drain();
}

void Connection::count(ConnectionUse use) {
  if (use == counted_) return;
  cluster_.onUse(counted_, use);
  counted_ = use;
}

void Connection::fail(const base::Error& error) {
  if (state_ == State::kDead) return;
  log_.note(error);
  const bool wasConnecting = std::exchange(state_, State::kDead) == State::kConnecting;
  cancel();
  if (wasConnecting) {
    if (transport_ != nullptr) countHandshake(owner_, cluster_, base::errorTypeName(error.type), false);
    base::Error told = error;
    told.address = peer().toString();
    pool_.onGone(*this, &told);
  } else {
    pool_.onGone(*this, nullptr);
  }
  touch();
}

void Connection::retire() {
  if (state_ != State::kServing) return;
  state_ = State::kRetiring;
  pool_.onGone(*this, nullptr);
}

void Connection::flush() {
  if (state_ == State::kDead) return;
  if (state_ == State::kConnecting) return proceed();
  race_.reset();  // with the attempts that have lost
  if (state_ != State::kLost) pump();
  settle();
}

void Connection::pump() {
  while (!transport_->pending() && (codec_->wantsProduce() || !out_.empty())) {
    const std::size_t before = out_.size();
    codec_->produce(out_, kFlushBytes);
    const std::size_t offered = out_.size();
    transport_->write(out_);
    if (offered == before && out_.size() == offered) return;
  }
}

// The codec's state decides what the pool may do with the connection.
void Connection::settle() {
  const http::CodecState codecState = codec_->state();
  const bool unused = codec_->activeStreams() == 0;
  if (counted_ == ConnectionUse::kActive) lastUsed_ = owner_.worker().now();
  count(unused ? ConnectionUse::kIdle : ConnectionUse::kActive);
  if (codecState == http::CodecState::kOpen && state_ == State::kServing) {
    // Without requests, and before the next ping is due, a suspected connection cannot prove that it is alive, so it
    // would only take a place.
    const base::MonotonicTime soon = owner_.worker().now() + PingSchedule::kAnswer;
    if (unused && liveness_.isSuspect() && liveness_.due(*codec_, owner_.timeouts().upstreamPing) > soon)
      return drain();
    transport_->setReadBudget(codec_->readBudget());
    // Its Backend may keep an idle connection for a shorter time than the one to which the timer is set.
    if (unused && codec_->keepAlive() != base::Duration::max()) {
      const base::Duration own = ownIdleTimeout(cluster_.plan().connection, owner_.timeouts());
      arm(std::min(deadline(), lastUsed_ + idleTimeout(own, *codec_)));
    }
    pool_.onCapacity(*this);
    return;
  }
  if (state_ == State::kServing) log_.note(endOf(*codec_));
  retire();
  const bool written = state_ == State::kLost || (out_.empty() && !transport_->pending() && !codec_->wantsProduce());
  if (codecState == http::CodecState::kClosed || (unused && written)) {
    if (codec_->abortive()) {
      transport_->abort();
    } else {
      transport_->shutdown();
    }
    state_ = State::kDead;
    touch();
    return;
  }
  if (codec_->halfClosed() && written && state_ != State::kLost) transport_->shutdown();
  transport_->setReadBudget(codec_->readBudget());
}

}  // namespace sluice::upstream
