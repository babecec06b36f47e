#include "proxy/processing/server_health.h"

namespace sluice::processing {

std::string_view reachName(ServerReach reach) {
  switch (reach) {
    case ServerReach::kPending:
      return "pending";
    case ServerReach::kActive:
      return "active";
    case ServerReach::kDegraded:
      return "degraded";
  }
  return "";
}

void ServerHealth::onFailure(Cause cause, base::WallTime now) const {
  if (failures_.load(std::memory_order_relaxed) == 0) {
    since_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  cause_.store(cause, std::memory_order_relaxed);
  // The count is published last, so that a thread that reads it also reads a time.
  failures_.fetch_add(1, std::memory_order_release);
}

ServerReport ServerHealth::announced() const {
  const std::lock_guard lock(mutex_);
  return announced_;
}

ServerReport ServerHealth::announce(base::WallTime now) const {
  const ServerReport state = current(now);
  const std::lock_guard lock(mutex_);
  if (state.reach != announced_.reach) announced_ = state;
  return announced_;
}

ServerReport ServerHealth::current(base::WallTime now) const {
  ServerReport state;
  state.failures = failures_.load(std::memory_order_acquire);
  state.since = base::WallTime(base::WallTime::duration(since_.load(std::memory_order_relaxed)));
  const bool fails = state.failures >= kMostFailures || (state.failures > 0 && now - state.since >= kPatience);
  if (!fails) return {hasAnswered_.load(std::memory_order_relaxed) ? ServerReach::kActive : ServerReach::kPending};
  state.reach = ServerReach::kDegraded;
  state.cause = cause_.load(std::memory_order_relaxed);
  return state;
}

}  // namespace sluice::processing
