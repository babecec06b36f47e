#include "proxy/routing/policy/health_check.h"

#include <algorithm>

namespace sluice::routing {
namespace {

/// Returns whether a Service with these endpoints serves: if one of them is healthy or not yet checked.
CheckedState stateOfAll(const std::map<Endpoint, CheckedState>& endpoints) {
  const auto any = [&endpoints](CheckedState state) {
    return std::any_of(endpoints.begin(), endpoints.end(), [&](const auto& each) { return each.second == state; });
  };
  if (any(CheckedState::kHealthy)) return CheckedState::kHealthy;
  return endpoints.empty() || any(CheckedState::kUnknown) ? CheckedState::kUnknown : CheckedState::kUnhealthy;
}

}  // namespace

void HealthCheck::set(std::map<Endpoint, CheckedState> endpoints) const {
  auto failing = std::make_shared<Endpoints>();
  for (const auto& [endpoint, state] : endpoints) {
    if (state == CheckedState::kUnhealthy) failing->push_back(endpoint);
  }
  set(stateOfAll(endpoints));
  const std::lock_guard<std::mutex> lock(mutex_);
  someFail_.store(!failing->empty(), std::memory_order_relaxed);
  failing_ = failing->empty() ? nullptr : std::move(failing);
  endpoints_ = std::move(endpoints);
}

std::shared_ptr<const Endpoints> HealthCheck::failing() const {
  if (!someFail_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  return failing_;
}

std::map<Endpoint, CheckedState> HealthCheck::endpoints() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return endpoints_;
}

}  // namespace sluice::routing
