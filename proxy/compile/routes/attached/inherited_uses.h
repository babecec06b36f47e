// Adds to a rule the uses of the extension policy of its listener or Gateway. A policy of the rule or its route adds
// its own and takes none of them away, because whoever may write a route need not be trusted by the owner of the
// Gateway.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/processing/chain.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// InheritedUses are those that every rule of a listener runs.
struct InheritedUses {
  std::vector<processing::Step> steps;  // of scope kRoute, because they run with those of the rule
  std::optional<Fault> closed;          // the fault of uses that cannot run and fail closed

  bool empty() const { return steps.empty() && !closed; }
  friend bool operator==(const InheritedUses& a, const InheritedUses& b) {
    return sameSteps(a.steps, b.steps) && a.closed == b.closed;
  }
};

/// Returns the rule with the steps before its own; one that answers 500 if they are closed. Returns `rule` itself if
/// there are none, or if it fails anyway.
std::shared_ptr<const routing::Rule> inheritingRule(std::shared_ptr<const routing::Rule> rule,
                                                    const InheritedUses& uses);

}  // namespace sluice::compile
