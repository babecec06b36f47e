#include "proxy/upstream/waiting_list.h"

#include <algorithm>
#include <utility>

namespace sluice::upstream {

void WaitingList::add(http::Token waiter) {
  waiters_.push_back(waiter);
  cluster_.countWaiters(1);
}

void WaitingList::addAsker(http::Token asker) {
  askers_.push_back(asker);
  cluster_.countWaiters(1);
}

void WaitingList::remove(http::Token waiter) {
  cluster_.countWaiters(-static_cast<int>(std::erase(askers_, waiter)));
  const auto found = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (found == waiters_.end()) return;
  waiters_.erase(found);
  cluster_.countWaiters(-1);
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
  cluster_.countWaiters(-1);
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

void WaitingList::move(Elsewhere elsewhere) {
  for (std::size_t count = waiters_.size(); count > 0; --count) {
    const http::Token waiter = take();
    if (!cluster_.relocate(waiter, pool_, elsewhere)) add(waiter);
  }
}

}  // namespace sluice::upstream
