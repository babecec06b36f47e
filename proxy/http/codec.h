// A codec translates between the bytes of a connection and the events of its streams, whichever protocol it uses. It
// has neither a socket nor a clock.
//
// Events go to a sink, whose methods only record what happened: they never call the codec back, never destroy it, and
// never wait. A stream is named twice: by the codec's StreamId towards the codec, and by the owner's Token (an encoded
// handle) towards the sink, so a late event of a stream whose owner is gone finds nothing. A codec asks its sink for a
// body pipe each time it needs it.
//
// Credit: on receipt, a codec delivers at most the granted bytes: at first limits.firstWindow per stream, and from
// widen() on limits.streamWindow; grant() adds the bytes that the consumer has taken out of the pipe. HTTP/2 turns it
// into WINDOW_UPDATE of the stream, HTTP/1.1 into readBudget(). The window of an HTTP/2 connection does not wait for
// consumers: it comes back as bytes arrive, because the streams that share it have consumers that know nothing of each
// other. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/http/authority.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/head_account.h"
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

/// The owner's reason to cut a stream short.
enum class ResetReason : std::uint8_t {
  kCancelled,  // its result is not wanted any more: CANCEL
  kRefused,    // it was not processed at all: REFUSED_STREAM
  kFailed      // the gateway cannot complete it: INTERNAL_ERROR
};

/// The part of a codec that is the same towards clients and towards backends.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Takes bytes from the peer, and all of them: those that cannot be parsed yet are kept, within readBudget().
  virtual void feed(std::string_view bytes) = 0;

  /// Notifies the codec that the pipe from which this stream's body is taken has more bytes, has ended, or broke. On a
  /// broken pipe HTTP/1.x ends the connection, HTTP/2 resets the stream.
  virtual void wake(StreamId stream) = 0;
  /// Cuts the stream short; no event of it follows. HTTP/1.x ends the connection without a further byte.
  virtual void reset(StreamId stream, ResetReason reason) = 0;
  /// Notifies the codec that the consumer took `count` bytes of the body that this stream receives.
  virtual void grant(StreamId stream, std::size_t count) = 0;
  /// Raises the window of the body that this stream receives from limits.firstWindow to limits.streamWindow. Called at
  /// most once.
  virtual void widen(StreamId stream) = 0;

  /// Appends bytes for the peer until `out` holds about `limit` or there are none.
  virtual void produce(base::ByteQueue& out, std::size_t limit) = 0;
  /// Returns true if produce() would append something or report an end.
  virtual bool wantsProduce() const = 0;
  /// Takes no new streams: sends GOAWAY, or Connection: close on the exchange under way. An idle connection ends at
  /// once, or in HTTP/2 when the peer has had the time to answer a PING.
  virtual void drain() = 0;

  /// Returns how many bytes may be read from the socket and fed now; 0 stops reading.
  virtual std::size_t readBudget() const = 0;
  virtual CodecState state() const = 0;
  /// Returns true, with kClosed, if a message was cut short: the connection must then end in a way that cannot be taken
  /// for a clean end (RST; no close_notify), without anything that was queued.
  virtual bool abortive() const { return false; }
  /// Returns true if our side of a tunnel has ended and the other has not: the connection shuts its writing side down
  /// and reads on.
  virtual bool halfClosed() const { return false; }
  /// Returns the number of streams between their first byte and their end.
  virtual std::size_t activeStreams() const = 0;
  virtual Version version() const = 0;
};

// ---------------------------------------------------------------------------------------------------------------------------------
// The server's side: towards clients.

class ServerSink {
 public:
  virtual ~ServerSink() = default;

  /// Called with a request head that hygiene has checked and normalised. With Body::kNone the request is complete with
  /// it; with Body::kTunnel any answer that does not agree completes it. Returns the owner's token; kNoToken refuses
  /// the stream.
  virtual Token onRequest(StreamId stream, RequestMessage&& message) = 0;
  /// Called for a head that cannot be served, but can be answered: the owner answers with error.status. The codec
  /// closes an HTTP/1.x connection behind that answer by itself.
  virtual Token onBadRequest(StreamId stream, const base::Error& error) = 0;
  virtual void onRequestBody(Token token, std::string_view bytes) = 0;
  /// Called when the request is complete.
  virtual void onRequestEnd(Token token) = 0;
  virtual void onRequestEnd(Token token, Trailers&& trailers) = 0;
  /// Called when the stream is over in both directions before its end: the client reset it, it was lost with the
  /// connection, or its body broke the protocol. HTTP/1.x reports a broken request body here too, with `answerable`
  /// true as long as no response was begun.
  virtual void onRequestReset(Token token, const base::Error& error, bool answerable) = 0;
  /// Returns the pipe from which the response body is taken; nullptr if the owner is gone (the stream is then reset).
  virtual BodyPipe* responseBody(Token token) = 0;
  /// Called when `count` bytes were taken out of that pipe.
  virtual void onResponseBodyTaken(Token token, std::size_t count) = 0;
  /// Called when the whole response was handed to produce()'s queue: the stream is over for its owner, and the token is
  /// not used again. What the client still sends is not passed on.
  virtual void onResponseSent(Token token) = 0;
  virtual void onLimitHit(Limit limit) = 0;
};

