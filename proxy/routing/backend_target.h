// The Backend that a processor's own requests go to, in the words of processing/, which does not see Backends.
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

/// Every CalloutTarget of the process is one.
inline const std::shared_ptr<const BackendPlan>& planOf(const processing::CalloutTarget& target) {
  return static_cast<const BackendTarget&>(target).plan;
}

}  // namespace sluice::routing
