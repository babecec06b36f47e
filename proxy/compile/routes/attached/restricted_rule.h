// Takes out of a rule what is made of Secrets that the Pods of its Gateway may not read (secret_trust.h). The Pods do
// without: a Backend answers 500, a mirror is left out, and a step of the rule fails as its failOpen says.
//
// A pure function.
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
  std::vector<Fault> unresolved;  // of Backends
  std::vector<Fault> closed;      // of steps for which the whole rule answers 500
  std::vector<Fault> open;        // of steps that are left out
};

/// `user` is the namespace of the rule's route. Returns `rule` itself if the Pods may read all that it is made of.
RestrictedRule restrictedRule(std::shared_ptr<const routing::Rule> rule, const SecretTrust& trust,
                              std::string_view user);

}  // namespace sluice::compile