/// How to treat a client that has ended its side.
enum class Departure : std::uint8_t {
  kStays,  // it is answered: its response has begun, or the unread bytes may contain requests
  kWaits,  // its request is complete; it may wait for the response or may have left
  kLeft    // it cannot be answered: in HTTP/2, or because its request is incomplete
};

class ServerCodec : public Codec {
 public:
  /// Notifies the codec that the client has ended its side. HTTP/1.x still answers a request that is complete.
  virtual void feedEnd() = 0;
  /// Returns how to treat a client that has ended its side after at most `unread` bytes that were not read yet. After
  /// kLeft, the caller must call feedLost().
  virtual Departure departure(std::size_t unread) const = 0;
  /// Notifies the codec that the connection is gone without an orderly end: every stream is over (onRequestReset, not
  /// answerable), and the state is kClosed.
  virtual void feedLost() = 0;
  /// Notifies the codec that the pending head took too long (timeouts.requestHeader). HTTP/1.x calls onBadRequest with
  /// 408; HTTP/2 sends GOAWAY and is kClosed.
  virtual void expireHead() = 0;
  /// Continues with bytes that were kept. In HTTP/1.x these are pipelined requests, if the previous exchange is over;
  /// in HTTP/2 they are heads that are expensive to decode. Called in the drive beat.
  virtual void resume() {}
  /// Returns true if such bytes are kept. Until resume(), they are not parsed, and no further bytes may be read.
  virtual bool wantsResume() const { return false; }

  /// Announces the end of the connection with its next response: by Connection: close, or by GOAWAY. A connection of
  /// HTTP/2 that has had a request gets GOAWAY now. Until then the connection accepts requests. Without effect on a
  /// connection that serves one stream only.
  virtual void announceEnd() {}

  /// Sends a 1xx head; HTTP/1.0 clients get none.
  virtual void sendInterim(StreamId stream, const ResponseHead& head) = 0;
  /// Sends the final head, and copies the parts that it needs; the body that it announces is taken from
  /// sink.responseBody(). An answer that agrees to a request with Body::kTunnel is final too: from then on each way is
  /// one body, and the stream is over when both have ended.
  virtual void sendResponse(StreamId stream, const ResponseHead& head) = 0;
  /// Returns true if the client's flow-control windows, and not its socket, delay the remaining bytes of this response.
  virtual bool isHeldBack(StreamId /*stream*/) const { return false; }
  /// Notifies the codec that nothing more is taken from the client in this tunnel, so that the tunnel is over as soon
  /// as the response has ended.
  virtual void dismiss(StreamId stream) = 0;
  /// Returns true if a head has arrived in part; timeouts.requestHeader bounds that.
  virtual bool headPending() const = 0;

  /// Returns since when, at the earliest, HTTP/2 throws away what clients still send behind whole responses; zero if it
  /// does not. timeouts.drain bounds that for each stream.
  virtual base::MonotonicTime drainedSince() const { return {}; }
  /// Resets the streams for which it began at `since` or before. Returns how many there were.
  virtual std::size_t endDrains(base::MonotonicTime /*since*/) { return 0; }
};

// ---------------------------------------------------------------------------------------------------------------------------------
// The client's side: towards backends.

class ClientSink {
 public:
  virtual ~ClientSink() = default;

  /// Called with a 1xx head, but never with 101.
  virtual void onInterim(Token token, ResponseMessage&& message) = 0;
  /// Called with the final head. With Body::kNone the response is complete with it. A 101 (kTunnel) comes only as the
  /// valid answer to a request with Body::kTunnel, and stands for a 2xx of a backend of HTTP/2; any other answer
  /// completes that request (onRequestSent comes before it). A success without a tunnel is an error if the client uses
  /// HTTP/2, because there every success means a tunnel (RFC 8441).
  virtual void onResponse(Token token, ResponseMessage&& message) = 0;
  virtual void onResponseBody(Token token, std::string_view bytes) = 0;
  virtual void onResponseEnd(Token token) = 0;
  virtual void onResponseEnd(Token token, Trailers&& trailers) = 0;
  /// Called when the stream ended before its response did. With `unprocessed` the peer certainly has not begun to
  /// process it (HTTP/2: REFUSED_STREAM, or beyond GOAWAY's last stream; HTTP/1.x: the connection ended before any byte
  /// of the request was produced), so it may be tried again elsewhere.
  virtual void onResponseReset(Token token, const base::Error& error, bool unprocessed) = 0;
  /// Returns the pipe from which the request body is taken; nullptr if the owner is gone (the stream is then
  /// cancelled).
  virtual BodyPipe* requestBody(Token token) = 0;
  virtual void onRequestBodyTaken(Token token, std::size_t count) = 0;
  /// Called when the whole request was handed to produce()'s queue.
  virtual void onRequestSent(Token token) = 0;
  virtual void onLimitHit(Limit limit) = 0;
};

