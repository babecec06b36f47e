#include "config/model/policy_model.h"

namespace sluice::config {
namespace {

/// A backendRef may call an XBackendDestination a Backend, and so may a policy.
bool isOtherNameOf(const ObjectRef& ref, const ObjectMeta& object) {
  return ref.group == kPrototypeGroup && ref.kind == "Backend" && object.group == kPrototypeGroup &&
         object.kind == "XBackendDestination";
}

}  // namespace

bool PolicyTarget::means(const ObjectMeta& other) const {
  if (object.name != other.name) return false;
  if (object.kind.empty() || isOtherNameOf(object, other)) return true;
  return object.kind == other.kind && (!groupLegible || object.group == other.group);
}

bool PolicyTarget::names(const PolicySection& section) const {
  if (section.isWhole()) return sectionName.empty();
  return (!section.name.empty() && sectionName == section.name) ||
         (section.port != 0 && sectionName == std::to_string(section.port));
}

bool PolicyTargetSelector::selects(const ObjectMeta& other) const {
  return kind == other.kind && group == other.group && labels.matches(other.labels);
}

}  // namespace sluice::config
