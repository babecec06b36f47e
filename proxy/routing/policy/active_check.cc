#include "proxy/routing/policy/active_check.h"

#include "proxy/base/text.h"

namespace sluice::routing {

std::string questionOf(const HealthCheckSettings& check) {
  std::string text = std::to_string(static_cast<int>(check.kind)) + " " + std::to_string(check.timeout.count());
  for (const std::uint16_t status : check.expectedStatuses) text += " " + std::to_string(status);
  for (const std::string* each :
       {&check.hostname, &check.path, &check.method, &check.service, &check.send, &check.expected}) {
    text += base::measured(*each);
  }
  for (const auto& [name, value] : check.headers) text += base::measured(name) + base::measured(value);
  return text;
}

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
