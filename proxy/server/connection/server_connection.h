// One accepted connection: a transport, the codec that its first bytes or ALPN chose, and the timeouts of a client's
// side. The subclass is the codec's sink and handles the requests.
//
// Events only record and mark the connection dirty; resume() and flush() are its part of the beat. Owned by its
// table's slab.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/base/settings.h"
#include "proxy/http/codec.h"
#include "proxy/net/timers.h"
#include "proxy/net/tls/tls.h"
#include "proxy/net/transport.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"

namespace sluice::server {

/// The bytes that the clients of one worker have sent and received.
struct ClientCounters {
  explicit ClientCounters(observe::MetricShard& metrics)
      : open(metrics.at<observe::Metric::kDownstreamConnections>()),
        received(metrics.at<observe::Metric::kDownstreamBytes>("receive")),
        sent(metrics.at<observe::Metric::kDownstreamBytes>("transmit")) {}

  observe::Gauge& open;
  observe::Counter& received;
  observe::Counter& sent;
};

/// The parts that connections of one table share; they outlive the connections. Limits and timeouts may change
/// meanwhile.
struct ConnectionParts {
  net::Worker& worker;
  const http::Limits& limits;
  const base::TimeoutSettings& timeouts;
  http::H2Memory* h2Memory = nullptr;
  http::KnownAuthorities* authorities = nullptr;     // null: each authority is checked
  ClientCounters* counters = nullptr;                // null: these connections are not counted
  const base::ClientHalfClose* halfClose = nullptr;  // null: Allow
};

class ServerConnection : public net::TransportSink, protected http::ServerSink, private net::Timer {
 public:
  /// Takes over the descriptor. `parts` outlive the connection. `tls` may be null. `forwardProxy` states how requests
  /// are taken (http::ServerTerms).
  ServerConnection(const ConnectionParts& parts, int fd, const net::Address& peer,
                   std::shared_ptr<const net::TlsServerContext> tls, bool forwardProxy = false);
  ~ServerConnection() override;

  bool dead() const { return state_ == State::kDead; }
  /// Called in the drive phase of the worker's loop: continues with the requests that onRequestsWait() has reported, if
  /// it is their turn.
  void resume();
  /// Lets these requests continue in this turn of the loop.
  void takeTurn() {
    itsTurn_ = true;
    markDirty();
  }
  /// Called in the flush phase of the worker's loop (proxy/README.md): writes the bytes that wait to be sent.
  void flush();
  /// Accepts requests until a response has announced the end of the connection.
  void announceEnd();
  /// Accepts no new requests; closes when the last one is answered.
  void drain();
  /// Ends the connection now: by RST if the client has not yet taken a whole answer, so that neither the process nor
  /// the system keeps the remaining bytes.
  void cutOff();

 protected:
  virtual void markDirty() = 0;
  /// Called when bytes of requests have come that are not parsed in this turn, because they follow a request that has
  /// just been answered, or because they are expensive to decode. takeTurn() continues with them.
  virtual void onRequestsWait() = 0;
  /// Called when a timeout of the settings has ended something; `name` is its key there.
  virtual void onTimeout(std::string_view name) = 0;
  /// Returns the account that its codec charges heads to; nullptr if they are free.
  virtual http::HeadAccount* headAccount() { return nullptr; }
  /// Called when the TLS handshake is complete, or has failed.
  virtual void onHandshake(bool /*complete*/) {}
  /// Called when the sink has taken a whole head: if another one is pending already, its time begins now.
  void headArrived() {
    headSince_ = {};
    lastActive_ = parts_.worker.now();
  }
  /// Called when a request is over: from now on the connection may be idle, whatever else the client sends.
  void requestEnded() { lastActive_ = parts_.worker.now(); }
  http::ServerCodec* codecOrNull() { return codec_.get(); }
  /// Destroys the codec, which uses headAccount().
  void dropCodec() { codec_.reset(); }
  const net::Address& peer() const { return transport_->peer(); }
  const http::ServerTerms& terms() const { return terms_; }
  std::string_view serverName() const;
  const net::Transport& transport() const { return *transport_; }
  net::Worker& worker() { return parts_.worker; }

 private:
  enum class State : std::uint8_t {
    kHandshaking,  // TLS
    kSniffing,     // plaintext: the first bytes decide between HTTP/1.x and HTTP/2
    kServing,
    kLingering,  // our side is closed; bytes that the client still sends are read and dropped
    kDead
  };

  void onOpen() override;
  void onBytes(std::string_view bytes) override;
  void onEnd(bool clean) override;
  void onEndAhead(std::size_t unread) override;
  void onFailed(const base::Error& error) override;
  void onWritable() override { markDirty(); }
  void onTimer() override;

  /// Returns true if a client that ends its side while it waits for a response is taken for gone.
  bool abortsAtEnd() const;
  void sniff(std::string_view bytes);
  void feedEarly();
  void serve(http::Version version);
  void pump();
  void settle();
  void linger();
  void watchHead();
  base::MonotonicTime deadline() const;
  void arm();
  void die();

  const ConnectionParts& parts_;
  const std::shared_ptr<const net::TlsServerContext> tls_;  // outlives the transport, even if the listener changes
  const http::ServerTerms terms_;
  State state_;
  bool endAnnounced_ = false;
  bool draining_ = false;
  bool peerEnded_ = false;
  bool itsTurn_ = false;
  bool mayDrain_ = false;  // the codec drains uploads, which only that of HTTP/2 does
  std::unique_ptr<net::Transport> transport_;
  std::unique_ptr<http::ServerCodec> codec_;
  base::ByteQueue out_;
  base::ByteQueue early_;  // while sniffing: fewer bytes than a preface
  std::size_t lingerBudget_ = 0;
  base::MonotonicTime lastActive_;
  base::MonotonicTime headSince_{};  // zero if no head is pending
};

}  // namespace sluice::server
