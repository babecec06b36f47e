// Finds the extension policy that counts for an object or a section of it (config/model/processor_model.h). One for the
// section comes before one for the whole object, and among those for the same thing the oldest, then the first by name.
//
// A policy that its schema refused counts as far as it is legible. It lives as long as one compilation.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "config/model/model.h"

namespace sluice::control {

class ExtensionPolicies {
 public:
  /// `model` must outlive it.
  explicit ExtensionPolicies(const config::Model& model);

  struct PolicyCandidate {
    const config::ExtensionPolicy* policy;
    const config::Rejected* rejected;  // set if its schema refused it
  };
  /// Returns true if a policy targets the object or a section of it.
  bool concern(const config::ObjectMeta& object) const;
  /// Returns the policy that counts for a listener or rule of the object; without a name, or without a policy for it,
  /// the one for the whole object. Returns nullptr if there is none.
  const PolicyCandidate* find(const config::ObjectMeta& object, std::string_view section) const;
  /// Returns the policy that counts among those that target exactly this; nullptr if there is none.
  const PolicyCandidate* findExactly(const config::ObjectMeta& object, std::string_view section) const;

 private:
  std::map<std::string_view, std::vector<PolicyCandidate>> byNamespace_;  // each list in the order in which they count
};

}  // namespace sluice::control
