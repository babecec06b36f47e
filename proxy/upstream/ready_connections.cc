#include "proxy/upstream/ready_connections.h"

#include <algorithm>
#include <utility>

#include "proxy/upstream/connection.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {
namespace {

// About three connections of HTTP/2 use a backend's cores better than one. A second is opened once the first has this
// many streams, the third once two have half as many.
constexpr std::size_t kSpreadAbove = 8;

}  // namespace

void ReadyConnections::share(const Connection& connection) { shared_.push_back(connection.handle()); }

void ReadyConnections::addIdle(Connection& connection) {
  if (std::exchange(connection.idle, true)) return;
  idle_.push_back(connection.handle());
}

void ReadyConnections::remove(Connection& connection) {
  std::erase(shared_, connection.handle());
  if (std::exchange(connection.idle, false)) std::erase(idle_, connection.handle());
}

// Both kinds are tried, whatever version the last handshake chose, because servers behind one name may differ.
Connection* ReadyConnections::take() {
  Connection* connection = leastLoaded();
  while (connection != nullptr && connection->codec()->activeStreams() == 0 && !connection->isFresh()) {
    connection->suspect();  // which takes it off the list
    connection = leastLoaded();
  }
  return connection != nullptr ? connection : takeIdle();
}

Connection* ReadyConnections::leastLoaded() const {
  Connection* best = nullptr;
  std::size_t least = 0;
  for (const auto handle : shared_) {
    Connection* connection = owner_.find(handle);
    if (connection == nullptr) continue;
    const std::size_t streams = connection->codec()->activeStreams();
    if ((best != nullptr && streams >= least) || connection->available() == 0) continue;
    best = connection;
    least = streams;
  }
  return best;
}

Connection* ReadyConnections::takeIdle() {
  while (!idle_.empty()) {
    Connection* connection = owner_.find(idle_.back());
    idle_.pop_back();
    if (connection == nullptr) continue;
    connection->idle = false;
    if (connection->available() == 0) continue;
    if (connection->isFresh()) return connection;
    connection->drain();
  }
  return nullptr;
}

bool ReadyConnections::hasIdleShared() const {
  return std::any_of(shared_.begin(), shared_.end(), [this](auto handle) {
    Connection* connection = owner_.find(handle);
    return connection != nullptr && connection->codec()->activeStreams() == 0;
  });
}

std::size_t ReadyConnections::streams() const {
  std::size_t count = 0;
  for (const auto handle : shared_) {
    if (Connection* connection = owner_.find(handle)) count += connection->codec()->activeStreams();
  }
  return count;
}

std::size_t ReadyConnections::spare() const {
  std::size_t count = idle_.size();
  for (const auto handle : shared_) {
    if (Connection* connection = owner_.find(handle)) count += connection->available();
  }
  return count;
}

bool ReadyConnections::isBusy(Connection& connection) const {
  return connection.codec()->activeStreams() * shared_.size() >= kSpreadAbove || connection.available() == 0;
}

bool ReadyConnections::allBusy() const {
  return std::all_of(shared_.begin(), shared_.end(), [this](auto handle) {
    Connection* connection = owner_.find(handle);
    return connection != nullptr && isBusy(*connection);
  });
}

Connection* ReadyConnections::leastRecentlyUsed(base::MonotonicTime made) const {
  const auto isUnused = [&](Connection* connection) {
    if (connection == nullptr || connection->available() == 0 || connection->codec()->activeStreams() > 0) return false;
    return connection->requests() > 0 || connection->lastUsed() < made;
  };
  const auto first =
      std::find_if(idle_.begin(), idle_.end(), [&](auto handle) { return isUnused(owner_.find(handle)); });
  Connection* oldest = first != idle_.end() ? owner_.find(*first) : nullptr;
  for (const auto handle : shared_) {
    Connection* connection = owner_.find(handle);
    if (!isUnused(connection)) continue;
    if (oldest == nullptr || connection->lastUsed() < oldest->lastUsed()) oldest = connection;
  }
  return oldest;
}

void ReadyConnections::drainIdle() {
  for (const auto handle : std::vector<base::Handle<Connection>>(idle_)) {
    if (Connection* connection = owner_.find(handle)) connection->drain();
  }
}

void ReadyConnections::drain() {
  drainIdle();
  for (const auto handle : std::vector<base::Handle<Connection>>(shared_)) {
    if (Connection* connection = owner_.find(handle)) connection->drain();
  }
}

}  // namespace sluice::upstream
