// One Backend, or one port of a Service, as one worker sees it: its TLS sessions, its bounds, and a pool of connections
// for each of its endpoints. A Backend is one endpoint with a name; those of a Service have addresses, and come and go.
//
// A request goes to the less busy of two endpoints that are chosen at random (power of two choices). That spreads
// requests as evenly as round robin if all endpoints are alike, and gives a slow one fewer, although no worker looks at
// every endpoint. Owned by Upstreams; a cluster lives as long as the worker serves the Backend, and then until the last
// request and connection have left it. One thread.
//
// Processors may narrow a request to some of a Backend's addresses. At a Backend with a name such requests have pools
// of their own, one for each address: the connections of such a pool go to that address, whatever the name resolves to
// by then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/http/codec.h"
#include "proxy/net/tls/tls.h"
#include "proxy/observe/metrics.h"
#include "proxy/routing/policy/egress/egress_dial.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/connection_room.h"
#include "proxy/upstream/places/backend_places.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/pool.h"
#include "proxy/upstream/pool_owner.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

/// The endpoints that a request prefers; null: any.
struct Wishes {
  const net::Address* preferred = nullptr;  // chosen unless it has gone or is ejected
  const net::Address* avoided = nullptr;    // chosen only if no other endpoint may serve
  /// Some of the addresses that resolve() returned, in its order; not empty. No connection goes anywhere else, not even
  /// a pooled one.
  const net::Addresses* allowed = nullptr;
  /// The dial, if policies judge its addresses; null: every address may be dialled.
  routing::EgressDial* dial = nullptr;
  /// Endpoints of a Service that fail their health checks: chosen only if no other may serve.
  std::shared_ptr<const routing::Endpoints> failing = nullptr;
  /// The client that asks: if connections are pinned to it, it gets one of those.
  http::Token client = http::kNoToken;
};

class Cluster final : public PoolOwner {
 public:
  Cluster(UpstreamContext& owner, std::shared_ptr<const routing::BackendPlan> plan);
  ~Cluster();

  const routing::BackendPlan& plan() const override { return *plan_; }
  net::TlsClientContext* tlsContext() override { return tls_.get(); }

  /// Lets one more request in, until it leaves, unless this returns Place::kNone. It may acquire() and use connections
  /// once it holds a place.
  Place enter(http::Token request, net::ClientNetwork client, bool seeks);
  void leave(http::Token request, Place place);
  BackendPlaces& places() { return room_.places(); }
  /// Returns false if no connection could be opened lately, at any endpoint, so that a request had better go to another
  /// Backend. For one request at a time it returns true nevertheless, so that this request tries again.
  bool serves() const;

  /// Takes another plan of the same identity: new endpoints are used from now on, and missing ones get no new request.
  void adopt(const std::shared_ptr<const routing::BackendPlan>& plan);
  /// Called when no new request will come. Idle connections close as soon as no request is left that could use them.
  void retire();
  bool deserted() const override { return retired_ && users_ == 0; }
  /// Returns true if it was retired and nothing refers to it any more.
  bool abandoned() const {
    bool refersTo = attached_ > 0;
    eachPool([&](const Pool& pool) { refersTo = refersTo || !pool.abandoned(); });
    return deserted() && !refersTo;
  }

  /// Returns where a connection could go now, with ports: the addresses of the name, or all endpoints, without those
  /// that the address guard prohibits. If there are none, they are not known yet, and WaiterSink notifies the waiter
  /// when to ask again. An error means that there is no address.
  base::Result<net::Addresses> resolve(http::Token waiter);
  /// Returns a connection with room for one request. With an empty handle, WaiterSink notifies the waiter when to ask
  /// again; with an error, the request cannot wait either.
  base::Result<base::Handle<Connection>> acquire(http::Token waiter, const Wishes& wishes = {});
  /// Called when the waiter does not want a connection any more. It may have been notified of one already.
  void abandon(http::Token waiter);

