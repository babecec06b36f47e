#include "proxy/upstream/pins.h"

#include "proxy/upstream/connection.h"

namespace sluice::upstream {
namespace {

bool isIdle(Connection& connection) {
  return connection.codec() != nullptr && connection.codec()->activeStreams() == 0;
}

}  // namespace

template <typename Visit>
void Pins::each(const Handles& handles, const PoolOwner& cluster, Visit&& visit) {
  for (const auto handle : handles) {
    Connection* connection = owner_.find(handle);
    if (connection != nullptr && &connection->pool().cluster() == &cluster) visit(*connection);
  }
}

// The first client keeps the connection: a request of another one may have been in flight on it when it was pinned.
void Pins::add(Connection& connection, http::Token client) {
  if (connection.pinnedTo() != http::kNoToken || connection.gone) return;
  connection.pin(client);
  Handles& own = ofClient_[client];
  std::erase_if(own, [this](auto handle) { return owner_.find(handle) == nullptr; });
  own.push_back(connection.handle());
}

// The latest connection with room is the one whose handshake goes on.
Connection* Pins::find(http::Token client, const PoolOwner& cluster) {
  const auto found = ofClient_.find(client);
  Connection* latest = nullptr;
  if (found == ofClient_.end()) return latest;
  each(found->second, cluster, [&](Connection& connection) {
    if (connection.available() > 0) latest = &connection;
  });
  return latest;
}

void Pins::trim(const Connection& connection) {
  const auto found = ofClient_.find(connection.pinnedTo());
  if (found == ofClient_.end()) return;
  const PoolOwner& cluster = connection.pool().cluster();
  std::size_t idle = 0;
  each(found->second, cluster, [&](Connection& own) { idle += !own.gone && isIdle(own) ? 1 : 0; });
  each(found->second, cluster, [&](Connection& own) {
    if (idle <= kMostIdle || own.gone || !isIdle(own)) return;
    own.drain();
    --idle;
  });
}

void Pins::release(http::Token client) {
  const auto found = ofClient_.find(client);
  if (found == ofClient_.end()) return;
  for (const auto handle : found->second) {
    if (Connection* connection = owner_.find(handle)) connection->drain();
  }
  ofClient_.erase(found);
}

void Pins::drain(const ConnectionOwner& pool) {
  for (const auto& [client, handles] : ofClient_) {
    for (const auto handle : handles) {
      Connection* connection = owner_.find(handle);
      if (connection != nullptr && &connection->pool() == &pool) connection->drain();
    }
  }
}

bool Pins::makeRoom(const ConnectionRoom& room) {
  Connection* idle = nullptr;
  bool closing = false;
  for (const auto& [client, handles] : ofClient_) {
    for (const auto handle : handles) {
      Connection* connection = owner_.find(handle);
      if (connection == nullptr || !isIdle(*connection) || !connection->pool().uses(room)) continue;
      if (connection->gone) {
        closing = true;
      } else {
        idle = connection;
      }
    }
  }
  if (idle != nullptr && !closing) idle->drain();
  return closing || idle != nullptr;
}

}  // namespace sluice::upstream
