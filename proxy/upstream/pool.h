// The connections of one worker to one endpoint of a Backend, and who waits for one.
//
// HTTP/1.1 connections are given out last-in first-out; HTTP/2 requests go to the least loaded of a few connections.
// Until the first handshake has said which version the endpoint speaks, one connection probes and everybody waits for
// it. Owned by its Cluster; when its endpoint has gone, by Upstreams until the last connection has. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/tls/tls.h"
#include "proxy/upstream/connection_owner.h"
#include "proxy/upstream/context.h"
#include "proxy/upstream/passive_health.h"
#include "proxy/upstream/waiting_list.h"

namespace sluice::upstream {

class Pool final : public ConnectionOwner {
 public:
  /// Without an address the plan's hostname is asked for, for each connection.
  Pool(Context& owner, PoolOwner& cluster, const std::optional<net::Address>& endpoint);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// The address that all of its connections go to; nullptr: those of the plan's hostname.
  const net::Address* endpoint() const { return fixed_ ? &fixed_->value().front() : nullptr; }
  /// What is known of where they may go, before admits(); nullptr: it is being asked for.
  const base::Result<net::Addresses>* addresses();
  /// Tells `waiter` by WaiterSink once addresses() may be had.
  void ask(http::Token waiter);

  /// A connection with room for one request, off the list if it serves one at a time; nullptr if there is none.
  Connection* take();
  /// Tells `waiter` by WaiterSink when there is one, or why there is none; or gives it back to the cluster.
  void wait(http::Token waiter);
  /// It does not want one any more (it may have been told already).
  void abandon(http::Token waiter);

  /// Requests on their way, and those that wait.
  std::size_t load() const;
  std::size_t openConnections() const { return open_; }
  /// The last attempt to connect failed, a moment ago, or one request finds out whether the next one fails too.
  bool ejected(base::MonotonicTime now) const { return health_.ejected(now, connecting_ > 0); }

  /// The endpoint has gone: no new request goes to it, and whoever waits for it gets another one.
  void retire();
  /// No connection and no question refers to it any more.
  bool abandoned() const { return attached_ == 0 && !resolving_; }
  /// And nobody has asked for it lately.
  bool unused(base::MonotonicTime now) const {
    return abandoned() && waiting_.empty() && !waiting_.hasAskers() && !dirty && !ejected(now);
  }

  /// The drive beat: tells waiters, opens connections.
  void settle();
  void markDirty();
  bool dirty = false;

  // ConnectionOwner
  PoolOwner& cluster() override { return cluster_; }
  bool permits(std::span<const std::uint8_t> address) const override;
  bool admits(const net::Address& address) const override;
  void attach() override;
  void detach() override;
  base::Result<http::Version> negotiated(const net::TlsFacts* tls) override;
  void onServing(Connection& connection) override;
  void onCapacity(Connection& connection) override;
  void onPinned(Connection& connection) override;
  void onSlow() override;
  void onGone(Connection& connection, const base::Error* error) override;

 private:
  Connection* leastLoaded();
  Connection* takeIdle();
  std::size_t spare();
  bool closing() const;
  bool wantsAnother(std::size_t waiting) const;
  /// False if nobody can be served by dialling: the error went to all waiters.
  bool open();
  void drainAll();

  Context& owner_;
  PoolOwner& cluster_;
  /// Of an endpoint with an address: that one. Its name's are the resolver's to know.
  const std::optional<base::Result<net::Addresses>> fixed_;
  std::optional<http::Version> version_;
  std::vector<base::Handle<Connection>> idle_;    // HTTP/1.1, most recently used last
  std::vector<base::Handle<Connection>> shared_;  // HTTP/2
  WaitingList waiting_;
  std::size_t connecting_ = 0;
  std::size_t open_ = 0;      // connecting and serving
  std::size_t attached_ = 0;  // connections, those that are to be reaped included
  PassiveHealth health_;
  bool resolving_ = false;
  bool retired_ = false;
};

}  // namespace sluice::upstream
