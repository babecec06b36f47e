// One client connection of the echo origin: it connects its transport with its codec, and owns the streams on it.
//
// It follows the gateway's own rule: events only record and touch the connection, and the server's beat drives, flushes
// and reaps it. Owned by the server's slab; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/tls/tls.h"
#include "proxy/net/transport.h"
#include "test/support/echo/echo_stream.h"

namespace sluice::echo {

class EchoConnection;

/// The interface through which connections use the server.
class EchoConnectionOwner {
 public:
  virtual ~EchoConnectionOwner() = default;
  virtual net::Worker& worker() = 0;
  /// Schedules the connection to be driven, flushed and possibly reaped in this turn's beat.
  virtual void touch(EchoConnection& connection) = 0;
};

class EchoConnection final : net::TransportSink, http::ServerSink, EchoStreamOwner, net::Timer {
 public:
  using Handle = base::Handle<EchoConnection>;

  /// `tls` is nullptr for plain TCP.
  EchoConnection(Handle handle, EchoConnectionOwner& owner, int fd, const net::Address& peer,
                 const net::TlsServerContext* tls);
  ~EchoConnection() override = default;

  Handle handle() const { return handle_; }
  void drive();
  void flush();
  bool dead() const { return state_ == State::kDead; }

  bool touched = false;  // set while the connection is in the server's list

 private:
  void onOpen() override;
  void onBytes(std::string_view bytes) override;
  void onEnd(bool clean) override;
  void onFailed(const base::Error& error) override;
  void onWritable() override { wakeUp(); }

  http::Token onRequest(http::StreamId stream, http::RequestMessage&& message) override;
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override;
  void onRequestBody(http::Token token, std::string_view bytes) override;
  void onRequestEnd(http::Token token) override;
  void onRequestEnd(http::Token token, http::Trailers&& trailers) override;
  void onRequestReset(http::Token token, const base::Error& error, bool answerable) override;
  http::BodyPipe* responseBody(http::Token token) override;
  void onResponseBodyTaken(http::Token token, std::size_t count) override;
  void onResponseSent(http::Token token) override;
  void onLimitHit(http::Limit) override {}

  void wakeUp() override { owner_.touch(*this); }
  net::Worker& worker() override { return owner_.worker(); }
  const net::TlsFacts* tlsFacts() const override { return transport_->tls(); }

  void onTimer() override;
  void makeCodec(http::Version version);
  EchoStream* find(http::Token token) { return streams_.find(EchoStream::Handle::fromToken(token)); }
  void linger();

  enum class State : std::uint8_t {
    kServing,
    kLingering,  // this side is shut and waits for the peer's end, because a reset could lose the answer
    kDead
  };

  const Handle handle_;
  EchoConnectionOwner& owner_;
  const bool encrypted_;
  State state_ = State::kServing;
  std::string firstBytes_;  // kept until the version is known
  base::ByteQueue out_;
  base::Slab<EchoStream> streams_;
  http::Limits limits_;
  std::unique_ptr<net::Transport> transport_;
  std::unique_ptr<http::ServerCodec> codec_;
};

}  // namespace sluice::echo
