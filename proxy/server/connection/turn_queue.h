// Connections that have more to do than one round of the loop shall spend on them wait here, in order. A few of them go
// on in each round, so that whoever asks for little is served in between.
//
// T is what base::BeatTable wants, with a method takeTurn() and a public `bool waitsForTurn = false` that belongs to
// the queue. One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "proxy/base/beat_table.h"
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
    waiting_.push_back(connection.handle());
    if (waiting_.size() == 1) awaitRound();
  }

 private:
  void awaitRound() {
    worker_.post([this] { goOn(); });
  }
  void goOn() {
    for (std::size_t served = 0; served < kPerRound && !waiting_.empty();) {
      T* found = table_.find(waiting_.front());
      waiting_.pop_front();
      if (found == nullptr || found->dead()) continue;  // of those that have left, none stays in the queue
      found->waitsForTurn = false;
      found->takeTurn();
      ++served;
    }
    if (!waiting_.empty()) awaitRound();
  }

  net::Worker& worker_;
  base::BeatTable<T>& table_;
  std::deque<base::Handle<T>> waiting_;
};

}  // namespace sluice::server
