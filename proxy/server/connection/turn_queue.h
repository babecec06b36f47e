// Connections wait here if they have more work than one round of the loop may spend on them. A few of them continue in
// each round, so that other connections are served in between. Networks of clients take turns, and so do the
// connections of one network, so that no client waits longer because another one has many connections.
//
// T meets the requirements of base::BeatTable, and has methods takeTurn() and network(), and a public `bool
// waitsForTurn = false` that belongs to the queue. One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>

#include "proxy/base/beat_table.h"
#include "proxy/net/address.h"
#include "proxy/net/worker.h"

namespace sluice::server {

template <typename T>
class TurnQueue {
 public:
  /// The number of connections that go on in one round.
  static constexpr std::size_t kPerRound = 8;

  /// Both outlive the queue, which lives until the worker's loop has ended.
  TurnQueue(net::Worker& worker, base::BeatTable<T>& table) : worker_(worker), table_(table) {}
  TurnQueue(const TurnQueue&) = delete;
  TurnQueue& operator=(const TurnQueue&) = delete;

  void add(T& connection) {
    if (std::exchange(connection.waitsForTurn, true)) return;
    const net::ClientNetwork network = connection.network();
    Waiting& own = waiting_[network];
    if (own.empty()) order_.push_back(network);
    own.push_back(connection.handle());
    if (order_.size() == 1 && own.size() == 1) awaitRound();
  }

 private:
  using Waiting = std::deque<base::Handle<T>>;

  void awaitRound() {
    worker_.post([this] { goOn(); });
  }
  void goOn() {
    for (std::size_t served = 0; served < kPerRound && !order_.empty();) {
      T* found = takeNext();
      if (found == nullptr || found->dead()) continue;  // connections that have ended are dropped from the queue
      found->waitsForTurn = false;
      found->takeTurn();
      ++served;
    }
    if (!order_.empty()) awaitRound();
  }
  /// Takes the first connection of the network whose turn it is. Returns nullptr if it has left.
  T* takeNext() {
    const net::ClientNetwork network = order_.front();
    order_.pop_front();
    const auto own = waiting_.find(network);
    const base::Handle<T> handle = own->second.front();
    own->second.pop_front();
    if (own->second.empty()) {
      waiting_.erase(own);
    } else {
      order_.push_back(network);
    }
    return table_.find(handle);
  }

  net::Worker& worker_;
  base::BeatTable<T>& table_;
  std::deque<net::ClientNetwork> order_;  // networks of waiting connections, the next one first
  std::unordered_map<net::ClientNetwork, Waiting> waiting_;
};

}  // namespace sluice::server