  /// Returns the cause for which a request without a connection, or without an address, waits.
  ConnectionWait waitOf(http::Token waiter) const;

  bool retired() const { return retired_; }
  /// Returns true if it has requests, or opens connections.
  bool isBusy() const {
    bool dials = false;
    eachPool([&](const Pool& pool) { dials = dials || pool.connecting() > 0; });
    return users_ > 0 || dials;
  }

  // PoolOwner
  ConnectionRoom& room() override { return room_; }
  void attach() override { ++attached_; }
  void detach() override;
  void countWaiters(int more) override;
  bool hasChoice() const override { return pools_.size() > 1 || ofAddress_.size() > 1; }
  bool relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) override;
  void forget(http::Token waiter) override { placements_.erase(waiter); }
  void onUse(ConnectionUse before, ConnectionUse now) override;
  void onReached() override {
    if (plan_->reach != nullptr) plan_->reach->onAnswer();
  }
  void onUnreached(const base::Error& error) override;

 private:
  /// The pool where a request waits, or which has notified it to ask again.
  struct Placement {
    Pool* pool;
    unsigned tries;
    std::optional<net::Addresses> allowed;  // nullopt: any
    std::shared_ptr<const routing::Endpoints> failing;
  };
  /// The conditions for a choice among endpoints; see Wishes.
  struct Terms {
    const Pool* avoided = nullptr;
    const net::Addresses* allowed = nullptr;
    const routing::Endpoints* failing = nullptr;
  };

  bool isBalanced() const { return plan_->endpoints.has_value(); }
  std::unique_ptr<Pool> makePool(const routing::Endpoint& endpoint);
  /// Returns the pool for a request: the one of its placement if it has one; nullptr if there is no endpoint.
  Pool* place(http::Token waiter, const Wishes& wishes);
  /// Returns nullptr if there is no such endpoint.
  Pool* poolAt(const net::Address& address) const;
  /// Returns nullptr if the terms exclude all endpoints.
  Pool* choose(Elsewhere among, const Terms& terms);
  /// Returns the less busy of two pools that are chosen at random.
  template <typename Pools>
  Pool* spread(const Pools& pools, Elsewhere among, const Terms& terms);
  /// Returns the pool of the first of a name's addresses that serves, in the order in which a connection would try
  /// them.
  Pool* firstOf(const net::Addresses& allowed, Elsewhere among, const Pool* avoided);
  Pool* ofAddress(const net::Address& address) const;
  Pool& makeOfAddress(const net::Address& address);
  template <typename Visit>
  void eachPool(Visit&& visit) const {
    for (const auto& pool : pools_) visit(*pool);
    for (const auto& pool : ofAddress_) visit(*pool);
  }
  /// Returns whether there is room for another request that waits.
  bool mayWait() const;
  base::Error tooManyWait();

  UpstreamContext& owner_;
  std::shared_ptr<const routing::BackendPlan> plan_;
  const routing::BackendIdentity boundedAs_;
  ConnectionRoom& room_;
  CircuitBreaker& budget_;  // the room's
  std::unique_ptr<net::TlsClientContext> tls_;
  std::optional<base::Error> broken_;  // the TLS context could not be made
  /// The pools are in the order of the plan's endpoints; a Backend with a name has only one.
  std::vector<std::unique_ptr<Pool>> pools_;
  std::vector<std::unique_ptr<Pool>> ofAddress_;           // for narrowed requests to a Backend with a name
  std::unordered_map<http::Token, Placement> placements_;  // for requests that have a choice of endpoints
  observe::Gauge& idleGauge_;
  observe::Gauge& activeGauge_;
  std::size_t waiting_ = 0;   // in all pools
  std::size_t attached_ = 0;  // connections, including those that are to be reaped
  std::size_t users_ = 0;     // requests
  bool retired_ = false;
};

}  // namespace sluice::upstream
