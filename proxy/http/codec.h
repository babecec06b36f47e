// What every codec offers, whichever protocol it speaks: bytes in, events out; heads and pipes in, bytes out. No
// socket, no clock.
//
// Events go to a sink, whose methods only record what happened: they never call the codec back, never destroy it, and
// never wait. A stream is named twice: by the codec's StreamId towards the codec, and by the owner's Token (an encoded
// handle) towards the sink, so a late event of a stream whose owner is gone finds nothing. A codec asks its sink for a
// body pipe each time it needs it.
//
// Credit: on receipt, a codec delivers at most what was granted: at first limits.firstWindow per stream, and from
// widen() on limits.streamWindow; grant() adds what the consumer has taken out of the pipe. HTTP/2 turns it into
// WINDOW_UPDATE of the stream, HTTP/1.1 into readBudget(). The window of an HTTP/2 connection does not wait for
// consumers: it comes back as bytes arrive, because streams share it whose consumers know nothing of each other. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/limits.h"
#include "proxy/http/message.h"

namespace sluice::http {

class H2Memory;

using StreamId = std::uint32_t;
/// The owner's name for a stream: base::Handle::toToken().
using Token = std::uint64_t;
inline constexpr Token kNoToken = 0;

enum class CodecState : std::uint8_t {
  kOpen,      // takes new streams
  kDraining,  // streams in flight go on, no new ones: GOAWAY, Connection: close, or the peer has ended its side
  kClosed     // nothing more will be read; close the connection once produce() has nothing left
};

/// Why a stream is cut short by its owner.
enum class ResetReason : std::uint8_t {
  kCancelled,  // nobody wants it any more: CANCEL
  kRefused,    // was not processed at all: REFUSED_STREAM
  kFailed      // our side cannot complete it: INTERNAL_ERROR
};

/// What a codec of either side is to its connection and to the owners of its streams.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Bytes from the peer. Takes all of them (what cannot be parsed yet is kept, within readBudget()).
  virtual void feed(std::string_view bytes) = 0;

  /// The pipe that this stream's body is taken from has more bytes, has ended, or broke. Broken: HTTP/1.x ends the
  /// connection, HTTP/2 resets the stream.
  virtual void wake(StreamId stream) = 0;
  /// Cuts the stream short. No more events for it. HTTP/1.x ends the connection without a further byte.
  virtual void reset(StreamId stream, ResetReason reason) = 0;
  /// The consumer took `count` bytes of the body that this stream receives.
  virtual void grant(StreamId stream, std::size_t count) = 0;
  /// limits.streamWindow of the body that this stream receives may be under way, instead of limits.firstWindow. Called
  /// at most once.
  virtual void widen(StreamId stream) = 0;

  /// Appends bytes for the peer until `out` holds about `limit` or there are none.
  virtual void produce(base::ByteQueue& out, std::size_t limit) = 0;
  /// produce() would append something, or tell an end.
  virtual bool wantsProduce() const = 0;
  /// No new streams: GOAWAY, or Connection: close on the exchange under way. An idle connection ends at once.
  virtual void drain() = 0;

  /// Bytes that may be read from the socket and fed now; 0 means that reading shall stop.
  virtual std::size_t readBudget() const = 0;
  virtual CodecState state() const = 0;
  /// With kClosed: a message was cut short, so the connection must end in a way that cannot be taken for its clean end
  /// (RST; no close_notify), without anything that was queued.
  virtual bool abortive() const { return false; }
  /// Our side of a tunnel has ended, the other has not: shut down what was written, and read on.
  virtual bool halfClosed() const { return false; }
  /// Streams between their first byte and their end.
  virtual std::size_t activeStreams() const = 0;
  virtual Version version() const = 0;
};

// ---------------------------------------------------------------------------------------------------------------------------------
// The server's side: towards clients.

class ServerSink {
 public:
  virtual ~ServerSink() = default;

  /// A request head, checked and normalised by hygiene. If message.head.body is kNone, the request is complete with it;
  /// if it is kTunnel, by any answer but a 101. Returns the owner's token; kNoToken refuses the stream.
  virtual Token onRequest(StreamId stream, RequestMessage&& message) = 0;
  /// A head that cannot be served, but can be answered: the owner answers with error.status. The codec closes an
  /// HTTP/1.x connection behind that answer by itself.
  virtual Token onBadRequest(StreamId stream, const base::Error& error) = 0;
  virtual void onRequestBody(Token token, std::string_view bytes) = 0;
  /// The request is complete.
  virtual void onRequestEnd(Token token) = 0;
  virtual void onRequestEnd(Token token, Trailers&& trailers) = 0;
  /// The stream is over in both directions before its end: reset by the client, lost with the connection, or its body
  /// broke the protocol. HTTP/1.x: a broken request body is told here too, with answerable true as long as no response
  /// was begun.
  virtual void onRequestReset(Token token, const base::Error& error, bool answerable) = 0;
  /// The pipe that the response body is taken from; nullptr if the owner is gone (the stream is then reset).
  virtual BodyPipe* responseBody(Token token) = 0;
  /// `count` bytes were taken out of it.
  virtual void onResponseBodyTaken(Token token, std::size_t count) = 0;
  /// The whole response was handed to produce()'s queue: the stream is over, the token will not be used again.
  virtual void onResponseSent(Token token) = 0;
  virtual void onLimitHit(Limit limit) = 0;
};

