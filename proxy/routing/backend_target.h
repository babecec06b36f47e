// The Backend of a processor's own requests, in the form that processing/ knows, which does not see Backends.
#pragma once

#include <memory>
#include <utility>

#include "proxy/processing/callout.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

struct BackendTarget final : processing::CalloutTarget {
  explicit BackendTarget(std::shared_ptr<const BackendPlan> its) : plan(std::move(its)) {}

  const std::shared_ptr<const BackendPlan> plan;  // never null
};

/// Returns the plan of a target: every CalloutTarget of the process is a BackendTarget.
inline const std::shared_ptr<const BackendPlan>& planOf(const processing::CalloutTarget& target) {
  return static_cast<const BackendTarget&>(target).plan;
}

}  // namespace sluice::routing
