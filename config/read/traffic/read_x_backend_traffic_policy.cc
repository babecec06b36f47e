// Reads Gateway API's experimental XBackendTrafficPolicy (v1.6.1).
#include <chrono>
#include <cstdint>

#include "config/read/object_readers.h"
#include "config/read/stray_target.h"

namespace sluice::config {
namespace {

constexpr std::int64_t kMostCounted = 1'000'000;
constexpr base::Duration kLongestInterval = std::chrono::hours(1);

void checkBackendTarget(FieldReader& spec, const PolicyTarget& target) {
  if (target.legible() && !isBackendTarget(target)) {
    spec.context().error(target.object.position, target.object.path,
                         "must be a Backend or a Service" + nearestTargetKind(target.targetKind()));
  }
  if (!target.sectionName.empty()) {
    spec.context().error(target.object.position, target.object.path + ".sectionName",
                         "is not a field of this kind: the policy is for all ports");
  }
}

/// Reads an interval of at least `least`, and at most an hour.
void readInterval(FieldReader& reader, base::Duration least, base::Duration& interval) {
  reader.read("interval", interval, {least, base::Duration::max(), "is too short"});
  if (interval > kLongestInterval) reader.error("interval", "must not be longer than 1h");
}

void readConstraintBudget(FieldReader& budget, RetryConstraintFields& constraint) {
  budget.read("percent", constraint.percent, {0, 100});
  readInterval(budget, std::chrono::seconds(1), constraint.interval);
}

void readMinRetryRate(FieldReader& rate, RetryConstraintFields& constraint) {
  rate.read("count", constraint.minCount, {1, kMostCounted});
  readInterval(rate, std::chrono::milliseconds(1), constraint.minInterval);
}

void readRetryConstraint(FieldReader& reader, RetryConstraintFields& constraint) {
  reader.read("budget", constraint, readConstraintBudget);
  reader.read("minRetryRate", constraint, readMinRetryRate);
}

}  // namespace

void readXBackendTrafficPolicy(FieldReader& spec, TrafficPolicy& policy) {
  if (spec.given()) readTargetRefs(spec, policy);
  for (const PolicyTarget& each : policy.targets) checkBackendTarget(spec, each);
  spec.read("retryConstraint", policy.retryConstraint, readRetryConstraint);
  spec.read("sessionPersistence", policy.sessionPersistence, readSessionPersistence);
}

}  // namespace sluice::config