class ClientCodec : public Codec {
 public:
  /// Returns how many requests may be begun now without waiting; HTTP/1.1 takes 1 or 0.
  virtual std::size_t availableStreams() const = 0;
  /// Begins a request, and copies the parts of its head that it needs; the body that it announces is taken from
  /// sink.requestBody(). To be called only with availableStreams(). `scheme` is that of this connection, which need not
  /// be the one by which the client asked. Returns 0 if the peer cannot take it after all (then nothing was begun):
  /// HTTP takes no tunnel whose handshake is not prepared (RequestHead::tunnelProof). HTTP/2 keeps a request for a
  /// tunnel until the peer's SETTINGS arrive, and reports it by onResponseReset() if they do not offer that (RFC 8441).
  virtual StreamId sendRequest(Token token, const RequestHead& head, Scheme scheme) = 0;

  /// Returns true if the backend has announced that it takes no further request on this connection: by GOAWAY, or by a
  /// response after which it closes. After drain(), HTTP/1.1 may also return true because this side asked for the
  /// close.
  virtual bool peerLeaves() const { return false; }

  /// Returns true if requests are kept until the backend's SETTINGS arrive.
  virtual bool awaitsSettings() const { return false; }
  /// Ends those requests with this error. To be called only while awaitsSettings().
  virtual void refuseWaiting(const base::Error& /*error*/) {}

  /// Returns for how long the backend keeps the connection open without a request, as its last response stated; max()
  /// if it stated nothing. HTTP/1.1 only.
  virtual base::Duration keepAlive() const { return base::Duration::max(); }

  /// Sends a PING in HTTP/2, to check that the backend still answers; does nothing in other versions.
  virtual void ping() {}
  /// Returns how many of our pings the backend has answered, each with kPingBytes.
  virtual std::uint64_t pingsAnswered() const { return 0; }
  static constexpr std::size_t kPingBytes = 17;

  /// Notifies the codec that the backend ended its side, cleanly (TLS: with close_notify) or not.
  virtual void feedEnd(bool clean) = 0;
  /// Notifies the codec that the connection is lost: streams without their whole response are reset with this error.
  virtual void feedLost(const base::Error& error) = 0;
};

// ---------------------------------------------------------------------------------------------------------------------------------

/// Each function makes a codec. `terms` are those of the listener: a request that does not keep to them is refused. The
/// sink and the clock outlive the codec; the clock feeds rates (resets per minute) and drainedSince(), never deadlines.
/// `memory` is the worker's (h2_memory.h) and outlives the codec too; without it the codec keeps one of its own.
/// `heads` is the account of the client's connection; without it heads are bounded one by one. `authorities` are the
/// worker's, and outlive the codec; without them each authority is checked.
std::unique_ptr<ServerCodec> makeH1ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               ServerTerms terms, HeadAccount* heads = nullptr,
                                               KnownAuthorities* authorities = nullptr);
std::unique_ptr<ServerCodec> makeH2ServerCodec(ServerSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               ServerTerms terms, const base::Clock& clock, H2Memory* memory = nullptr,
                                               HeadAccount* heads = nullptr, KnownAuthorities* authorities = nullptr);
std::unique_ptr<ClientCodec> makeH1ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits);
std::unique_ptr<ClientCodec> makeH2ClientCodec(ClientSink& sink, base::ChunkPool& pool, const Limits& limits,
                                               const base::Clock& clock, H2Memory* memory = nullptr);

/// These make codecs of a plain byte stream, for connections that carry one exchange and no HTTP. The exchange is a
/// Tunnel::kStream, whose bodies are the bytes of either way. On the server's side it asks for `authority`, and begins
/// with resume().
std::unique_ptr<ServerCodec> makeOpaqueServerCodec(ServerSink& sink, base::ChunkPool& pool, const MessageBounds& limits,
                                                   std::string_view authority);
std::unique_ptr<ClientCodec> makeOpaqueClientCodec(ClientSink& sink, base::ChunkPool& pool,
                                                   const MessageBounds& limits);

/// The protocol that the first bytes of a plaintext connection show. The client preface is 24 bytes (RFC 9113 section
/// 3.4).
enum class Preface : std::uint8_t { kUndecided, kHttp1, kHttp2 };
Preface detectPreface(std::string_view firstBytes);

}  // namespace sluice::http
