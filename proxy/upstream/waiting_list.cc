#include "proxy/upstream/waiting_list.h"

#include <algorithm>
#include <utility>

namespace sluice::upstream {

// The cluster subtracts what is left by itself.
WaitingList::~WaitingList() {
  if (places_ != nullptr) places_->countWaiters(-static_cast<int>(waiters_.size() + comers_.size()));
}

void WaitingList::countWaiters(int more) {
  cluster_.countWaiters(more);
  if (places_ != nullptr) places_->countWaiters(more);
}

void WaitingList::add(http::Token waiter) {
  waiters_.push_back(waiter);
  countWaiters(1);
}

void WaitingList::addAsker(http::Token asker) {
  askers_.push_back(asker);
  cluster_.countWaiters(1);
}

// It is counted as one that waits, so that no other request gets its place in the queue.
void WaitingList::expect(http::Token comer) {
  comers_.push_back(comer);
  countWaiters(1);
}

void WaitingList::arrive(http::Token comer) {
  if (!comers_.empty()) countWaiters(-static_cast<int>(std::erase(comers_, comer)));
}

void WaitingList::expectNone() {
  countWaiters(-static_cast<int>(comers_.size()));
  comers_.clear();
}

void WaitingList::remove(http::Token waiter) {
  arrive(waiter);
  cluster_.countWaiters(-static_cast<int>(std::erase(askers_, waiter)));
  const auto found = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (found == waiters_.end()) return;
  waiters_.erase(found);
  countWaiters(-1);
}

std::optional<std::size_t> WaitingList::ahead(http::Token waiter) const {
  const auto found = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (found == waiters_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - waiters_.begin());
}

bool WaitingList::asks(http::Token asker) const {
  return std::find(askers_.begin(), askers_.end(), asker) != askers_.end();
}

http::Token WaitingList::take() {
  const http::Token waiter = waiters_.front();
  waiters_.pop_front();
  countWaiters(-1);
  return waiter;
}

void WaitingList::wake(std::size_t room) {
  while (room > 0 && !waiters_.empty()) {
    const http::Token waiter = take();
    if (sink_.onPoolReady(waiter)) {
      --room;
    } else {
      cluster_.forget(waiter);
    }
  }
}

void WaitingList::wakeAskers() {
  cluster_.countWaiters(-static_cast<int>(askers_.size()));
  for (const http::Token asker : std::exchange(askers_, {})) sink_.onPoolReady(asker);
}

void WaitingList::fail(const base::Error& error, std::size_t count, Elsewhere elsewhere) {
  while (count > 0 && !waiters_.empty()) {
    const http::Token waiter = take();
    if (cluster_.relocate(waiter, pool_, elsewhere)) {
      --count;
      continue;
    }
    cluster_.forget(waiter);
    if (sink_.onPoolFailed(waiter, error)) --count;
  }
}

// Each leaves the front and comes back at the end, so the order of those that stay is the same.
void WaitingList::move(Elsewhere elsewhere, std::size_t kept, std::size_t most) {
  const std::size_t size = most > 0 ? waiters_.size() : 0;
  for (std::size_t i = 0; i < size; ++i) {
    const http::Token waiter = take();
    const bool leaves = i >= kept && most > 0 && cluster_.relocate(waiter, pool_, elsewhere);
    if (leaves) {
      --most;
    } else {
      add(waiter);
    }
  }
}

}  // namespace sluice::upstream
