// One connection to a Backend: a transport and the client codec that it negotiated. Owned by Upstreams' slab; one
// thread.
//
// Its own events (bytes, end, failure, deadline) only record and mark it dirty; what follows from them is done when
// Upstreams flushes.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/base/beat_table.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/timers.h"
#include "proxy/net/transport.h"
#include "proxy/upstream/connection_owner.h"
#include "proxy/upstream/context.h"

namespace sluice::upstream {

class Connection final : public net::TransportSink, private net::Timer {
 public:
  enum class State : std::uint8_t {
    kConnecting,  // until onOpen()
    kServing,     // the pool may give it out
    kRetiring,    // streams in flight go on, no new ones
    kLost,        // the transport failed; what was read ahead of it is still taken
    kDead         // to be reaped
  };

  using Table = base::BeatTable<Connection>;

  Connection(base::Handle<Connection> self, Context& owner, Table& table, ConnectionOwner& pool,
             net::Addresses addresses);
  ~Connection() override;

  base::Handle<Connection> handle() const { return self_; }
  State state() const { return state_; }
  bool dead() const { return state_ == State::kDead; }
  /// nullptr while connecting.
  http::ClientCodec* codec() { return codec_.get(); }
  ConnectionOwner& pool() const { return pool_; }
  /// The error of a connection that may go to none of its addresses.
  static base::Error prohibited();
  /// Requests that can be begun now.
  std::size_t available() const;
  /// Requests begun so far; more than one tells that it comes from the pool.
  std::uint64_t requests() const { return requests_; }
  const net::Address& peer() const { return addresses_[attempt_]; }

  /// Begins a request; 0 if it can not be taken after all.
  http::StreamId begin(http::Token token, const http::RequestHead& head);
  /// The codec has something to say: flush in this beat.
  void touch() { table_.mark(*this); }

  /// It serves requests of that client alone from now on; see Pins, which calls it.
  void pin(http::Token client);
  /// The client that it serves alone; kNoToken: it serves anybody.
  http::Token pinnedTo() const { return pinnedTo_; }

  /// Takes no new request; closes when those in flight are done. Not while connecting: whoever waits for it has it.
  void drain();
  /// Other addresses are allowed: no new request goes to one that is not, and none of those that wait for it.
  void obeyGuard();

  /// Called by Upstreams only.
  void flush();
  bool dirty = false;
  /// For the pool: it stands in the list of idle HTTP/1.1 connections; it was taken off all lists.
  bool idle = false;
  bool gone = false;

 private:
  void onOpen() override;
  void onBytes(std::string_view bytes) override;
  void onEnd(bool clean) override;
  void onFailed(const base::Error& error) override;
  void onWritable() override { touch(); }
  void onTimer() override;

  std::unique_ptr<http::ClientCodec> makeCodec(http::Version version);
  void dial();
  /// Moves on to the next address that may be dialled; false if there is none.
  bool skipProhibited();
  bool hasNext() const { return attempt_ + 1 < addresses_.size(); }
  void redialSoon();
  void pump();
  void settle();
  void retire();
  void fail(const base::Error& error);
  void countHandshake(std::string_view result, bool resumed);
  void count(ConnectionUse use);

  const base::Handle<Connection> self_;
  Context& owner_;
  Table& table_;  // that it stands in
  ConnectionOwner& pool_;
  PoolOwner& cluster_;  // the pool's
  const net::Addresses addresses_;
  std::size_t attempt_ = 0;
  State state_ = State::kConnecting;
  std::unique_ptr<net::Transport> transport_;
  std::unique_ptr<http::ClientCodec> codec_;
  base::ByteQueue out_;
  std::uint64_t requests_ = 0;
  http::Token pinnedTo_ = http::kNoToken;
  base::MonotonicTime lastUsed_{};
  const base::MonotonicTime connectBy_;  // of all addresses together
  bool redial_ = false;                  // the address refuses or does not answer: the next one is tried in the beat
  ConnectionUse counted_ = ConnectionUse::kNone;
};

}  // namespace sluice::upstream
