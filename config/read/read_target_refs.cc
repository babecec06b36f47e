// Reads the targets of policies.
#include "config/read/object_kinds.h"
#include "config/read/object_readers.h"

namespace sluice::config {

void readPolicyTarget(FieldReader reader, PolicyTargets& named) {
  PolicyTarget target;
  target.object = readObjectRef(reader, {{}, {}, /*required=*/true}, false);
  const Value* group = reader.find("group");
  target.groupLegible = group != nullptr && group->isString() && isGroup(group->text);
  target.sectionName = reader.text("sectionName", rule::kSectionName);
  reader.finish();
  if (!target.object.name.empty()) named.targets.push_back(std::move(target));
}

PolicyTargets readTargetRefs(FieldReader& spec) {
  PolicyTargets named;
  const std::vector<Item> items = spec.list("targetRefs", kMaxPolicyTargets);
  for (const Item& item : items) readPolicyTarget(spec.map(item), named);
  if (items.empty() && spec.has("targetRefs")) spec.error("targetRefs", "must have at least one item");
  if (!spec.has("targetRefs")) spec.require("targetRefs");
  return named;
}

bool isBackendTarget(const PolicyTarget& target) {
  return isKindOf<Backend>(target.object.group, target.object.kind) ||
         isKindOf<Service>(target.object.group, target.object.kind);
}

}  // namespace sluice::config
