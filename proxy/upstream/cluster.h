// One Backend, or one port of a Service, as one worker sees it: its TLS sessions, its bounds, and a pool of connections
// for each of its endpoints. A Backend is one endpoint with a name; those of a Service have addresses, and come and go.
//
// Without another policy, a request goes to the less busy of two endpoints that are chosen at random (power of two
// choices). That spreads requests as evenly as round robin if all endpoints are alike, and gives a slow one fewer,
// although no worker looks at every endpoint. With loadBalancing, a Balancer chooses, among the addresses of a name,
// too. Owned by Upstreams; a cluster lives as long as the worker serves the Backend, and then until the last request
// and connection have left it. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
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
#include "proxy/upstream/endpoint_places.h"
#include "proxy/upstream/endpoint_pools.h"
#include "proxy/upstream/health/reach_notes.h"
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
  /// The value by which consistent hashing chooses, if the plan asks for that.
  const std::uint64_t* hash = nullptr;
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
  bool serves() const { return !broken_ && pools_.serve(); }

  /// Takes another plan of the same identity: new endpoints are used from now on, and missing ones get no new request.
  void adopt(const std::shared_ptr<const routing::BackendPlan>& plan);
  /// Called when no new request will come. Idle connections close as soon as no request is left that could use them.
  void retire();
  bool deserted() const override { return retired_ && users_ == 0; }
  /// Returns true if it was retired and nothing refers to it any more.
  bool abandoned() const {
    bool refersTo = attached_ > 0;
    pools_.each([&](const Pool& pool) { refersTo = refersTo || !pool.abandoned(); });
    return deserted() && !refersTo;
  }

  /// Returns where a connection could go now, with ports: the addresses of the name, or all endpoints, without those
  /// that the address guard prohibits. If there are none, they are not known yet, and WaiterSink notifies the waiter
  /// when to ask again. An error means that there is no address.
  base::Result<net::Addresses> resolve(http::Token waiter);
  /// Returns a connection with room for one request. With an empty handle, WaiterSink notifies the waiter when to ask
  /// again; with an error, the request cannot wait either.
  /// The request takes its endpoint's place by `seat`, if the plan bounds endpoints; null: it takes none.
  base::Result<base::Handle<Connection>> acquire(http::Token waiter, const Wishes& wishes = {},
                                                 EndpointSeat* seat = nullptr);
  /// Called when the waiter does not want a connection any more. It may have been notified of one already.
  void abandon(http::Token waiter);

  /// Returns the cause for which a request without a connection, or without an address, waits.
  ConnectionWait waitOf(http::Token waiter) const;

  /// Returns the endpoints, as far as they are known.
  routing::CurrentEndpoints endpoints() const {
    return {plan_->endpoints ? &*plan_->endpoints : nullptr, pools_.count()};
  }
  bool retired() const { return retired_; }
  /// Returns true if it has requests, or opens connections.
  bool isBusy() const {
    bool dials = false;
    pools_.each([&](const Pool& pool) { dials = dials || pool.connecting() > 0; });
    return users_ > 0 || dials;
  }

  // PoolOwner
  ConnectionRoom& room() override { return room_; }
  DialRoom& dialRoom() override { return room_; }
  void attach() override { ++attached_; }
  void detach() override { --attached_; }
  void countWaiters(int more) override;
  bool hasChoice() const override { return pools_.haveChoice(); }
  std::size_t vacancy() override { return pools_.vacancy(); }
  void onVacancy() override;
  bool relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) override;
  bool isAwaited(const Pool& pool) const override;
  void forget(http::Token waiter) override { placements_.erase(waiter); }
  void onUse(ConnectionUse before, ConnectionUse now) override;
  ReachNotes& reach() override { return reach_; }

 private:
  /// The pool where a request waits for a connection or a place, or which it is to ask again.
  struct Placement {
    Pool* pool;
    unsigned tries;
    std::optional<net::Addresses> allowed;  // nullopt: any
    std::shared_ptr<const routing::Endpoints> failing;
    std::optional<std::uint64_t> hash;
    bool stays;          // at the endpoint of its session, even if another one has room
    bool seeks = false;  // a place at the endpoint
  };

  /// Returns the pool for a request: the one of its placement if it has one; nullptr if there is no endpoint.
  Pool* place(http::Token waiter, const Wishes& wishes);
  Placement& remember(http::Token waiter, Pool& pool, const Wishes& wishes);
  /// Has the request that has sought a place for longest look whether another endpoint has one.
  void wakeSeeker();
  Pool* choose(Elsewhere among, const Placement& placement, const Pool* avoided);
  /// Takes a place at the endpoint of `pool`, or at another one that is free. Returns the pool of the endpoint; nullptr
  /// if the request seeks a place, and has to ask again.
  base::Result<Pool*> takeEndpoint(http::Token waiter, const Wishes& wishes, EndpointSeat& seat, Pool& pool);
  /// Returns the pool of the endpoint where the request has a place, or seeks one; nullptr if it cannot serve it.
  Pool* poolOf(const EndpointSeat& seat, const Wishes& wishes) const;
  /// Takes a place at the endpoint of a connection that is pinned to the client. Returns false like takeEndpoint().
  base::Result<bool> takePinned(http::Token waiter, EndpointSeat* seat, const Connection& own);
  /// Returns the name of the bound that keeps another request from waiting for that pool, or for addresses if it is
  /// null; empty if it may wait.
  std::string_view waitBarrier(const Pool* pool) const;

  UpstreamContext& owner_;
  std::shared_ptr<const routing::BackendPlan> plan_;
  const routing::BackendIdentity boundedAs_;
  ConnectionRoom& room_;
  CircuitBreaker& budget_;  // the room's
  std::unique_ptr<net::TlsClientContext> tls_;
  std::optional<base::Error> broken_;                      // the TLS context could not be made
  std::unordered_map<http::Token, Placement> placements_;  // for requests that have a choice of endpoints
  std::deque<http::Token> seekers_;                        // those that seek, or have sought, a place at an endpoint
  observe::Gauge& idleGauge_;
  observe::Gauge& activeGauge_;
  EndpointPools pools_;
  ReachNotes reach_;
  std::size_t waiting_ = 0;   // in all pools
  std::size_t attached_ = 0;  // connections, including those that are to be reaped
  std::size_t users_ = 0;     // requests
  bool retired_ = false;
};

}  // namespace sluice::upstream
