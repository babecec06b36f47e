#include "proxy/routing/policy/health_check.h"

#include <algorithm>
#include <utility>

namespace sluice::routing {
namespace {

/// Returns whether a Service with these endpoints serves: if one of them is healthy or not yet checked.
CheckedState stateOfAll(const EndpointStates& endpoints) {
  const auto any = [&endpoints](CheckedState state) {
    return std::any_of(endpoints.begin(), endpoints.end(), [&](const auto& each) { return each.second == state; });
  };
  if (any(CheckedState::kHealthy)) return CheckedState::kHealthy;
  return endpoints.empty() || any(CheckedState::kUnknown) ? CheckedState::kUnknown : CheckedState::kUnhealthy;
}

/// Returns what two checks of the same endpoint have found together.
CheckedState both(CheckedState a, CheckedState b) {
  for (const CheckedState each : {CheckedState::kUnhealthy, CheckedState::kUnknown}) {
    if (a == each || b == each) return each;
  }
  return CheckedState::kHealthy;
}

EndpointStates endpointsOf(const HealthCheck::Checks& checks) {
  EndpointStates all = checks.front()->endpoints();
  for (std::size_t i = 1; i < checks.size(); ++i) {
    EndpointStates others = checks[i]->endpoints();
    // An endpoint that a check does not know yet has the state of a map's new member, which is unknown.
    for (auto& [endpoint, state] : all) state = both(state, others[endpoint]);
    for (const auto& [endpoint, state] : others) all.try_emplace(endpoint, both(state, CheckedState::kUnknown));
  }
  return all;
}

}  // namespace

HealthCheck::HealthCheck(Checks checks) : checks_(std::move(checks)) { update(); }

void HealthCheck::update(base::WallTime now) const {
  EndpointStates endpoints = endpointsOf(checks_);
  CheckedState state = checks_.front()->state();
  for (const auto& each : checks_) state = both(state, each->state());
  if (!endpoints.empty()) state = stateOfAll(endpoints);
  auto failing = std::make_shared<Endpoints>();
  for (const auto& [endpoint, found] : endpoints) {
    if (found == CheckedState::kUnhealthy) failing->push_back(endpoint);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (fails() != (state == CheckedState::kUnhealthy)) changed_ = now;
  state_.store(state, std::memory_order_relaxed);
  noteChanges(endpoints, now);
  someFail_.store(!failing->empty(), std::memory_order_relaxed);
  failing_ = failing->empty() ? nullptr : std::move(failing);
  endpoints_ = std::move(endpoints);
}

void HealthCheck::noteChanges(const EndpointStates& endpoints, base::WallTime now) const {
  std::erase_if(changedEndpoints_, [&endpoints](const auto& each) { return !endpoints.contains(each.first); });
  for (const auto& [endpoint, found] : endpoints) {
    const auto before = endpoints_.find(endpoint);
    const bool failed = before != endpoints_.end() && before->second == CheckedState::kUnhealthy;
    if (failed != (found == CheckedState::kUnhealthy)) changedEndpoints_[endpoint] = now;
  }
}

std::shared_ptr<const Endpoints> HealthCheck::failing() const {
  if (!someFail_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  return failing_;
}

EndpointStates HealthCheck::endpoints() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return endpoints_;
}

CheckedState HealthCheck::stateOf(const std::optional<Endpoint>& endpoint) const {
  if (!endpoint) return state();
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = endpoints_.find(*endpoint);
  return found == endpoints_.end() ? CheckedState::kUnknown : found->second;
}

base::WallTime HealthCheck::changedAt(const std::optional<Endpoint>& endpoint) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!endpoint) return changed_;
  const auto found = changedEndpoints_.find(*endpoint);
  return found == changedEndpoints_.end() ? base::WallTime{} : found->second;
}

}  // namespace sluice::routing
