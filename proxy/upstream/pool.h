// The connections of one worker to one endpoint of a Backend, and the requests that wait for one.
//
// HTTP/1.1 connections are given out last-in first-out; HTTP/2 requests go to the least loaded of a few connections.
// Until the first handshake has shown which version the endpoint uses, only one connection is opened, and all requests
// wait for it. The pools of a Backend share the room of limits.backendConnections (ConnectionRoom). Owned by its
// Cluster, or by Upstreams once the endpoint has gone, until the last connection has closed. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
#include "proxy/upstream/connection_wait.h"
#include "proxy/upstream/endpoint_places.h"
#include "proxy/upstream/health/passive_health.h"
#include "proxy/upstream/ready_connections.h"
#include "proxy/upstream/room_user.h"
#include "proxy/upstream/upstream_context.h"
#include "proxy/upstream/waiting_list.h"

namespace sluice::upstream {

class Pool final : public ConnectionOwner, public RoomUser {
 public:
  /// Without an address, the plan's hostname is resolved for each connection.
  Pool(UpstreamContext& owner, PoolOwner& cluster, const std::optional<net::Address>& endpoint);
  ~Pool();

  /// Returns the bounds of the endpoint; nullptr if it has none of its own.
  const std::shared_ptr<const EndpointPlaces>& places() const { return places_; }
  /// Returns how many new requests the bounds of the endpoint let through soon; it is full if that is 0.
  std::size_t vacancy() const;
  /// Returns the known addresses, before permits(); nullptr while they are being resolved.
  const base::Result<net::Addresses>* addresses();
  /// Returns a connection with room for one request; nullptr if there is none. A connection that serves one at a time
  /// is taken off its list.
  Connection* take();
  /// Notifies `waiter` by WaiterSink when there is a connection, or with the reason why there is none; or gives the
  /// waiter back to the cluster.
  void wait(http::Token waiter);
  /// Called when the waiter does not want a connection any more. It may have been notified of one already.
  void abandon(http::Token waiter);

  /// Returns the requests that wait here. Those that ask for addresses are notified once addresses() are known.
  WaitingList& waiting() { return waiting_; }
  /// Returns the number of requests in flight and of those that wait or are expected.
  std::size_t load() const;
  std::size_t openConnections() const { return open_; }
  /// Returns how many of these are not ready yet.
  std::size_t connecting() const { return connecting_.size(); }
  /// Returns true if the endpoint is ejected: the last attempt to connect failed a moment ago, or one request probes
  /// whether the next attempt fails, too.
  bool ejected(base::MonotonicTime now) const { return health_.ejected(now, !connecting_.empty()); }
  /// Returns the cause for which a request waits here. Linear in the number of those that wait.
  ConnectionWait waitOf(http::Token waiter) const;

  /// Called when the endpoint has gone: no new request goes to it, and the requests that wait for it get another one.
  void retire();
  /// Returns true if no connection and no question to the resolver refers to it any more.
  bool abandoned() const { return attached_ == 0 && !resolving_; }
  /// Returns true if it is abandoned and no request has asked for it lately.
  bool unused(base::MonotonicTime now) const {
    return abandoned() && waiting_.empty() && !waiting_.hasAskers() && !dirty && !ejected(now);
  }

  /// Runs in the drive beat: notifies waiters and opens connections.
  void settle();
  bool dirty = false;
  const base::MonotonicTime since;  // the time when it was made

  // ConnectionOwner
  PoolOwner& cluster() override { return cluster_; }
  const net::Address* endpoint() const override { return fixed_ ? &fixed_->value().front() : nullptr; }
  bool uses(const ConnectionRoom& room) const override {
    return &room == &room_ || (places_ != nullptr && &room == &places_->room());
  }
  bool permits(const net::Address& address) const override;
  void attach(const Connection& connection) override;
  void detach() override;
  base::Result<http::Version> negotiated(const net::TlsFacts* tls) override;
  void onServing(Connection& connection) override;
  void onCapacity(Connection& connection) override;
  void withhold(Connection& connection) override;
  void onStale() override { ready_.drainIdle(); }
  void onSlow() override;
  void onGone(Connection& connection, const base::Error* error) override;

  // RoomUser
  bool mayYield() const override { return attached_ > ready_.shared() || ready_.hasIdleShared(); }
  bool starves() const override { return attached_ == 0 && !waiting_.empty(); }
  Connection* leastRecentlyUsed() override;
  void urge() override { attentive_ = true; }
  void markDirty() override;

 private:
  bool closing() const;
  /// Returns how many more connections should be opened.
  std::size_t lacking() const;
  /// Opens a connection. Returns false if that serves no request now; after an error all waiters have been notified.
  bool open();
  /// Called when that room has none for a connection that it wants, or when another pool comes first.
  void onFull(ConnectionRoom& room);

  UpstreamContext& owner_;
  PoolOwner& cluster_;
  /// The address of an endpoint that has one; those of a name come from the resolver.
  const std::optional<base::Result<net::Addresses>> fixed_;
  ConnectionRoom& room_;
  const std::shared_ptr<const EndpointPlaces> places_;
  std::optional<http::Version> version_;
  ReadyConnections ready_;
  WaitingList waiting_;
  std::vector<base::Handle<Connection>> connecting_;
  std::size_t open_ = 0;      // connecting and serving
  std::size_t attached_ = 0;  // connections, including those that are to be reaped
  PassiveHealth health_;
  bool resolving_ = false;
  bool retired_ = false;
  /// If true, the pool settles when a connection becomes idle, to close it or to offer it to other pools.
  bool attentive_ = false;
};

}  // namespace sluice::upstream
