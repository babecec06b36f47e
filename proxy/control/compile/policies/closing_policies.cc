#include "proxy/control/compile/policies/closing_policies.h"

#include <algorithm>
#include <string>

#include "proxy/control/compile/policies/backend_tls_policies.h"

namespace sluice::control {
namespace {

/// BackendTLSPolicies are of a supported kind, and close what is neither a Service nor a Backend.
std::string consequenceOf(const std::vector<std::string>& titles) {
  const std::string only = std::string(config::BackendTlsPolicy::kKind) + " ";
  const bool onlyTls =
      std::all_of(titles.begin(), titles.end(), [&](const std::string& title) { return title.starts_with(only); });
  if (onlyTls) return ": policies of this kind are supported for Services and Backends only";
  return titles.size() == 1 ? ": policies of this kind are not supported"
                            : ": policies of these kinds are not supported";
}

bool selects(const config::UnsupportedPolicy& policy, const config::ObjectMeta& object) {
  return policy.meta.nameSpace == object.nameSpace &&
         std::any_of(policy.selectors.begin(), policy.selectors.end(),
                     [&](const config::PolicyTargetSelector& each) { return each.selects(object); });
}

}  // namespace

ClosingPolicies::ClosingPolicies(const config::Model& model) {
  for (const config::UnsupportedPolicy& each : model.all<config::UnsupportedPolicy>()) add(each);
  for (const config::BackendTlsPolicy& each : model.all<config::BackendTlsPolicy>()) add(each);
  for (const config::Rejected& each : model.rejected) {
    if (const auto* legible = each.legible<config::UnsupportedPolicy>()) add(*legible);
    if (const auto* legible = each.legible<config::BackendTlsPolicy>()) add(*legible);
  }
}

void ClosingPolicies::add(const config::UnsupportedPolicy& policy) {
  for (const config::PolicyTarget& target : policy.targets) {
    byTarget_[{policy.meta.nameSpace, target.object.name}].push_back({&policy.meta, &target});
  }
  if (!policy.selectors.empty()) selecting_.push_back(&policy);
}

void ClosingPolicies::add(const config::BackendTlsPolicy& policy) {
  for (const config::PolicyTarget& target : policy.targets) {
    if (isTlsTarget(target)) continue;
    byTarget_[{policy.meta.nameSpace, target.object.name}].push_back({&policy.meta, &target});
  }
}

std::optional<Fault> ClosingPolicies::faultOf(const config::ObjectMeta& object,
                                              const config::PolicySection& section) const {
  if (empty()) return std::nullopt;
  std::vector<std::string> names;
  if (const auto found = byTarget_.find({object.nameSpace, object.name}); found != byTarget_.end()) {
    for (const auto& [policy, target] : found->second) {
      if (!target->means(object)) continue;
      if (target->sectionName.empty() || target->names(section)) names.push_back(policy->title());
    }
  }
  for (const config::UnsupportedPolicy* each : selecting_) {
    if (selects(*each, object)) names.push_back(each->meta.title());
  }
  if (names.empty()) return std::nullopt;
  // The order of the objects must not matter.
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return summary(config::reason::kUnsupportedValue, text + consequenceOf(names));
}

}  // namespace sluice::control
