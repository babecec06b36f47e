// Removes the parts of a rule that use Secrets which the Pods of its Gateway may not read (secret_trust.h). The Pods
// serve the rule without them: a Backend answers 500, a mirror is left out, and a step of the rule fails according to
// its failOpen.
//
// This is a pure function.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

struct RestrictedRule {
  std::shared_ptr<const routing::Rule> rule;
  std::vector<Fault> unresolved;  // faults of Backends
  std::vector<Fault> closed;      // faults of steps for which the whole rule answers 500
  std::vector<Fault> open;        // faults of steps that are left out
};

/// `user` is the namespace of the rule's route. Returns `rule` itself if the Pods may read every Secret of it.
RestrictedRule restrictedRule(std::shared_ptr<const routing::Rule> rule, const SecretTrust& trust,
                              std::string_view user);

}  // namespace sluice::compile
