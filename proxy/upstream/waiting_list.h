// The requests that wait for one pool: for a connection, in the order in which they came, or for addresses alone; and
// those that were moved here from a full endpoint, until they take a place here.
//
// Each is a token, which is notified through WaiterSink. The cluster counts them against its bound, and may have some
// of them wait for another pool. Owned by the pool; one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "proxy/base/error.h"
#include "proxy/http/codec.h"
#include "proxy/upstream/endpoint_places.h"
#include "proxy/upstream/places/waiters.h"
#include "proxy/upstream/pool_owner.h"

namespace sluice::upstream {

class WaitingList {
 public:
  /// All outlive the list; `pool` is the one for which the requests wait, and `places` are those of its endpoint, or
  /// null.
  WaitingList(const Pool& pool, PoolOwner& cluster, WaiterSink& sink, const EndpointPlaces* places)
      : pool_(pool), cluster_(cluster), sink_(sink), places_(places) {}
  ~WaitingList();
  WaitingList(const WaitingList&) = delete;
  WaitingList& operator=(const WaitingList&) = delete;

  /// Adds a request that waits for a connection.
  void add(http::Token waiter);
  /// Adds a request that waits for addresses alone.
  void addAsker(http::Token asker);
  /// Adds a request that was notified to come here.
  void expect(http::Token comer);
  /// Called when it has come, or if it may not have been expected at all.
  void arrive(http::Token comer);
  /// Forgets those that were to come here, because they go elsewhere.
  void expectNone();
  /// Forgets a token, which may have left the list already.
  void remove(http::Token waiter);

  /// Returns the number of requests that wait for a connection.
  std::size_t size() const { return waiters_.size(); }
  bool empty() const { return waiters_.empty(); }
  bool hasAskers() const { return !askers_.empty(); }
  /// Returns how many requests are expected.
  std::size_t expected() const { return comers_.size(); }
  /// Returns how many requests will be notified of a connection before that one; nullopt if it does not wait for one.
  std::optional<std::size_t> ahead(http::Token waiter) const;
  /// Returns true if it waits for addresses alone.
  bool asks(http::Token asker) const;

  /// Notifies as many requests of a connection as there is `room` for.
  void wake(std::size_t room);
  /// Notifies all requests that wait for addresses that these are known.
  void wakeAskers();
  /// Notifies `count` requests that no connection will come. A request that another endpoint `elsewhere` takes does not
  /// fail.
  void fail(const base::Error& error, std::size_t count, Elsewhere elsewhere);
  void failAll(const base::Error& error, Elsewhere elsewhere) { fail(error, size(), elsewhere); }
  /// Lets the requests wait for other endpoints; those that no endpoint `elsewhere` takes stay.
  void move(Elsewhere elsewhere) { move(elsewhere, 0, size()); }
  /// Lets only so many of the requests that follow the first `kept` do so.
  void move(Elsewhere elsewhere, std::size_t kept, std::size_t most);

 private:
  http::Token take();
  void countWaiters(int more);

  const Pool& pool_;
  PoolOwner& cluster_;
  WaiterSink& sink_;
  const EndpointPlaces* const places_;
  std::deque<http::Token> waiters_;
  std::vector<http::Token> askers_;
  std::vector<http::Token> comers_;
};

}  // namespace sluice::upstream
