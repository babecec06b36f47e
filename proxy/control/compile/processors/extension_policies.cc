#include "proxy/control/compile/processors/extension_policies.h"

#include <algorithm>
#include <tuple>

namespace sluice::control {
namespace {

bool namesExactly(const config::ExtensionPolicy& policy, const config::ObjectMeta& object, std::string_view section) {
  const bool named = std::any_of(policy.targets.begin(), policy.targets.end(), [&](const config::PolicyTarget& each) {
    return each.sectionName == section && each.means(object);
  });
  return named || (section.empty() && std::any_of(policy.selectors.begin(), policy.selectors.end(),
                                                  [&](const auto& each) { return each.selects(object); }));
}

bool namesAnyOf(const config::ExtensionPolicy& policy, const config::ObjectMeta& object) {
  return namesExactly(policy, object, {}) || std::any_of(policy.targets.begin(), policy.targets.end(),
                                                         [&](const auto& each) { return each.means(object); });
}

}  // namespace

ExtensionPolicies::ExtensionPolicies(const config::Model& model) {
  for (const config::ExtensionPolicy& each : model.all<config::ExtensionPolicy>()) {
    byNamespace_[each.meta.nameSpace].push_back({&each, nullptr});
  }
  for (const config::Rejected& each : model.rejected) {
    const auto* legible = each.legible<config::ExtensionPolicy>();
    if (legible != nullptr) byNamespace_[legible->meta.nameSpace].push_back({legible, &each});
  }
  const auto age = [](const PolicyCandidate& each) {
    return std::tie(each.policy->meta.creationTimestamp, each.policy->meta.name);
  };
  for (auto& [name, all] : byNamespace_) {
    std::sort(all.begin(), all.end(),
              [&](const PolicyCandidate& a, const PolicyCandidate& b) { return age(a) < age(b); });
  }
}

bool ExtensionPolicies::concern(const config::ObjectMeta& object) const {
  const auto found = byNamespace_.find(object.nameSpace);
  return found != byNamespace_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const PolicyCandidate& each) { return namesAnyOf(*each.policy, object); });
}

const ExtensionPolicies::PolicyCandidate* ExtensionPolicies::find(const config::ObjectMeta& object,
                                                                  std::string_view section) const {
  const PolicyCandidate* ofSection = section.empty() ? nullptr : findExactly(object, section);
  return ofSection != nullptr ? ofSection : findExactly(object, {});
}

const ExtensionPolicies::PolicyCandidate* ExtensionPolicies::findExactly(const config::ObjectMeta& object,
                                                                         std::string_view section) const {
  const auto all = byNamespace_.find(object.nameSpace);
  if (all == byNamespace_.end()) return nullptr;
  const auto found = std::find_if(all->second.begin(), all->second.end(), [&](const PolicyCandidate& each) {
    return namesExactly(*each.policy, object, section);
  });
  return found == all->second.end() ? nullptr : &*found;
}

}  // namespace sluice::control
