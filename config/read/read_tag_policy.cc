#include "config/read/read_tag_policy.h"

#include <utility>

#include "config/read/object_readers.h"

namespace sluice::config {

std::optional<TagPolicy> readTagPolicy(FieldReader& root, ObjectMeta meta) {
  TagPolicy policy;
  policy.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readTargetRefs(spec);
  if (spec.has("team")) policy.team = spec.text("team", rule::kHeaderValue);
  if (spec.has("cost")) policy.cost = spec.text("cost", rule::kHeaderValue);
  spec.finish();
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
