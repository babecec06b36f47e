#include "proxy/upstream/connection_room.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/pins.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

RoomTerms roomTermsOf(const routing::BackendPlan& plan) {
  const base::CircuitBreakerBounds& bounds = plan.connection.bounds;
  return {plan.boundedAs(), bounds, connectionLimit(bounds), requestLimit(bounds)};
}

ConnectionRoom::ConnectionRoom(UpstreamContext& owner, const RoomTerms& terms)
    : owner_(owner),
      joined_(owner.budgets(), terms.boundedAs, terms.bounds),
      budget_(*joined_.get()),
      places_(joined_, owner.places(), terms.requestLimit),
      limit_(terms.connectionLimit) {}

void ConnectionRoom::remove(RoomUser& pool) {
  std::erase(pools_, &pool);
  std::erase(seekers_, &pool);
  std::erase(elsewhere_, &pool);
}

const RoomUser* ConnectionRoom::firstStarving() const {
  const auto found =
      std::find_if(seekers_.begin(), seekers_.end(), [](const RoomUser* pool) { return pool->starves(); });
  return found != seekers_.end() ? *found : nullptr;
}

// The room of a connection that was closed for a starving pool must not be taken by a pool that settles before it.
bool ConnectionRoom::tryTake(const RoomUser& pool) {
  const RoomUser* first = firstStarving();
  if (first != nullptr && first != &pool) return false;
  if (!budget_.connections.tryAdd()) return false;
  // Others may have been refused for this one, and there may be more room.
  if (std::erase(seekers_, &pool) > 0) wakeSeekers();
  return true;
}

void ConnectionRoom::giveBack() {
  if (!seekers_.empty() && closing_ > 0) --closing_;
  giveBackMore();
}

void ConnectionRoom::giveBackMore() {
  budget_.connections.release();
  wakeSeekers();
  for (RoomUser* pool : elsewhere_) pool->markDirty();
}

void ConnectionRoom::wakeSeekers() {
  for (RoomUser* pool : seekers_) pool->markDirty();
}

void ConnectionRoom::stopSeeking(RoomUser& pool) {
  if (std::erase(seekers_, &pool) > 0) wakeSeekers();
}

void ConnectionRoom::enlist(RoomUser& pool) {
  if (std::find(seekers_.begin(), seekers_.end(), &pool) == seekers_.end()) seekers_.push_back(&pool);
}

bool ConnectionRoom::seek(RoomUser& pool, std::size_t lacking) {
  const bool othersYield = std::any_of(pools_.begin(), pools_.end(),
                                       [&](const RoomUser* other) { return other != &pool && other->mayYield(); });
  const RoomUser* first = firstStarving();
  // A starving pool comes first; this one follows when connections end.
  const bool othersFirst = first != nullptr && first != &pool;
  if (!othersYield && !othersFirst) return false;
  enlist(pool);
  const base::MonotonicTime now = owner_.worker().now();
  if (pool.starves()) {
    offer();
    for (RoomUser* other : pools_) {
      if (other != &pool) other->urge();
    }
  } else {
    while (closing() < lacking && closeIdle(&pool, now - kRest)) {
    }
  }
  if (!isSet()) owner_.worker().timers().set(*this, now + kRest);
  return true;
}

void ConnectionRoom::seekElsewhere(RoomUser& pool) {
  if (std::find(elsewhere_.begin(), elsewhere_.end(), &pool) != elsewhere_.end()) return;
  elsewhere_.push_back(&pool);
  owner_.places().wantConnection(joined_);
  owner_.worker().timers().set(*this, owner_.worker().now() + kAskAgain);
}

void ConnectionRoom::onTimer() {
  wakeSeekers();
  for (RoomUser* pool : std::exchange(elsewhere_, {})) pool->markDirty();
}

bool ConnectionRoom::offer() {
  const auto starving = static_cast<std::size_t>(
      std::count_if(seekers_.begin(), seekers_.end(), [](const RoomUser* pool) { return pool->starves(); }));
  if (starving == 0) return false;
  while (closing() + budget_.connections.room() < starving) {
    if (closeIdle(nullptr, base::MonotonicTime::max())) continue;
    owner_.pins().makeRoom(*this);
    break;
  }
  return true;
}

bool ConnectionRoom::closeIdle(const RoomUser* except, base::MonotonicTime since) {
  Connection* oldest = nullptr;
  for (RoomUser* pool : pools_) {
    Connection* idle = pool != except ? pool->leastRecentlyUsed() : nullptr;
    if (idle == nullptr || idle->lastUsed() > since) continue;
    if (oldest == nullptr || idle->lastUsed() < oldest->lastUsed()) oldest = idle;
  }
  if (oldest == nullptr) return false;
  closing_ = closing() + 1;
  oldest->drain();
  return true;
}

std::size_t ConnectionRoom::closing() {
  const base::MonotonicTime now = owner_.worker().now();
  if (std::exchange(closedAt_, now) != now) closing_ = 0;
  return closing_;
}

ConnectionRoom& ConnectionRooms::join(const RoomTerms& terms) {
  CountedRoom& shared = rooms_[terms.boundedAs];
  if (!shared.room) shared.room = std::make_unique<ConnectionRoom>(owner_, terms);
  ++shared.users;
  return *shared.room;
}

void ConnectionRooms::closeIdle(const routing::BackendIdentity& boundedAs) {
  const auto found = rooms_.find(boundedAs);
  if (found != rooms_.end()) found->second.room->closeAnyIdle();
}

void ConnectionRooms::leave(const routing::BackendIdentity& boundedAs) {
  const auto found = rooms_.find(boundedAs);
  if (--found->second.users == 0) rooms_.erase(found);
}

}  // namespace sluice::upstream
