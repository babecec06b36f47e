#include "proxy/server/connection/server_connection.h"

#include <algorithm>
#include <utility>

#include "proxy/net/tcp.h"

namespace sluice::server {
namespace {

// The number of bytes that one flush encodes before it writes, and so the most that waits for a client that does not
// read: as much as one read brings.
constexpr std::size_t kFlushBytes = 256 * 1024;
constexpr std::size_t kSniffBytes = 16 * 1024;
// After the FIN, bytes that the client still sends are read for this long and this far, so that a reset does not
// overtake the last answer.
constexpr base::Duration kLingerTime = std::chrono::seconds(5);
// While the process ends, these bound that time, and the time of a client that has sent nothing.
constexpr base::Duration kLastLingerTime = std::chrono::milliseconds(100);
constexpr base::Duration kLastIdleTime = std::chrono::seconds(1);
constexpr std::size_t kLingerBytes = 16 * 1024 * 1024;
constexpr std::size_t kLingerRead = 64 * 1024;

/// Returns when a stream may no longer send behind its response; max() if none does. `codec` may be null.
base::MonotonicTime drainDeadline(const http::ServerCodec* codec, const base::TimeoutSettings& timeouts) {
  const base::MonotonicTime since = codec != nullptr ? codec->drainedSince() : base::MonotonicTime{};
  return since == base::MonotonicTime{} ? base::MonotonicTime::max() : since + timeouts.drain;
}

}  // namespace

ServerConnection::ServerConnection(const ConnectionParts& parts, int fd, const net::Address& peer,
                                   std::shared_ptr<const net::TlsServerContext> tls, bool forwardProxy)
    : parts_(parts),
      tls_(std::move(tls)),
      terms_(tls_ != nullptr ? http::Scheme::kHttps : http::Scheme::kHttp, forwardProxy),
      state_(tls_ != nullptr ? State::kHandshaking : State::kSniffing),
      out_(parts.worker.chunks()),
      early_(parts.worker.chunks()),
      lastActive_(parts.worker.now()) {
  transport_ = tls_ != nullptr ? net::adoptTls(parts_.worker, fd, peer, *tls_, *this)
                               : net::adoptTcp(parts_.worker, fd, peer, *this);
  transport_->setReadBudget(kSniffBytes);
  arm();
  if (parts_.counters != nullptr) parts_.counters->open.add(1);
}

ServerConnection::~ServerConnection() {
  if (parts_.counters != nullptr) parts_.counters->open.add(-1);
}

std::string_view ServerConnection::serverName() const {
  const net::TlsFacts* tls = transport_->tls();
  return tls != nullptr ? std::string_view(tls->sni) : std::string_view();
}

void ServerConnection::onOpen() {
  if (state_ != State::kHandshaking) return;  // its time ran out in the same turn
  onHandshake(/*complete=*/true);
  const net::TlsFacts* tls = transport_->tls();
  serve(tls != nullptr && tls->alpn == "h2" ? http::Version::kHttp2 : http::Version::kHttp11);
}

void ServerConnection::onBytes(std::string_view bytes) {
  if (parts_.counters != nullptr) parts_.counters->received.add(bytes.size());
  markDirty();
  switch (state_) {
    case State::kSniffing:
      return sniff(bytes);
    case State::kServing:
      return codec_->feed(bytes);
    case State::kLingering:
      lingerBudget_ -= std::min(lingerBudget_, bytes.size());
      return;
    case State::kHandshaking:
    case State::kDead:
      return;
  }
}

void ServerConnection::onEnd(bool /*clean*/) {
  markDirty();
  peerEnded_ = true;
  if (state_ != State::kServing) return die();
  // An incomplete request is refused with an answer.
  if (codec_->departure(0) == http::Departure::kWaits && abortsAtEnd()) return die();
  codec_->feedEnd();
}

bool ServerConnection::abortsAtEnd() const {
  return parts_.halfClose != nullptr && *parts_.halfClose == base::ClientHalfClose::kAbort;
}

// Called while bytes wait to be read, which may take long. A client that has left must not occupy places at the
// backends meanwhile.
void ServerConnection::onEndAhead(std::size_t unread) {
  if (state_ != State::kServing) return;
  const http::Departure departure = codec_->departure(unread);
  if (departure == http::Departure::kLeft || (departure == http::Departure::kWaits && abortsAtEnd())) die();
}

void ServerConnection::onFailed(const base::Error& /*error*/) {
  if (state_ == State::kHandshaking) onHandshake(/*complete=*/false);
  die();
}

void ServerConnection::die() {
  if (state_ == State::kDead) return;
  state_ = State::kDead;
  if (codec_) codec_->feedLost();
  cancel();
  markDirty();
}

void ServerConnection::sniff(std::string_view bytes) {
  const bool first = early_.empty();
  early_.append(bytes);
  if (first) {
    headSince_ = parts_.worker.now();
    arm();
  }
  const std::string_view seen = early_.front();
  switch (http::detectPreface(seen)) {
    case http::Preface::kUndecided:
      return;
    case http::Preface::kHttp1:
      serve(http::Version::kHttp11);
      break;
    case http::Preface::kHttp2:
      serve(http::Version::kHttp2);
      break;
  }
  feedEarly();
}

void ServerConnection::feedEarly() {
  while (!early_.empty()) {
    const std::string_view run = early_.front();
    codec_->feed(run);
    early_.consume(run.size());
  }
}

void ServerConnection::serve(http::Version version) {
  state_ = State::kServing;
  base::ChunkPool& pool = parts_.worker.chunks();
  codec_ = version == http::Version::kHttp2
               ? http::makeH2ServerCodec(*this, pool, parts_.limits, terms_, parts_.worker.clock(), parts_.h2Memory,
                                         headAccount(), parts_.authorities)
               : http::makeH1ServerCodec(*this, pool, parts_.limits, terms_, headAccount(), parts_.authorities);
  mayDrain_ = version == http::Version::kHttp2;
  if (endAnnounced_) codec_->announceEnd();
  if (draining_) codec_->drain();
  lastActive_ = parts_.worker.now();
  markDirty();
}

void ServerConnection::announceEnd() {
  endAnnounced_ = true;
  if (codec_) codec_->announceEnd();
  markDirty();
}

void ServerConnection::drain() {
  draining_ = true;
  if (codec_) codec_->drain();
  if (!dead()) arm();
  markDirty();
}

void ServerConnection::cutOff() {
  if (dead()) return;
  const bool owed = state_ == State::kServing && codec_->activeStreams() > 0;
  if (owed || !out_.empty() || transport_->pending()) transport_->abort();
  die();
}

void ServerConnection::resume() {
  if (std::exchange(itsTurn_, false) && state_ == State::kServing) codec_->resume();
}

void ServerConnection::flush() {
  if (state_ == State::kServing) {
    pump();
    settle();
  } else if (state_ == State::kLingering) {
    if (lingerBudget_ == 0) die();
    transport_->setReadBudget(std::min(kLingerRead, lingerBudget_));
  }
}

void ServerConnection::pump() {
  while (!transport_->pending() && (codec_->wantsProduce() || !out_.empty())) {
    const std::size_t before = out_.size();
    codec_->produce(out_, kFlushBytes);
    const std::size_t offered = out_.size();
    transport_->write(out_);
    if (parts_.counters != nullptr) parts_.counters->sent.add(offered - out_.size());
    if (offered == before && out_.size() == offered) return;
    if (before > 0) lastActive_ = parts_.worker.now();  // the client takes the bytes that waited for it
  }
}

void ServerConnection::settle() {
  if (codec_->state() == http::CodecState::kClosed) {
    if (codec_->abortive()) {  // at once, because a client that reads slowly must not delay the end of a cut response
      transport_->abort();
      return die();
    }
    if (out_.empty() && !codec_->wantsProduce() && !transport_->pending()) return linger();
  }
  if (codec_->halfClosed() && out_.empty()) transport_->shutdown();
  if (codec_->wantsResume()) onRequestsWait();
  transport_->setReadBudget(codec_->readBudget());
  watchHead();
}

void ServerConnection::linger() {
  state_ = State::kLingering;
  codec_->feedLost();
  transport_->shutdown();
  if (peerEnded_) return die();  // no more bytes can arrive whose reset would overtake our last bytes
  lingerBudget_ = kLingerBytes;
  lastActive_ = parts_.worker.now();
  transport_->setReadBudget(kLingerRead);
  arm();
}

// timeouts.requestHeader runs from the first byte of a head, however often more bytes come, but not while the client
// waits for its turn.
void ServerConnection::watchHead() {
  if (!codec_->headPending() || codec_->wantsResume()) {
    headSince_ = {};
  } else if (headSince_ == base::MonotonicTime{}) {
    headSince_ = parts_.worker.now();
  }
  if (deadline() < Timer::deadline()) arm();
}

base::MonotonicTime ServerConnection::deadline() const {
  switch (state_) {
    case State::kHandshaking:
      return lastActive_ + parts_.timeouts.tlsHandshake;
    case State::kLingering:
      return lastActive_ + (draining_ ? kLastLingerTime : kLingerTime);
    case State::kSniffing:
    case State::kServing:
    case State::kDead:
      break;
  }
  if (headSince_ != base::MonotonicTime{})
    return std::min(headSince_ + parts_.timeouts.requestHeader,
                    drainDeadline(mayDrain_ ? codec_.get() : nullptr, parts_.timeouts));
  if (draining_ && state_ == State::kSniffing) return lastActive_ + kLastIdleTime;
  return std::min(lastActive_ + parts_.timeouts.clientIdle,
                  drainDeadline(mayDrain_ ? codec_.get() : nullptr, parts_.timeouts));
}

void ServerConnection::arm() { parts_.worker.timers().set(*this, deadline()); }

// The timer is not moved with every event that makes the deadline later; the deadline is checked when it fires.
void ServerConnection::onTimer() {
  const base::MonotonicTime now = parts_.worker.now();
  if (state_ == State::kDead) return;
  if (deadline() > now) return arm();
  markDirty();
  if (state_ == State::kHandshaking) onTimeout("tlsHandshake");
  if (state_ == State::kSniffing) {
    if (early_.empty()) {
      onTimeout("clientIdle");
    } else {  // too little to tell the versions apart, and enough to be answered
      serve(http::Version::kHttp11);
      feedEarly();
    }
  }
  if (state_ != State::kServing) return die();
  if (drainDeadline(mayDrain_ ? codec_.get() : nullptr, parts_.timeouts) <= now) {
    for (std::size_t ended = codec_->endDrains(now - parts_.timeouts.drain); ended > 0; --ended) onTimeout("drain");
    return arm();
  }
  if (headSince_ != base::MonotonicTime{}) {
    onTimeout("requestHeader");
    headSince_ = {};
    lastActive_ = now;
    codec_->expireHead();
    return arm();
  }
  if (codec_->activeStreams() > 0 || codec_->wantsResume()) {  // exchanges have their own deadlines
    lastActive_ = now;
    return arm();
  }
  if (codec_->state() == http::CodecState::kOpen) {
    onTimeout("clientIdle");
    lastActive_ = now;
    codec_->drain();
    return arm();
  }
  die();  // the client does not take the last bytes either
}

}  // namespace sluice::server
