// Reads Gateway API's experimental XBackendTrafficPolicy (v1.6.1).
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

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
  const auto read = reader.duration("interval");
  if (!read) return;
  interval = *read;
  if (*read < least) reader.error("interval", "is too short");
  if (*read > kLongestInterval) reader.error("interval", "must not be longer than 1h");
}

RetryConstraintFields readRetryConstraint(FieldReader reader) {
  RetryConstraintFields constraint;
  FieldReader budget = reader.map("budget");
  if (const auto percent = budget.integer("percent", 0, 100)) constraint.percent = static_cast<std::uint32_t>(*percent);
  readInterval(budget, std::chrono::seconds(1), constraint.interval);
  budget.finish();
  FieldReader least = reader.map("minRetryRate");
  if (const auto count = least.integer("count", 1, kMostCounted)) {
    constraint.minCount = static_cast<std::uint32_t>(*count);
  }
  readInterval(least, std::chrono::milliseconds(1), constraint.minInterval);
  least.finish();
  reader.finish();
  return constraint;
}

}  // namespace

std::optional<TrafficPolicy> readXBackendTrafficPolicy(FieldReader& root, ObjectMeta meta) {
  TrafficPolicy policy;
  policy.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readTargetRefs(spec);
  for (const PolicyTarget& each : policy.targets) checkBackendTarget(spec, each);
  if (spec.has("retryConstraint")) policy.retryConstraint = readRetryConstraint(spec.map("retryConstraint"));
  policy.sessionPersistence = readSessionPersistence(spec);
  spec.finish();
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
