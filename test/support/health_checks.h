// The health of Backends as tests decide it.
#pragma once

#include <memory>
#include <utility>

#include "proxy/routing/policy/health_check.h"

namespace sluice::test {

/// Returns the health of a Backend with one active check for each of the settings.
template <typename... Settings>
std::shared_ptr<const routing::HealthCheck> checkedBy(Settings... settings) {
  return std::make_shared<const routing::HealthCheck>(
      routing::HealthCheck::Checks{std::make_shared<const routing::ActiveCheck>(std::move(settings))...});
}

/// Lets the first check of the Backend find that.
inline void setHealth(const routing::HealthCheck& health, routing::CheckedState found) {
  health.checks().front()->set(found);
  health.update();
}

}  // namespace sluice::test
