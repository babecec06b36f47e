#include "proxy/routing/policy/active_check.h"

namespace sluice::routing {

EndpointStates ActiveCheck::endpoints() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return endpoints_;
}

void ActiveCheck::set(EndpointStates endpoints) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  endpoints_ = std::move(endpoints);
}

std::string ActiveCheck::why() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return why_;
}

void ActiveCheck::set(CheckedState state, std::string why) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    why_ = std::move(why);
  }
  state_.store(state, std::memory_order_relaxed);
}

}  // namespace sluice::routing
