#include <memory>
#include <utility>

#include "proxy/http/opaque/opaque_codec.h"

namespace sluice::http {

using base::Error;
using base::ErrorType;

OpaqueClientCodec::OpaqueClientCodec(ClientSink& sink, base::ChunkPool& pool, const MessageBounds& limits)
    : sink_(sink), pool_(&pool), stream_(*this, base::ByteQueue(pool), limits), state_(State::kIdle) {}

OpaqueClientCodec::OpaqueClientCodec(ClientSink& sink, base::ByteQueue&& ahead, const MessageBounds& limits,
                                     Token token, StreamId stream)
    : sink_(sink),
      pool_(nullptr),
      stream_(*this, std::move(ahead), limits),
      token_(token),
      id_(stream),
      state_(State::kOpen) {
  stream_.open();
}

StreamId OpaqueClientCodec::sendRequest(Token token, const RequestHead& head, Scheme /*scheme*/) {
  if (availableStreams() == 0 || head.body != Body::kTunnel || head.tunnel != Tunnel::kStream) return 0;
  token_ = token;
  state_ = State::kAsked;
  return ++id_;
}

void OpaqueClientCodec::wake(StreamId stream) {
  if (isCurrent(stream)) stream_.wake();
}

void OpaqueClientCodec::reset(StreamId stream, ResetReason /*reason*/) {
  if (isCurrent(stream)) leave();
}

void OpaqueClientCodec::grant(StreamId stream, std::size_t count) {
  if (isCurrent(stream)) stream_.grant(count);
}

void OpaqueClientCodec::widen(StreamId stream) {
  if (isCurrent(stream)) stream_.widen();
}

void OpaqueClientCodec::feed(std::string_view bytes) {
  if (state() != CodecState::kClosed) stream_.feed(bytes);
}

void OpaqueClientCodec::feedEnd(bool clean) {
  if (state() == CodecState::kClosed || stream_.endSeen()) return;
  if (!clean) {
    lost_ = Error::upstream(ErrorType::kConnectionTerminated, "the backend ended the connection within its response");
  }
  stream_.feedEnd();
}

void OpaqueClientCodec::feedLost(const Error& error) {
  if (state() == CodecState::kClosed) return;
  // The backend had ended its way, so bytes that are still in flight to it are of no use.
  if (stream_.input() == OpaqueStream::Input::kDone) {
    const Token token = std::exchange(token_, kNoToken);
    state_ = State::kEnded;
    return sink_.onRequestSent(token);
  }
  // Nothing was sent, and produce() is not called any more.
  if (state_ == State::kAsked) return sink_.onResponseReset(leave(), error, true);
  // Bytes that came before the loss and still wait for credit are delivered first.
  lost_ = error;
  stream_.feedEnd();
  if (state_ == State::kIdle) state_ = State::kEnded;
}

void OpaqueClientCodec::inputEnded() {
  if (lost_) return fail(*lost_);
  const Token token = stream_.output() == OpaqueStream::Output::kDone ? leave() : token_;
  sink_.onResponseEnd(token);
}

void OpaqueClientCodec::agree() {
  ResponseMessage message(*pool_);
  message.head.status = agreementTo(Tunnel::kStream);
  message.head.version = Version::kOpaque;
  message.head.body = Body::kTunnel;
  message.head.tunnel = Tunnel::kStream;
  state_ = State::kOpen;
  sink_.onResponse(token_, std::move(message));
  stream_.open();
}

void OpaqueClientCodec::produce(base::ByteQueue& out, std::size_t limit) {
  if (state_ == State::kAsked) agree();
  if (state_ != State::kOpen || stream_.output() == OpaqueStream::Output::kDone) return;
  stream_.produce(out, limit);
  switch (stream_.output()) {
    case OpaqueStream::Output::kHeld:
    case OpaqueStream::Output::kOpen:
      return;
    case OpaqueStream::Output::kDone:
      return sink_.onRequestSent(stream_.input() == OpaqueStream::Input::kDone ? leave() : token_);
    case OpaqueStream::Output::kBroken:
      return fail(Error::internal("the request could not be completed"));
    case OpaqueStream::Output::kOwnerless:
      leave();
      return;
  }
}

bool OpaqueClientCodec::wantsProduce() const {
  if (state_ == State::kAsked) return true;
  return state_ == State::kOpen && (stream_.wantsProduce() || stream_.output() == OpaqueStream::Output::kBroken);
}

void OpaqueClientCodec::fail(const Error& error) {
  const Error why = error;  // `error` may be lost_
  sink_.onResponseReset(leave(), why, false);
}

Token OpaqueClientCodec::leave() {
  state_ = stream_.output() == OpaqueStream::Output::kDone ? State::kEnded : State::kAborted;
  return std::exchange(token_, kNoToken);
}

void OpaqueClientCodec::drain() {
  if (state_ == State::kIdle) state_ = State::kEnded;
}

std::size_t OpaqueClientCodec::readBudget() const { return state() == CodecState::kClosed ? 0 : stream_.readBudget(); }

CodecState OpaqueClientCodec::state() const {
  switch (state_) {
    case State::kIdle:
      return stream_.endSeen() ? CodecState::kClosed : CodecState::kOpen;
    case State::kAsked:
    case State::kOpen:
      return CodecState::kDraining;
    case State::kEnded:
    case State::kAborted:
      return CodecState::kClosed;
  }
  return CodecState::kClosed;
}

bool OpaqueClientCodec::halfClosed() const {
  return state_ == State::kOpen && stream_.output() == OpaqueStream::Output::kDone;
}

std::unique_ptr<ClientCodec> makeOpaqueClientCodec(ClientSink& sink, base::ChunkPool& pool,
                                                   const MessageBounds& limits) {
  return std::make_unique<OpaqueClientCodec>(sink, pool, limits);
}

}  // namespace sluice::http
