#include <memory>
#include <utility>

#include "proxy/http/opaque/opaque_codec.h"

namespace sluice::http {

using base::Error;

OpaqueServerCodec::OpaqueServerCodec(ServerSink& sink, base::ChunkPool& pool, const MessageBounds& limits,
                                     std::string_view authority)
    : sink_(sink),
      pool_(&pool),
      authority_(authority),
      stream_(*this, base::ByteQueue(pool), limits),
      state_(State::kNew) {}

OpaqueServerCodec::OpaqueServerCodec(ServerSink& sink, base::ByteQueue&& ahead, const MessageBounds& limits,
                                     Token token, StreamId stream)
    : sink_(sink),
      pool_(nullptr),
      stream_(*this, std::move(ahead), limits),
      token_(token),
      id_(stream),
      state_(State::kAsked) {}

void OpaqueServerCodec::open() {
  state_ = State::kOpen;
  stream_.open();
}

void OpaqueServerCodec::feed(std::string_view bytes) {
  if (state_ == State::kEnded || state_ == State::kAborted) return;
  stream_.feed(bytes);
}

void OpaqueServerCodec::feedLost() {
  end(Error(base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
            "the client's connection was lost"));
}

void OpaqueServerCodec::resume() {
  if (state_ != State::kNew) return;
  RequestMessage message(*pool_);
  message.head.method = Method::kConnect;
  message.head.methodText = "CONNECT";
  message.head.authority = message.arena.copy(authority_);
  message.head.target = "/";
  message.head.version = Version::kOpaque;
  message.head.body = Body::kTunnel;
  message.head.tunnel = Tunnel::kStream;
  state_ = State::kAsked;
  token_ = sink_.onRequest(id_, std::move(message));
  if (token_ == kNoToken) state_ = State::kAborted;
}

void OpaqueServerCodec::sendResponse(StreamId stream, const ResponseHead& head) {
  if (!isCurrent(stream) || state_ != State::kAsked) return;
  if (head.body == Body::kTunnel) return open();
  state_ = State::kRefused;
  hasBody_ = head.body != Body::kNone;
  stream_.ignoreInput();
}

void OpaqueServerCodec::wake(StreamId stream) {
  if (isCurrent(stream)) stream_.wake();
}

void OpaqueServerCodec::reset(StreamId stream, ResetReason /*reason*/) {
  if (!isCurrent(stream)) return;
  token_ = kNoToken;
  state_ = State::kAborted;
}

void OpaqueServerCodec::grant(StreamId stream, std::size_t count) {
  if (isCurrent(stream)) stream_.grant(count);
}

void OpaqueServerCodec::widen(StreamId stream) {
  if (isCurrent(stream)) stream_.widen();
}

void OpaqueServerCodec::dismiss(StreamId stream) {
  if (isCurrent(stream) && state_ == State::kOpen) stream_.ignoreInput();
}

bool OpaqueServerCodec::isOver() const {
  return state_ == State::kOpen && stream_.output() == OpaqueStream::Output::kDone &&
         stream_.input() != OpaqueStream::Input::kOpen;
}

void OpaqueServerCodec::produce(base::ByteQueue& out, std::size_t limit) {
  if (state_ == State::kRefused) return dropBody();
  if (state_ != State::kOpen) return;
  stream_.produce(out, limit);
  if (isOver()) return finish(State::kEnded);
  if (isBroken()) return end(Error::internal("the response could not be completed"));
  if (stream_.output() == OpaqueStream::Output::kOwnerless) {
    token_ = kNoToken;
    state_ = State::kAborted;
  }
}

bool OpaqueServerCodec::wantsProduce() const {
  return state_ == State::kRefused || isOver() || isBroken() || (state_ == State::kOpen && stream_.wantsProduce());
}

void OpaqueServerCodec::dropBody() {
  BodyPipe* pipe = hasBody_ ? sink_.responseBody(token_) : nullptr;
  if (pipe != nullptr) {
    const std::size_t size = pipe->bytes.size();
    pipe->bytes.clear();
    if (size > 0) sink_.onResponseBodyTaken(token_, size);
    if (pipe->end() == PipeEnd::kOpen) return;
  }
  finish(State::kAborted);
}

void OpaqueServerCodec::finish(State state) {
  const Token token = std::exchange(token_, kNoToken);
  state_ = state;
  sink_.onResponseSent(token);
}

void OpaqueServerCodec::end(const Error& error) {
  const Token token = std::exchange(token_, kNoToken);
  state_ = State::kAborted;
  if (token != kNoToken) sink_.onRequestReset(token, error, false);
}

void OpaqueServerCodec::drain() {
  if (state_ == State::kNew) state_ = State::kEnded;
}

std::size_t OpaqueServerCodec::readBudget() const {
  return state_ == State::kEnded || state_ == State::kAborted ? 0 : stream_.readBudget();
}

CodecState OpaqueServerCodec::state() const {
  switch (state_) {
    case State::kNew:
      return CodecState::kOpen;
    case State::kAsked:
    case State::kRefused:
      return CodecState::kDraining;
    case State::kOpen:
      return isBroken() ? CodecState::kClosed : CodecState::kDraining;
    case State::kEnded:
    case State::kAborted:
      return CodecState::kClosed;
  }
  return CodecState::kClosed;
}

bool OpaqueServerCodec::halfClosed() const {
  return state_ == State::kOpen && stream_.output() == OpaqueStream::Output::kDone &&
         stream_.input() == OpaqueStream::Input::kOpen;
}

std::unique_ptr<ServerCodec> makeOpaqueServerCodec(ServerSink& sink, base::ChunkPool& pool, const MessageBounds& limits,
                                                   std::string_view authority) {
  return std::make_unique<OpaqueServerCodec>(sink, pool, limits, authority);
}

}  // namespace sluice::http
