// AttachedPolicies finds the policy of one type that takes effect for an object or a section of it
// (config/model/policy_model.h). A policy for the section takes precedence over one for the whole object. Among
// policies for the same target, the oldest takes precedence, then the first by name and group.
//
// A policy that its schema refused takes part with its readable fields. The object lives as long as one compilation.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/model/model.h"

namespace sluice::compile {

template <typename Policy>
class AttachedPolicies {
 public:
  struct PolicyCandidate {
    const Policy* policy;
    const config::Rejected* rejected;             // set if its schema refused it
    const std::shared_ptr<const Policy>* shared;  // the same policy, for callers that keep parts of it
  };

  /// `model` must outlive it.
  explicit AttachedPolicies(const config::Model& model) {
    for (const std::shared_ptr<const Policy>& each : model.all<Policy>().shared()) {
      all_.push_back({each.get(), nullptr, &each});
    }
    for (const config::Rejected& each : model.rejected) {
      if (const auto* legible = each.sharedLegible<Policy>()) all_.push_back({legible->get(), &each, legible});
    }
    const auto age = [](const PolicyCandidate& each) {
      const config::ObjectMeta& meta = each.policy->meta;
      return std::tie(meta.creationTimestamp, meta.name, meta.group);
    };
    std::sort(all_.begin(), all_.end(),
              [&](const PolicyCandidate& a, const PolicyCandidate& b) { return age(a) < age(b); });
    for (const PolicyCandidate& each : all_) {
      const std::string_view nameSpace = each.policy->meta.nameSpace;
      for (const config::PolicyTarget& target : each.policy->targets) {
        Candidates& named = byName_[{nameSpace, target.object.name}];
        if (named.empty() || named.back() != &each) named.push_back(&each);
      }
      if (!each.policy->selectors.empty()) selecting_[nameSpace].push_back(&each);
    }
  }
  AttachedPolicies(const AttachedPolicies&) = delete;  // the lists point into all_
  AttachedPolicies& operator=(const AttachedPolicies&) = delete;

  bool empty() const { return all_.empty(); }
  /// Returns true if a policy targets the object or a section of it.
  bool concern(const config::ObjectMeta& object) const {
    return first(object, [&](const Policy& each) { return namesAnyOf(each, object); }) != nullptr;
  }
  /// Returns the policy that takes effect for a section of the object. If there is no policy for the section, or if the
  /// section is the whole object, that is the one for the whole object. Returns nullptr if there is none.
  const PolicyCandidate* find(const config::ObjectMeta& object, const config::PolicySection& section) const {
    const PolicyCandidate* ofSection = section.isWhole() ? nullptr : findExactly(object, section);
    return ofSection != nullptr ? ofSection : findExactly(object, {});
  }
  /// Returns the policy that takes precedence among those that target exactly this; nullptr if there is none.
  const PolicyCandidate* findExactly(const config::ObjectMeta& object, const config::PolicySection& section) const {
    return first(object, [&](const Policy& each) { return namesExactly(each, object, section); });
  }
  /// Returns the first of the policies for exactly this for which `counts(policy)` is true; nullptr if there is none.
  template <typename Counts>
  const PolicyCandidate* findExactly(const config::ObjectMeta& object, const config::PolicySection& section,
                                     Counts&& counts) const {
    return first(object, [&](const Policy& each) { return counts(each) && namesExactly(each, object, section); });
  }
  /// Returns the policy with that name; nullptr if there is none, or if its targets cannot be read.
  const PolicyCandidate* findNamed(std::string_view nameSpace, std::string_view name) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const PolicyCandidate& each) {
      return each.policy->meta.nameSpace == nameSpace && each.policy->meta.name == name;
    });
    return found == all_.end() ? nullptr : &*found;
  }
  /// Returns all policies with a target that is the whole object or that section of it, by precedence. Policies that
  /// select objects by labels are not included.
  std::vector<const PolicyCandidate*> targeting(const config::ObjectMeta& object,
                                                const config::PolicySection& section) const {
    std::vector<const PolicyCandidate*> found;
    for (const PolicyCandidate* each : named(object)) {
      const auto isMeant = [&](const config::PolicyTarget& target) {
        return target.means(object) && (target.sectionName.empty() || target.names(section));
      };
      if (std::any_of(each->policy->targets.begin(), each->policy->targets.end(), isMeant)) found.push_back(each);
    }
    return found;
  }

 private:
  using Candidates = std::vector<const PolicyCandidate*>;

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

  /// Returns the policies that have a target with the object's name.
  const Candidates& named(const config::ObjectMeta& object) const {
    static const Candidates kNone;
    const auto found = byName_.find({object.nameSpace, object.name});
    return found == byName_.end() ? kNone : found->second;
  }
  /// Returns the first policy of the object's namespace for which the predicate holds; nullptr if there is none.
  template <typename Predicate>
  const PolicyCandidate* first(const config::ObjectMeta& object, Predicate&& holds) const {
    const auto firstOf = [&](const Candidates& all) -> const PolicyCandidate* {
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const PolicyCandidate* each) { return holds(*each->policy); });
      return found == all.end() ? nullptr : *found;
    };
    const PolicyCandidate* one = firstOf(named(object));
    const auto selecting = selecting_.find(object.nameSpace);
    const PolicyCandidate* other = selecting == selecting_.end() ? nullptr : firstOf(selecting->second);
    return one != nullptr && other != nullptr ? std::min(one, other) : one != nullptr ? one : other;
  }

  std::vector<PolicyCandidate> all_;                                            // by precedence, as the lists are
  std::map<std::pair<std::string_view, std::string_view>, Candidates> byName_;  // by namespace and name of the target
  std::map<std::string_view, Candidates> selecting_;                            // by namespace
};

}  // namespace sluice::compile
