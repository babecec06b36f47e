#include "config/model/policy_model.h"

namespace sluice::config {
namespace {

/// A backendRef may call an XBackendDestination a Backend. A policy may do so too.
bool isOtherNameOf(const PolicyTargetKind& kind, const ObjectMeta& object) {
  return kind.group == kPrototypeGroup && kind.kind == "Backend" && object.group == kPrototypeGroup &&
         object.kind == "XBackendDestination";
}

}  // namespace

bool PolicyTargetKind::means(const ObjectMeta& other) const {
  if (kind.empty() || isOtherNameOf(*this, other)) return true;
  return kind == other.kind && (!groupLegible || group == other.group);
}

std::string PolicyTargetKind::text() const {
  return std::string(kind) + (group.empty() ? "" : ".") + std::string(group);
}

bool PolicyTarget::names(const PolicySection& section) const {
  if (section.isWhole()) return sectionName.empty();
  return (!section.name.empty() && sectionName == section.name) ||
         (section.port != 0 && sectionName == std::to_string(section.port));
}

}  // namespace sluice::config