class ServerCodec : public Codec {
 public:
  /// The client has ended its side. HTTP/1.x: a request that is complete is still answered.
  virtual void feedEnd() = 0;
  /// The client has ended its side, behind at most `unread` bytes that nobody has read yet. Returns true if it is taken
  /// for gone: no complete request of it waits for a response, and none is being written. Then feedLost() is due.
  /// HTTP/2: always, as in feedEnd().
  virtual bool hasLeft(std::size_t unread) const = 0;
  /// The connection is gone without an orderly end: every stream is over (onRequestReset, not answerable), state
  /// kClosed.
  virtual void feedLost() = 0;
  /// The head that is pending took too long (timeouts.requestHeader). HTTP/1.x: onBadRequest with 408. HTTP/2: GOAWAY,
  /// kClosed.
  virtual void expireHead() = 0;
  /// Begins a request without new bytes. HTTP/1.x: goes on with pipelined bytes that were kept, if the previous
  /// exchange is over. Call when driving.
  virtual void resume() {}
  /// resume() would find something to go on with.
  virtual bool wantsResume() const { return false; }

  /// A 1xx head. Not for HTTP/1.0 clients (dropped there).
  virtual void sendInterim(StreamId stream, const ResponseHead& head) = 0;
  /// The final head; what head.body announces is taken from sink.responseBody(). Copies what it needs. A 101 that
  /// agrees to a request with Body::kTunnel is final too: from then on both ways are one body each, and the stream is
  /// over when both have ended.
  virtual void sendResponse(StreamId stream, const ResponseHead& head) = 0;
  /// The client's flow-control windows, not its socket, keep the rest of this response back.
  virtual bool isHeldBack(StreamId /*stream*/) const { return false; }
  /// Nobody takes any more what the client says in this tunnel: it is over as soon as the response has ended.
  virtual void dismiss(StreamId stream) = 0;
  /// Part of a head has arrived and the rest has not: what timeouts.requestHeader bounds.
  virtual bool headPending() const = 0;
};

// ---------------------------------------------------------------------------------------------------------------------------------
// The client's side: towards backends.

class ClientSink {
 public:
  virtual ~ClientSink() = default;

  /// A 1xx head (never 101).
  virtual void onInterim(Token token, ResponseMessage&& message) = 0;
  /// The final head. If message.head.body is kNone, the response is complete with it. A 101 (kTunnel) comes only as the
  /// valid answer to a request with Body::kTunnel; with any other answer that request is complete (onRequestSent comes
  /// before it). For a client of HTTP/2, to whom every success means a tunnel (RFC 8441), a success without one is an
  /// error.
  virtual void onResponse(Token token, ResponseMessage&& message) = 0;
  virtual void onResponseBody(Token token, std::string_view bytes) = 0;
  virtual void onResponseEnd(Token token) = 0;
  virtual void onResponseEnd(Token token, Trailers&& trailers) = 0;
  /// The stream ended before its response did. `unprocessed`: the peer certainly has not begun to process it (HTTP/2
  /// REFUSED_STREAM or beyond GOAWAY's last stream; HTTP/1.x: the connection ended before any byte of the request was
  /// produced), so it may be tried again elsewhere.
  virtual void onResponseReset(Token token, const base::Error& error, bool unprocessed) = 0;
  /// The pipe that the request body is taken from; nullptr if the owner is gone (the stream is then cancelled).
  virtual BodyPipe* requestBody(Token token) = 0;
  virtual void onRequestBodyTaken(Token token, std::size_t count) = 0;
  /// The whole request was handed to produce()'s queue.
  virtual void onRequestSent(Token token) = 0;
  virtual void onLimitHit(Limit limit) = 0;
};

class ClientCodec : public Codec {
 public:
  /// Requests that may be begun now without waiting. HTTP/1.1: 1 or 0.
  virtual std::size_t availableStreams() const = 0;
  /// Begins a request; what head.body announces is taken from sink.requestBody(). Copies what it needs. Only with
  /// availableStreams(). Returns 0 if the peer cannot take it after all (then nothing was begun): HTTP/2 takes no
  /// tunnel, and HTTP/1.1 none whose handshake is not prepared (RequestHead::tunnelProof).
  virtual StreamId sendRequest(Token token, const RequestHead& head, Scheme scheme) = 0;

  /// The backend ended its side, cleanly (TLS: with close_notify) or not.
  virtual void feedEnd(bool clean) = 0;
  /// The connection is lost, and this is why: streams that did not have their whole response are reset with that error.
  virtual void feedLost(const base::Error& error) = 0;
};

// ---------------------------------------------------------------------------------------------------------------------------------

/// `scheme` is what the listener speaks: a request that claims another one is refused.
/// The sink and the clock outlive the codec; the clock only feeds rates (resets per minute), never deadlines.
/// `memory` is the worker's (h2_memory.h) and outlives the codec too; without it the codec keeps one of its own.
std::unique_ptr<ServerCodec> makeH1ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               Scheme scheme);
std::unique_ptr<ServerCodec> makeH2ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               Scheme scheme, const base::Clock& clock, H2Memory* memory = nullptr);
std::unique_ptr<ClientCodec> makeH1ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits);
std::unique_ptr<ClientCodec> makeH2ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               const base::Clock& clock, H2Memory* memory = nullptr);

/// Codecs of a plain byte stream, for connections that carry one exchange and nothing of HTTP: its bodies are the bytes
/// of either way, a Tunnel::kStream. The server's begins with resume(), and asks for `authority`.
std::unique_ptr<ServerCodec> makeOpaqueServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                                   std::string_view authority);
std::unique_ptr<ClientCodec> makeOpaqueClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits);

/// What the first bytes of a plaintext connection say. The client preface is 24 bytes (RFC 9113 section 3.4).
enum class Preface : std::uint8_t { kUndecided, kHttp1, kHttp2 };
Preface detectPreface(std::string_view firstBytes);

}  // namespace sluice::http
