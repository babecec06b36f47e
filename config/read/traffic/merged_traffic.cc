#include "config/read/traffic/merged_traffic.h"

#include <algorithm>
#include <array>

#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr std::array<std::string_view, 4> kFieldsOfOnePolicy = {"targetRef", "targetRefs", "targetSelectors",
                                                                "mergeType"};

/// Applies the patch to `target`. The recursion is bounded because the depth of a document is.
void applyPatch(Value& target, const Value& patch) {
  if (!patch.isMap() || !target.isMap()) {
    target = patch;
    return;
  }
  for (const Member& each : patch.members) {
    const auto found = std::find_if(target.members.begin(), target.members.end(),
                                    [&](const Member& member) { return member.key == each.key; });
    if (each.value.isNull()) {
      if (found != target.members.end()) target.members.erase(found);
    } else if (found == target.members.end()) {
      target.members.push_back(each);
    } else {
      applyPatch(found->value, each.value);
    }
  }
}

}  // namespace

MergedTraffic mergedTraffic(const TrafficPolicy& parent, const TrafficPolicy& policy) {
  Value spec = *parent.shipped;
  applyPatch(spec, *policy.shipped);
  std::erase_if(spec.members, [](const Member& each) {
    return std::find(kFieldsOfOnePolicy.begin(), kFieldsOfOnePolicy.end(), each.key) != kFieldsOfOnePolicy.end();
  });
  Problems problems;
  ObjectContext context(policy.meta.qualifiedName(), problems);
  FieldReader reader(&spec, "spec", spec.position, context);
  MergedTraffic merged;
  merged.policy.meta = policy.meta;
  reader.readInto(merged.policy, readShippedTraffic);
  merged.error = context.firstError();
  return merged;
}

}  // namespace sluice::config
