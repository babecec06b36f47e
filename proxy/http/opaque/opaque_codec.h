// Codecs of a plain byte stream. A connection carries one exchange, a tunnel of bytes: the request's body has the
// client's bytes, the response's body has the backend's bytes, and each ends by itself (half-close).
//
// They also move the bytes of a tunnel that an HTTP/1.1 connection has become (RFC 9110 section 7.8): the HTTP/1.1
// codec hands its stream over and forwards the calls that concern it. Owned by the connection, or by that codec; one
// thread. Made by makeOpaqueServerCodec() and makeOpaqueClientCodec() in codec.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/codec.h"
#include "proxy/http/opaque/opaque_stream.h"

namespace sluice::http {

class OpaqueServerCodec final : public ServerCodec, private OpaqueEvents {
 public:
  /// Makes the codec of a connection; its exchange asks for `authority`, and begins with resume().
  OpaqueServerCodec(ServerSink& sink, base::ChunkPool& pool, const MessageBounds& limits, std::string_view authority);
  /// Takes over the stream of another codec that has become a tunnel; `ahead` was read from it already.
  OpaqueServerCodec(ServerSink& sink, base::ByteQueue&& ahead, const MessageBounds& limits, Token token,
                    StreamId stream);

  /// Called when the tunnel was agreed to: both ways move from now on.
  void open();

  void feed(std::string_view bytes) override;
  void feedEnd() override { stream_.feedEnd(); }
  /// A client that has ended its way may still want the other one.
  Departure departure(std::size_t /*unread*/) const override { return Departure::kStays; }
  void feedLost() override;
  void expireHead() override {}
  void resume() override;
  bool wantsResume() const override { return state_ == State::kNew; }
  void sendInterim(StreamId /*stream*/, const ResponseHead& /*head*/) override {}
  /// An answer other than a tunnel cannot be sent: its body is dropped, and the connection ends by RST.
  void sendResponse(StreamId stream, const ResponseHead& head) override;
  void wake(StreamId stream) override;
  void reset(StreamId stream, ResetReason reason) override;
  void grant(StreamId stream, std::size_t count) override;
  void widen(StreamId stream) override;
  void dismiss(StreamId stream) override;
  void produce(base::ByteQueue& out, std::size_t limit) override;
  bool wantsProduce() const override;
  void drain() override;
  std::size_t readBudget() const override;
  CodecState state() const override;
  bool abortive() const override { return state_ == State::kAborted || isBroken(); }
  bool halfClosed() const override;
  std::size_t activeStreams() const override { return token_ != kNoToken ? 1 : 0; }
  bool headPending() const override { return false; }
  Version version() const override { return Version::kOpaque; }

 private:
  enum class State : std::uint8_t {
    kNew,      // its exchange has not begun
    kAsked,    // awaits the answer
    kOpen,     // both ways move
    kRefused,  // the answer is not a tunnel
    kEnded,
    kAborted
  };

  void bytesArrived(std::string_view bytes) override { sink_.onRequestBody(token_, bytes); }
  void inputEnded() override { sink_.onRequestEnd(token_); }
  BodyPipe* outputPipe() override { return sink_.responseBody(token_); }
  void outputTaken(std::size_t count) override { sink_.onResponseBodyTaken(token_, count); }

  bool isCurrent(StreamId stream) const { return stream == id_ && token_ != kNoToken; }
  bool isBroken() const { return state_ == State::kOpen && stream_.output() == OpaqueStream::Output::kBroken; }
  /// Returns true once both ways have ended.
  bool isOver() const;
  void dropBody();
  void end(const base::Error& error);
  void finish(State state);

  ServerSink& sink_;
  base::ChunkPool* pool_;  // null if the exchange has begun elsewhere
  const std::string authority_;
  OpaqueStream stream_;
  Token token_ = kNoToken;
  StreamId id_ = 1;
  State state_;
  bool hasBody_ = false;  // of the answer that is dropped
};

class OpaqueClientCodec final : public ClientCodec, private OpaqueEvents {
 public:
  /// Makes the codec of a connection.
  OpaqueClientCodec(ClientSink& sink, base::ChunkPool& pool, const MessageBounds& limits);
  /// Takes over the stream of another codec that has become a tunnel.
  OpaqueClientCodec(ClientSink& sink, base::ByteQueue&& ahead, const MessageBounds& limits, Token token,
                    StreamId stream);

  std::size_t availableStreams() const override { return state() == CodecState::kOpen ? 1 : 0; }
  /// Takes Tunnel::kStream alone; the next produce() reports that the peer has agreed.
  StreamId sendRequest(Token token, const RequestHead& head, Scheme scheme) override;
  void wake(StreamId stream) override;
  void reset(StreamId stream, ResetReason reason) override;
  void grant(StreamId stream, std::size_t count) override;
  void widen(StreamId stream) override;
  void feed(std::string_view bytes) override;
  void feedEnd(bool clean) override;
  void feedLost(const base::Error& error) override;
  void produce(base::ByteQueue& out, std::size_t limit) override;
  bool wantsProduce() const override;
  void drain() override;
  std::size_t readBudget() const override;
  CodecState state() const override;
  bool abortive() const override { return state_ == State::kAborted; }
  bool halfClosed() const override;
  std::size_t activeStreams() const override { return token_ != kNoToken ? 1 : 0; }
  Version version() const override { return Version::kOpaque; }

 private:
  enum class State : std::uint8_t {
    kIdle,   // takes a request
    kAsked,  // the next produce() agrees to it
    kOpen,
    kEnded,
    kAborted
  };

  void bytesArrived(std::string_view bytes) override { sink_.onResponseBody(token_, bytes); }
  void inputEnded() override;
  BodyPipe* outputPipe() override { return sink_.requestBody(token_); }
  void outputTaken(std::size_t count) override { sink_.onRequestBodyTaken(token_, count); }

  bool isCurrent(StreamId stream) const { return stream == id_ && token_ != kNoToken; }
  void agree();
  void fail(const base::Error& error);
  /// Ends the stream, by RST if our way had not ended, and returns its token.
  Token leave();

  ClientSink& sink_;
  base::ChunkPool* pool_;  // null if the exchange has begun elsewhere
  OpaqueStream stream_;
  std::optional<base::Error> lost_;  // why the peer's way broke, reported after the bytes that came before
  Token token_ = kNoToken;
  StreamId id_ = 0;
  State state_;
};

}  // namespace sluice::http
