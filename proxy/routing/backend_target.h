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

/// The policies that cover the callouts of an exchange, likewise.
struct EgressScope final : processing::CalloutScope {
  EgressScope() = default;
  explicit EgressScope(EgressCoverage those) : coverage(std::move(those)) {}

  EgressCoverage coverage;
};

/// Returns the coverage of a scope, which may be null: every CalloutScope of the process is an EgressScope.
inline EgressCoverage coverageOf(const processing::CalloutScope* scope) {
  return scope != nullptr ? static_cast<const EgressScope*>(scope)->coverage : EgressCoverage();
}

/// Returns the plan of a target: every CalloutTarget of the process is a BackendTarget.
inline const std::shared_ptr<const BackendPlan>& planOf(const processing::CalloutTarget& target) {
  return static_cast<const BackendTarget&>(target).plan;
}

}  // namespace sluice::routing
