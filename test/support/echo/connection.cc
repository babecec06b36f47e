#include "test/support/echo/connection.h"

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

Connection::Connection(Handle handle, ConnectionOwner& owner, int fd, const net::Address& peer,
                       const net::TlsServerContext* tls)
    : handle_(handle), owner_(owner), encrypted_(tls != nullptr), out_(owner.worker().chunks()) {
  transport_ = encrypted_ ? net::adoptTls(owner.worker(), fd, peer, *tls, *this)
                          : net::adoptTcp(owner.worker(), fd, peer, *this);
  transport_->setReadBudget(net::Worker::kReadBufferSize);
}

void Connection::onOpen() {
  if (const net::TlsFacts* tls = transport_->tls()) {
    makeCodec(tls->alpn == "h2" ? http::Version::kHttp2 : http::Version::kHttp11);
  }
  wakeUp();
}

void Connection::makeCodec(http::Version version) {
  net::Worker& worker = owner_.worker();
  const std::string_view scheme = encrypted_ ? "https" : "http";
  codec_ = version == http::Version::kHttp2
               ? http::makeH2ServerCodec(*this, worker.chunks(), limits_, scheme, worker.clock())
               : http::makeH1ServerCodec(*this, worker.chunks(), limits_, scheme);
}

void Connection::onBytes(std::string_view bytes) {
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

void Connection::onEnd(bool) {
  if (codec_ && state_ == State::kServing) {
    codec_->feedEnd();
  } else {
    state_ = State::kDead;
  }
  wakeUp();
}

void Connection::onFailed(const base::Error&) {
  state_ = State::kDead;
  wakeUp();
}

void Connection::onTimer() {
  state_ = State::kDead;
  wakeUp();
}

http::Token Connection::onRequest(http::StreamId stream, http::RequestMessage&& message) {
  wakeUp();
  return streams_.create(static_cast<StreamOwner&>(*this), stream, std::move(message)).token();
}

http::Token Connection::onBadRequest(http::StreamId stream, const base::Error& error) {
  wakeUp();
  return streams_.create(static_cast<StreamOwner&>(*this), stream, error.status).token();
}

void Connection::onRequestBody(http::Token token, std::string_view bytes) {
  if (Stream* stream = find(token)) stream->onBody(bytes);
}

void Connection::onRequestEnd(http::Token token) {
  if (Stream* stream = find(token)) stream->onEnd();
}

void Connection::onRequestEnd(http::Token token, http::Trailers&& trailers) {
  if (Stream* stream = find(token)) stream->onEnd(std::move(trailers));
}

void Connection::onRequestReset(http::Token token, const base::Error&, bool) {
  if (Stream* stream = find(token)) streams_.destroy(stream->handle());
}

http::BodyPipe* Connection::responseBody(http::Token token) {
  Stream* stream = find(token);
  return stream != nullptr ? &stream->response() : nullptr;
}

void Connection::onResponseBodyTaken(http::Token token, std::size_t count) {
  if (Stream* stream = find(token)) stream->onResponseTaken(count);
  wakeUp();
}

void Connection::onResponseSent(http::Token token) {
  if (Stream* stream = find(token)) streams_.destroy(stream->handle());
  wakeUp();
}

void Connection::drive() {
  if (!codec_ || state_ != State::kServing) return;
  codec_->resume();
  streams_.forEach([this](Stream& stream) { stream.drive(*codec_); });
}

void Connection::flush() {
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

void Connection::linger() {
  state_ = State::kLingering;
  transport_->shutdown();
  transport_->setReadBudget(net::Worker::kReadBufferSize);
  owner_.worker().timers().set(*this, owner_.worker().now() + kLinger);
}

}  // namespace sluice::echo
