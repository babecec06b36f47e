// One Backend, or one port of a Service, as one worker sees it: its TLS sessions, its bounds, and a pool of connections
// for each of its endpoints. A Backend is one endpoint with a name; those of a Service have addresses, and come and go.
//
// A request goes to the less busy of two endpoints that chance chooses. That spreads as evenly as round robin where all
// are alike, and where one is slow it gets less, without that every worker has to look at every endpoint. Owned by
// Upstreams; lives as long as the worker serves the Backend, and then until the last request and connection have left
// it. One thread.
//
// Requests that processors have narrowed (E-97) have pools of their own at a Backend with a name, one for each address:
// what such a pool opens or gives out goes to that address, whatever the name stands for by then.
#pragma once

#include <algorithm>
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
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/budget.h"
#include "proxy/upstream/context.h"
#include "proxy/upstream/pool.h"
#include "proxy/upstream/pool_owner.h"
#include "proxy/upstream/retry_budget.h"

namespace sluice::upstream {

/// Which of several endpoints a request would have; null: any.
struct Wishes {
  const net::Address* preferred = nullptr;  // chosen unless it has gone, or the last attempt to connect to it failed
  const net::Address* avoided = nullptr;    // chosen only if no other one may serve
  /// Of what resolve() said, in its order, and not empty: no connection goes anywhere else, pooled ones included.
  const net::Addresses* allowed = nullptr;
  /// Who asks, if connections are pinned to it: it gets its own.
  http::Token client = http::kNoToken;
};

class Cluster final : public PoolOwner {
 public:
  Cluster(Context& owner, std::shared_ptr<const routing::BackendPlan> plan);
  ~Cluster();

  const routing::BackendPlan& plan() const override { return *plan_; }
  net::TlsClientContext* tlsContext() override { return tls_.get(); }

  /// One request more that may acquire() and use its connections, until it leaves; false if limits.backendRequests has
  /// no room for it.
  bool tryEnter();
  void leave();
  /// One of those that enter may be a retry; false if they have been too many lately.
  bool tryRetry();

  /// `plan` has the same identity: endpoints that are new are used from now on, those that are missing get no new
  /// request.
  void adopt(const std::shared_ptr<const routing::BackendPlan>& plan);
  /// No new request comes: what is idle closes as soon as nobody is here who could want it.
  void retire();
  bool deserted() const override { return retired_ && users_ == 0; }
  /// It was retired, and nothing refers to it any more.
  bool abandoned() const {
    bool refersTo = attached_ > 0;
    eachPool([&](const Pool& pool) { refersTo = refersTo || !pool.abandoned(); });
    return deserted() && !refersTo;
  }

  /// Where a connection could go now, with ports: what the name stands for, or all endpoints, without what the address
  /// guard prohibits. Empty: not known yet; the waiter is told by WaiterSink, to ask again. An error: there is nothing.
  base::Result<net::Addresses> resolve(http::Token waiter);
  /// A connection with room for one request; an empty handle: the waiter is told by WaiterSink; an error: it can not
  /// even wait.
  base::Result<base::Handle<Connection>> acquire(http::Token waiter, const Wishes& wishes = {});
  /// The waiter does not want one any more (it may have been told already).
  void abandon(http::Token waiter);

  bool retired() const { return retired_; }

  // PoolOwner
  Budget& budget() override { return budget_; }
  void attach() override { ++attached_; }
  void detach() override;
  void countWaiters(int more) override { waiting_ += static_cast<std::size_t>(more); }
  bool hasChoice() const override { return pools_.size() > 1 || ofAddress_.size() > 1; }
  bool relocate(http::Token waiter, const Pool& from, Elsewhere elsewhere) override;
  void forget(http::Token waiter) override { placements_.erase(waiter); }
  void onUse(ConnectionUse before, ConnectionUse now) override;

 private:
  /// Where a request waits, or was told that it may come again.
  struct Placement {
    Pool* pool;
    unsigned tries;
    std::optional<net::Addresses> allowed;  // nullopt: any
  };

  bool isBalanced() const { return plan_->endpoints.has_value(); }
  std::unique_ptr<Pool> makePool(const routing::Endpoint& endpoint);
  /// The pool for a request: that of its placement if it has one. nullptr if there is no endpoint.
  Pool* place(http::Token waiter, const Wishes& wishes);
  /// nullptr if there is no such endpoint.
  Pool* poolAt(const net::Address& address) const;
  /// nullptr if none but `avoided` will do.
  Pool* choose(Elsewhere among, const Pool* avoided, const net::Addresses* allowed);
  /// The less busy of two that chance chooses.
  template <typename Pools>
  Pool* spread(const Pools& pools, Elsewhere among, const Pool* avoided);
  /// Of a name's addresses the first that serves, as one connection after the other would try them.
  Pool* firstOf(const net::Addresses& allowed, Elsewhere among, const Pool* avoided);
  Pool* ofAddress(const net::Address& address) const;
  Pool& makeOfAddress(const net::Address& address);
  template <typename Visit>
  void eachPool(Visit&& visit) const {
    for (const auto& pool : pools_) visit(*pool);
    for (const auto& pool : ofAddress_) visit(*pool);
  }
  base::Error tooManyWait();
  observe::Gauge* gauge(ConnectionUse use);

  Context& owner_;
  std::shared_ptr<const routing::BackendPlan> plan_;
  const routing::BackendIdentity countsAs_;
  Budget& budget_;
  std::unique_ptr<net::TlsClientContext> tls_;
  std::optional<base::Error> broken_;             // the TLS context could not be made
  std::vector<std::unique_ptr<Pool>> pools_;      // in the order of the plan's endpoints; of a Backend the only one
  std::vector<std::unique_ptr<Pool>> ofAddress_;  // of a Backend: for requests that are narrowed
  std::unordered_map<http::Token, Placement> placements_;  // where there is a choice
  observe::Gauge& idleGauge_;
  observe::Gauge& activeGauge_;
  std::size_t waiting_ = 0;    // in all pools
  std::size_t attached_ = 0;   // connections, those that are to be reaped included
  std::size_t users_ = 0;      // requests
  std::uint64_t entered_ = 0;  // so far
  RetryBudget retryBudget_;
  bool retired_ = false;
};

}  // namespace sluice::upstream
