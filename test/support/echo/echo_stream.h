// One exchange at the echo origin: the request so far, and the answer. The path chooses the behaviour.
//
// Events record; drive() alone decides and calls the codec. Owned by its connection; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/timers.h"
#include "proxy/net/transport.h"
#include "proxy/net/worker.h"

namespace sluice::echo {

/// The part of --help about paths.
inline constexpr std::string_view kPathsHelp =
    "Paths:\n"
    "  (any)         JSON about the request: method, target, authority, version, fields, body, trailers, TLS\n"
    "  /status/N     status N without a body\n"
    "  /bytes/N      N bytes with Content-Length        /chunked/N     N bytes of unstated length\n"
    "  /echo         the request's body and trailers, while they come in; so does any application/grpc request\n"
    "  /early        answers before the request's body has ended\n"
    "  /trailers     a body with trailer fields\n"
    "  /interim      103 before the answer\n"
    "  /delay-ms/N   answers N milliseconds after the end of the request\n"
    "  /silent       never answers\n";

enum class Behaviour : std::uint8_t {
  kDescribe,
  kStatus,
  kBytes,
  kChunked,
  kEcho,
  kEarly,
  kTrailers,
  kInterim,
  kDelay,
  kSilent
};

/// Notified by a stream outside of the connection's own events.
class EchoStreamOwner {
 public:
  virtual ~EchoStreamOwner() = default;
  virtual void wakeUp() = 0;
  virtual net::Worker& worker() = 0;
  /// Returns nullptr on plain connections.
  virtual const net::TlsFacts* tlsFacts() const = 0;
};

class EchoStream final : net::Timer {
 public:
  using Handle = base::Handle<EchoStream>;

  EchoStream(Handle handle, EchoStreamOwner& owner, http::StreamId id, http::RequestMessage&& request);
  /// Makes a stream that answers a malformed request with `errorStatus`.
  EchoStream(Handle handle, EchoStreamOwner& owner, http::StreamId id, std::uint16_t errorStatus);

  http::Token token() const { return handle_.toToken(); }
  Handle handle() const { return handle_; }
  http::BodyPipe& response() { return response_; }

  void onBody(std::string_view bytes);
  void onEnd() { requestEnded_ = true; }
  void onEnd(http::Trailers&& trailers);
  void onResponseTaken(std::size_t count);

  /// Moves the answer as far as possible.
  void drive(http::ServerCodec& codec);

 private:
  void onTimer() override;
  void begin(http::ServerCodec& codec);
  void answer(http::ServerCodec& codec);
  void sendHead(http::ServerCodec& codec, std::uint16_t status, http::Body body, std::optional<std::uint64_t> length,
                std::string_view contentType);
  void sendText(http::ServerCodec& codec, std::uint16_t status, std::string_view contentType, std::string_view text);
  void startStreaming(http::ServerCodec& codec);
  void pump(http::ServerCodec& codec);
  void finishEcho();
  bool readyToAnswer();
  std::string describe() const;

  const Handle handle_;
  EchoStreamOwner& owner_;
  const http::StreamId id_;
  http::RequestMessage request_;
  std::optional<http::Trailers> requestTrailers_;
  http::BodyPipe response_;
  Behaviour behaviour_ = Behaviour::kDescribe;
  std::uint64_t number_ = 0;  // the number N in the path

  enum class State : std::uint8_t { kNew, kWaiting, kStreaming, kAnswered } state_ = State::kNew;
  bool requestEnded_ = false;
  bool timerFired_ = false;
  std::uint64_t received_ = 0;
  std::uint64_t fnv1a_ = 14695981039346656037ULL;
  std::string bodyStart_;
  std::size_t toGrant_ = 0;         // consumed, but not yet granted to the codec
  std::uint64_t generateLeft_ = 0;  // bytes left for /bytes and /chunked
};

}  // namespace sluice::echo
