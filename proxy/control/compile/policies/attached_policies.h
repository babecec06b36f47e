// Finds the policy of one type that counts for an object or a section of it (config/model/policy_model.h). One for the
// section comes before one for the whole object, and among those for the same thing the oldest, then the first by name
// and group.
//
// A policy that its schema refused counts as far as it is legible. It lives as long as one compilation.
#pragma once

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "config/model/model.h"

namespace sluice::control {

template <typename Policy>
class AttachedPolicies {
 public:
  struct PolicyCandidate {
    const Policy* policy;
    const config::Rejected* rejected;  // set if its schema refused it
  };

  /// `model` must outlive it.
  explicit AttachedPolicies(const config::Model& model) {
    for (const Policy& each : model.all<Policy>()) byNamespace_[each.meta.nameSpace].push_back({&each, nullptr});
    for (const config::Rejected& each : model.rejected) {
      const auto* legible = each.legible<Policy>();
      if (legible != nullptr) byNamespace_[legible->meta.nameSpace].push_back({legible, &each});
    }
    const auto age = [](const PolicyCandidate& each) {
      const config::ObjectMeta& meta = each.policy->meta;
      return std::tie(meta.creationTimestamp, meta.name, meta.group);
    };
    for (auto& [name, all] : byNamespace_) {
      std::sort(all.begin(), all.end(),
                [&](const PolicyCandidate& a, const PolicyCandidate& b) { return age(a) < age(b); });
    }
  }

  /// Returns true if a policy targets the object or a section of it.
  bool concern(const config::ObjectMeta& object) const {
    const auto found = byNamespace_.find(object.nameSpace);
    return found != byNamespace_.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const auto& each) { return namesAnyOf(*each.policy, object); });
  }
  /// Returns the policy that counts for a section of the object; if that is the whole object, or there is no policy for
  /// it, the one for the whole object. Returns nullptr if there is none.
  const PolicyCandidate* find(const config::ObjectMeta& object, const config::PolicySection& section) const {
    const PolicyCandidate* ofSection = section.isWhole() ? nullptr : findExactly(object, section);
    return ofSection != nullptr ? ofSection : findExactly(object, {});
  }
  /// Returns the policy that counts among those that target exactly this; nullptr if there is none.
  const PolicyCandidate* findExactly(const config::ObjectMeta& object, const config::PolicySection& section) const {
    const auto all = byNamespace_.find(object.nameSpace);
    if (all == byNamespace_.end()) return nullptr;
    const auto found = std::find_if(all->second.begin(), all->second.end(),
                                    [&](const auto& each) { return namesExactly(*each.policy, object, section); });
    return found == all->second.end() ? nullptr : &*found;
  }

 private:
  static bool namesExactly(const Policy& policy, const config::ObjectMeta& object,
                           const config::PolicySection& section) {
    const bool named = std::any_of(policy.targets.begin(), policy.targets.end(),
                                   [&](const auto& each) { return each.means(object) && each.names(section); });
    return named || (section.isWhole() && std::any_of(policy.selectors.begin(), policy.selectors.end(),
                                                      [&](const auto& each) { return each.selects(object); }));
  }
  static bool namesAnyOf(const Policy& policy, const config::ObjectMeta& object) {
    return namesExactly(policy, object, {}) || std::any_of(policy.targets.begin(), policy.targets.end(),
                                                           [&](const auto& each) { return each.means(object); });
  }

  std::map<std::string_view, std::vector<PolicyCandidate>> byNamespace_;  // each list in the order in which they count
};

}  // namespace sluice::control
