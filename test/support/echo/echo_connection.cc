#include "test/support/echo/echo_connection.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "proxy/net/tcp.h"

namespace sluice::echo {
namespace {

constexpr std::size_t kProduceBytes = 64 * 1024;
constexpr auto kLinger = std::chrono::seconds(1);

}  // namespace

EchoConnection::EchoConnection(Handle handle, EchoConnectionOwner& owner, int fd, const net::Address& peer,
                               const net::TlsServerContext* tls)
    : handle_(handle), owner_(owner), encrypted_(tls != nullptr), out_(owner.worker().chunks()) {
  transport_ = encrypted_ ? net::adoptTls(owner.worker(), fd, peer, *tls, *this)
                          : net::adoptTcp(owner.worker(), fd, peer, *this);
  transport_->setReadBudget(net::Worker::kReadBufferSize);
}

void EchoConnection::onOpen() {
  if (const net::TlsFacts* tls = transport_->tls()) {
    makeCodec(tls->alpn == "h2" ? http::Version::kHttp2 : http::Version::kHttp11);
  }
  wakeUp();
}

void EchoConnection::makeCodec(http::Version version) {
  net::Worker& worker = owner_.worker();
  const http::Scheme scheme = encrypted_ ? http::Scheme::kHttps : http::Scheme::kHttp;
  codec_ = version == http::Version::kHttp2
               ? http::makeH2ServerCodec(*this, worker.chunks(), limits_, scheme, worker.clock())
               : http::makeH1ServerCodec(*this, worker.chunks(), limits_, scheme);
}

void EchoConnection::onBytes(std::string_view bytes) {
  wakeUp();
  if (state_ != State::kServing) return;
  if (codec_) {
    codec_->feed(bytes);
    return;
  }
  firstBytes_ += bytes;
  const http::Preface preface = http::detectPreface(firstBytes_);
  if (preface == http::Preface::kUndecided) return;
  makeCodec(preface == http::Preface::kHttp2 ? http::Version::kHttp2 : http::Version::kHttp11);
  codec_->feed(std::exchange(firstBytes_, {}));
}

void EchoConnection::onEnd(bool) {
  if (codec_ && state_ == State::kServing) {
    codec_->feedEnd();
  } else {
    state_ = State::kDead;
  }
  wakeUp();
}

void EchoConnection::onFailed(const base::Error&) {
  state_ = State::kDead;
  wakeUp();
}

void EchoConnection::onTimer() {
  state_ = State::kDead;
  wakeUp();
}

http::Token EchoConnection::onRequest(http::StreamId stream, http::RequestMessage&& message) {
  wakeUp();
  return streams_.create(static_cast<EchoStreamOwner&>(*this), stream, std::move(message)).token();
}

http::Token EchoConnection::onBadRequest(http::StreamId stream, const base::Error& error) {
  wakeUp();
  return streams_.create(static_cast<EchoStreamOwner&>(*this), stream, error.status).token();
}

void EchoConnection::onRequestBody(http::Token token, std::string_view bytes) {
  if (EchoStream* stream = find(token)) stream->onBody(bytes);
}

void EchoConnection::onRequestEnd(http::Token token) {
  if (EchoStream* stream = find(token)) stream->onEnd();
}

void EchoConnection::onRequestEnd(http::Token token, http::Trailers&& trailers) {
  if (EchoStream* stream = find(token)) stream->onEnd(std::move(trailers));
}

void EchoConnection::onRequestReset(http::Token token, const base::Error&, bool) {
  if (EchoStream* stream = find(token)) streams_.destroy(stream->handle());
}

http::BodyPipe* EchoConnection::responseBody(http::Token token) {
  EchoStream* stream = find(token);
  return stream != nullptr ? &stream->response() : nullptr;
}

void EchoConnection::onResponseBodyTaken(http::Token token, std::size_t count) {
  if (EchoStream* stream = find(token)) stream->onResponseTaken(count);
  wakeUp();
}

void EchoConnection::onResponseSent(http::Token token) {
  if (EchoStream* stream = find(token)) streams_.destroy(stream->handle());
  wakeUp();
}

void EchoConnection::drive() {
  if (!codec_ || state_ != State::kServing) return;
  codec_->resume();
  streams_.forEach([this](EchoStream& stream) { stream.drive(*codec_); });
}

void EchoConnection::flush() {
  if (!codec_ || state_ != State::kServing) return;
  while (state_ == State::kServing && !transport_->pending() && (codec_->wantsProduce() || !out_.empty())) {
    codec_->produce(out_, kProduceBytes);
    if (out_.empty()) break;
    transport_->write(out_);
  }
  const bool sent = out_.empty() && !codec_->wantsProduce() && !transport_->pending();
  if (sent && codec_->state() == http::CodecState::kClosed) {
    linger();
    return;
  }
  transport_->setReadBudget(std::min(codec_->readBudget(), net::Worker::kReadBufferSize));
}

void EchoConnection::linger() {
  state_ = State::kLingering;
  transport_->shutdown();
  transport_->setReadBudget(net::Worker::kReadBufferSize);
  owner_.worker().timers().set(*this, owner_.worker().now() + kLinger);
}

}  // namespace sluice::echo
