// Distributes limits.backendConnections of one Backend among the pools of one worker. A Backend has a pool for each
// version of HTTP, for each of the settings that policies give it, and for each endpoint. An endpoint with bounds of
// its own has a room of its own, too.
//
// Nothing here runs while there is room. When there is none for a pool whose requests wait, an idle connection of
// another pool closes for it, the least recently used one. If all are busy, the pool waits too:
//
// - A pool without any connection gets the next one that another pool is done with, before the requests that wait
//   there. So no plan of a Backend can keep another one out, as long as requests end.
// - A pool that has connections, which serve its requests in time, gets those of others that have been idle for a
// moment. So a plan does not keep connections that it does not need any more, and two busy plans do not take turns at
//   handshakes.
//
// Owned by ConnectionRooms; one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/terms/circuit_breaker_bounds.h"
#include "proxy/net/timers.h"
#include "proxy/routing/backend_identity.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/dial/dial_room.h"
#include "proxy/upstream/places/backend_places.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/room_user.h"

namespace sluice::upstream {

class UpstreamContext;

/// The bounds that a room distributes.
struct RoomTerms {
  routing::BackendIdentity boundedAs;  // identifies the circuit breaker
  base::CircuitBreakerBounds bounds;
  // The names of the limits have static lifetime.
  std::string_view connectionLimit;
  std::string_view requestLimit;
};

RoomTerms roomTermsOf(const routing::BackendPlan& plan);

class ConnectionRoom final : public DialRoom, private net::Timer {
 public:
  /// How long a connection has no request before a pool that has others may have it closed.
  static constexpr base::Duration kRest = std::chrono::seconds(1);
  /// The time until other workers are asked again.
  static constexpr base::Duration kAskAgain = std::chrono::milliseconds(50);

  /// Joins the circuit breaker until the room is destroyed.
  ConnectionRoom(UpstreamContext& owner, const RoomTerms& terms);

  CircuitBreaker& budget() { return budget_; }
  /// Returns the name of the bound of connections.
  std::string_view limit() const { return limit_; }
  /// Returns the places of the Backend's requests.
  BackendPlaces& places() { return places_; }
  /// Called by each pool when it is made, and when it is destroyed.
  void add(RoomUser& pool) { pools_.push_back(&pool); }
  void remove(RoomUser& pool);

  /// Takes room for one connection of the pool. Returns false if there is none for it.
  bool tryTake(const RoomUser& pool);
  bool tryTakeMore() override { return seekers_.empty() && elsewhere_.empty() && budget_.connections.tryAdd(); }
  /// Undoes tryTake() at once, because the connection cannot be made.
  void untake() { budget_.connections.release(); }
  void giveBackMore() override;
  /// Gives the room of a connection back that has ended.
  void giveBack();
  /// Has the pool settle when a connection of any pool has ended.
  void enlist(RoomUser& pool);
  /// Called when there was no room for a pool that lacks so many connections for the requests that wait. Closes
  /// connections for it, now or when other pools are done with them, and has it settle then. Returns false, and does
  /// nothing, if no other pool has a connection.
  bool seek(RoomUser& pool, std::size_t lacking);
  /// Called when there was no room for a pool that has connections, and none will be made here. Other workers may have
  /// connections that are idle: they close one each, and the pool settles a little later, or when a connection of this
  /// worker has ended.
  void seekElsewhere(RoomUser& pool);
  /// Closes the least recently used of the connections that are idle.
  void closeAnyIdle() { closeIdle(nullptr, base::MonotonicTime::max()); }
  /// Called when no request waits for the pool any more.
  void forget(RoomUser& pool) {
    if (!seekers_.empty()) stopSeeking(pool);
  }
  /// Called when a pool may be done with a connection that another one waits for. Closes connections for those that
  /// have none. Returns false if there are no such pools any more.
  bool offer();

 private:
  void onTimer() override;
  const RoomUser* firstStarving() const;
  void wakeSeekers();
  void stopSeeking(RoomUser& pool);
  /// Closes the least recently used of the connections that have been idle since `since`, but none of that pool.
  /// Returns false if there is none.
  bool closeIdle(const RoomUser* except, base::MonotonicTime since);
  /// Returns how many connections were closed for others in this round and are still to be destroyed, without those
  /// whose peer does not take the last bytes.
  std::size_t closing();

  UpstreamContext& owner_;
  const JoinedBreaker joined_;
  CircuitBreaker& budget_;
  BackendPlaces places_;
  const std::string_view limit_;
  std::vector<RoomUser*> pools_;
  std::vector<RoomUser*> seekers_;    // pools for which there was no room, in the order in which they came
  std::vector<RoomUser*> elsewhere_;  // pools for which other workers were asked
  std::size_t closing_ = 0;
  base::MonotonicTime closedAt_{};
};

/// The rooms of one worker, by BackendPlan::boundedAs(). Owned by Upstreams; one thread.
class ConnectionRooms {
 public:
  explicit ConnectionRooms(UpstreamContext& owner) : owner_(owner) {}

  /// Returns the room of that circuit breaker, which stays in place until as many have left as have joined.
  ConnectionRoom& join(const RoomTerms& terms);
  void leave(const routing::BackendIdentity& boundedAs);
  /// Does ConnectionRoom::closeAnyIdle(), if this worker uses the Backend.
  void closeIdle(const routing::BackendIdentity& boundedAs);

 private:
  struct CountedRoom {
    std::unique_ptr<ConnectionRoom> room;
    std::size_t users = 0;
  };

  UpstreamContext& owner_;
  std::unordered_map<routing::BackendIdentity, CountedRoom, routing::BackendIdentity::Hash> rooms_;
};

}  // namespace sluice::upstream
