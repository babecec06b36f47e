// Adds to a rule the uses of a Gateway that must not meet requests which leave the cluster without TLS, as those that
// carry credentials.
//
// Whether a request is exposed depends on its Backend, so such a use runs in each rule of the listener, after its other
// uses of the same priority and before those of the route. What leads to an exposed Backend answers 500; if the use
// fails open, a rule with an exposed Backend has none of it instead.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "proxy/compile/processors/compile_processors.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

struct ShieldedRule {
  std::shared_ptr<const routing::Rule> rule;
  std::vector<std::size_t> exposed;  // the uses that it refuses, as indexes
};

/// Returns `rule` itself if there are no uses, or if it fails anyway.
ShieldedRule shieldedRule(std::shared_ptr<const routing::Rule> rule, const std::vector<ShieldedUse>& uses);

}  // namespace sluice::compile
