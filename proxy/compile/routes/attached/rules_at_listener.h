// Makes the rules of a route for a listener if they inherit settings from policies and payload processors that target
// the listener or its Gateway.
//
// A ListenerCache keeps these rules from one compilation to the next, as long as the route was not compiled again and
// the listener hands down the same settings. It belongs to the loading thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/cache.h"
#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/ground/policy_settings.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/rule_policies.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::compile {

/// The settings that the rules of a listener inherit, one for each kind of policy, in the order of the RulePolicyList.
using Inheritance = std::vector<SharedSettings>;

/// Returns true if there is nothing to inherit.
bool isEmpty(const Inheritance& inheritance);

struct RulesAtListener {
  std::vector<std::shared_ptr<const routing::Rule>> rules;  // in the order of RoutePlan::rules
  std::shared_ptr<const routing::RouteCandidates> candidates;
  InheritanceFindings found;
};

class ListenerCache {
 public:
  /// Returns the settings that the listener of that name hands down for the kind of policy at that index. If they are
  /// equal to those of the last compilation, returns these.
  SharedSettings shared(const std::string& listener, std::size_t kind, SharedSettings settings);
  /// Returns the rules of a route at a listener with this inheritance. They are valid until sweep(). `isOwn` states
  /// whether route and Gateway are in the same namespace.
  const RulesAtListener& rulesAt(const std::shared_ptr<const RoutePlan>& plan, const Inheritance& inheritance,
                                 bool isOwn, const RulePolicyList& policies, const BackendCatalog& backends);
  /// Ends a compilation: drops the rules and settings that it has not used.
  void sweep();

 private:
  /// The key contains the address of the plan. The entry owns the plan, so that the address is not used again.
  struct KeptRules {
    std::shared_ptr<const RoutePlan> plan;
    RulesAtListener made;
  };
  using Key = std::pair<const RoutePlan*, Inheritance>;

  base::Cache<std::pair<std::string, std::size_t>, SharedSettings> settings_;
  base::Cache<Key, KeptRules> rules_;
};

}  // namespace sluice::compile
