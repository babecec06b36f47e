// Adds uses of a Gateway to a rule that must not run for requests which leave the cluster without TLS, such as uses
// that add credentials.
//
// Whether a request is exposed depends on its Backend. So such a use runs in each rule of the listener, after the other
// uses of the Gateway with the same priority and before those of the route. An exposed Backend of the rule answers 500.
// If the use fails open, it is left out of a rule with an exposed Backend instead.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "proxy/compile/processors/compile_processors.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

struct ShieldedRule {
  std::shared_ptr<const routing::Rule> rule;
  std::vector<std::size_t> exposed;  // indexes of the uses that the rule refuses
};

/// Returns `rule` itself if there are no uses, or if the rule answers 500 anyway.
ShieldedRule shieldedRule(std::shared_ptr<const routing::Rule> rule, const std::vector<ShieldedUse>& uses);

}  // namespace sluice::compile
