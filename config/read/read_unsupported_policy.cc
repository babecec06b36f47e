// Reads what a policy of Envoy Gateway's kinds names: `targetRefs`, the older `targetRef`, and `targetSelectors`. The
// rest of its spec belongs to a feature that is not there and is not looked at.
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

/// A selector that is not legible is left out, because it could mean every object of the namespace.
void readPolicySelector(FieldReader reader, PolicyTargets& named) {
  const std::size_t errors = reader.context().errors();
  PolicyTargetSelector selector;
  selector.group = reader.has("group") ? reader.text("group", rule::kGroup) : std::string(kGatewayGroup);
  selector.kind = reader.requiredText("kind", rule::kKind);
  const bool wider = reader.has("namespaces");
  selector.labels = readLabelSelector(reader);
  if (reader.context().errors() == errors) named.selectors.push_back(std::move(selector));
  if (wider) {
    reader.error("namespaces", "is not supported: only objects of the policy's own namespace are meant");
  }
}

}  // namespace

PolicyTargets readPolicyTargets(FieldReader& spec) {
  PolicyTargets named;
  for (const Item& item : spec.list("targetRefs", kMaxPolicyTargets)) readPolicyTarget(spec.map(item), named);
  if (spec.has("targetRef")) readPolicyTarget(spec.map("targetRef"), named);
  for (const Item& item : spec.list("targetSelectors", kMaxPolicyTargets)) readPolicySelector(spec.map(item), named);
  if (!spec.has("targetRefs") && !spec.has("targetRef") && !spec.has("targetSelectors")) spec.require("targetRefs");
  return named;
}

std::optional<UnsupportedPolicy> readUnsupportedPolicy(FieldReader& root, ObjectMeta meta) {
  UnsupportedPolicy policy;
  policy.meta = std::move(meta);
  root.context().warning(root.positionOf("kind"), "kind", std::string(kUnsupportedPolicyNote));
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readPolicyTargets(spec);
  spec.ignoreOthers();
  spec.finish();
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
