// One connection to a Backend: a transport and the client codec that it negotiated. Owned by Upstreams' slab; one
// thread.
//
// Its own events (bytes, end, failure, deadline) only record and mark it dirty; it acts on them when Upstreams flushes.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/beat_table.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/timers.h"
#include "proxy/net/transport.h"
#include "proxy/upstream/connection_log.h"
#include "proxy/upstream/connection_owner.h"
#include "proxy/upstream/dial_race.h"
#include "proxy/upstream/health/liveness.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

class Connection final : public net::TransportSink, private net::Timer {
 public:
  enum class State : std::uint8_t {
    kConnecting,  // until onOpen()
    kServing,     // the pool may give it out
    kRetiring,    // streams in flight go on, no new ones
    kLost,        // the transport failed; bytes that were read before are still taken
    kDead         // to be reaped
  };

  using Table = base::BeatTable<Connection>;

  Connection(base::Handle<Connection> self, UpstreamContext& owner, Table& table, ConnectionOwner& pool,
             net::Addresses addresses);
  ~Connection() override;

  base::Handle<Connection> handle() const { return self_; }
  State state() const { return state_; }
  bool dead() const { return state_ == State::kDead; }
  /// Returns nullptr while connecting.
  http::ClientCodec* codec() { return codec_.get(); }
  ConnectionOwner& pool() const { return pool_; }
  /// Returns how many requests can be begun now.
  std::size_t available() const;
  /// Returns false if no request has used it for a while, and the Backend has ended it or has sent bytes that were not
  /// read yet. Costs a system call then.
  bool isFresh() const;
  /// Returns how many requests were begun so far; with more than one the connection came from the pool.
  std::uint64_t requests() const { return requests_; }
  /// Returns when the last request ended, or when the connection was made if it has had none; not while it has any.
  base::MonotonicTime lastUsed() const { return lastUsed_; }
  /// Returns the address that it goes to, or tried last.
  const net::Address& peer() const { return transport_ ? transport_->peer() : race_->address(); }
  /// Returns Transport::certificateDigest() of the Backend.
  const std::string& certificate();
  /// Called when a request was refused because of the certificate. If another handshake may show another one, because
  /// the last was a while ago or resumed a session, the connection takes no new request, no session is resumed, and
  /// this returns true.
  bool discardOutdated();
  /// Returns true if the address has been reached, and its TLS handshake is under way.
  bool shakesHands() const { return state_ == State::kConnecting && race_->shakesHands(); }
  /// Returns true if the Backend does not take the written bytes.
  bool backsUp() const { return transport_ && transport_->pending(); }

  /// Begins a request. Returns 0 if it cannot be taken after all.
  http::StreamId begin(http::Token token, const http::RequestHead& head);
  /// Has the connection flushed in this beat, because its codec has something to send.
  void touch() { table_.mark(*this); }

  /// Makes it serve requests of that client alone from now on; called by Pins.
  void pin(http::Token client);
  /// Returns the client that it serves alone; kNoToken if it serves any client.
  http::Token pinnedTo() const { return pinnedTo_; }

  /// Called when a request has timed out without any byte of its response. Other requests take another connection until
  /// a byte comes on this one. It is given up if it does not answer a ping, and at once if no ping is possible. Does
  /// nothing in HTTP/1.1, where a request that was cut short ends its connection.
  void suspect();

  /// Takes no new request, and closes when those in flight are done. Does nothing while connecting, because a request
  /// waits for it then.
  void drain();
  /// Applies another address guard: a connection to an address that is not allowed any more takes no new request, and
  /// none that waits for it.
  void obeyGuard();

  /// Called by its DialRace when an address has been reached, from within onOpen() of that transport.
  void onDialled(std::unique_ptr<net::Transport> transport);
  /// Only Upstreams calls it.
  void flush();
  bool dirty = false;
  /// For the pool: `idle` if it is in the list of idle HTTP/1.1 connections, `gone` if it was taken off all lists.
  bool idle = false;
  bool gone = false;

 private:
  void onOpen() override;
  void onBytes(std::string_view bytes) override;
  void onEnd(bool clean) override;
  void onFailed(const base::Error& error) override;
  void onWritable() override { touch(); }
  void onTimer() override;

  void proceed();
  void arm(base::MonotonicTime due);
  void refuseWaiting();
  void pump();
  void settle();
  void retire();
  void fail(const base::Error& error);
  void count(ConnectionUse use);

  const base::Handle<Connection> self_;
  UpstreamContext& owner_;
  Table& table_;  // the table that it is in
  ConnectionOwner& pool_;
  PoolOwner& cluster_;  // the pool's
  State state_ = State::kConnecting;
  base::MonotonicTime connectBy_;              // for all addresses together, and then for SETTINGS
  std::unique_ptr<DialRace> race_;             // null once it is open
  std::unique_ptr<net::Transport> transport_;  // null until it is open
  std::unique_ptr<http::ClientCodec> codec_;
  std::string certificate_;  // empty until it is asked for
  base::ByteQueue out_;
  std::uint64_t requests_ = 0;
  std::uint64_t mostRequests_ = std::numeric_limits<std::uint64_t>::max();
  http::Token pinnedTo_ = http::kNoToken;
  base::MonotonicTime lastUsed_{};
  base::MonotonicTime opened_{};
  base::MonotonicTime expiresAt_ = base::MonotonicTime::max();  // when it takes no further request
  Liveness liveness_;
  std::optional<bool> answered_;  // bytes have come on it; absent until it is open
  ConnectionUse counted_ = ConnectionUse::kNone;
  ConnectionLog log_;
};

}  // namespace sluice::upstream
