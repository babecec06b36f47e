// Reads what a policy names: `targetRefs`, the older `targetRef`, and `targetSelectors` of Envoy Gateway's kinds. The
// rest of its spec belongs to a feature that is not there and is not looked at.
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxTargets = 16;

void readPolicyTarget(FieldReader reader, PolicyTargets& named) {
  PolicyTarget target;
  target.object = readObjectRef(reader, {{}, {}, /*required=*/true}, false);
  const Value* group = reader.find("group");
  target.groupLegible = group != nullptr && group->isString() && isGroup(group->text);
  target.sectionName = reader.text("sectionName", rule::kSectionName);
  reader.finish();
  if (!target.object.name.empty()) named.targets.push_back(std::move(target));
}

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
  for (const Item& item : spec.list("targetRefs", kMaxTargets)) readPolicyTarget(spec.map(item), named);
  if (spec.has("targetRef")) readPolicyTarget(spec.map("targetRef"), named);
  for (const Item& item : spec.list("targetSelectors", kMaxTargets)) readPolicySelector(spec.map(item), named);
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
