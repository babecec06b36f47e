// Makes the rules of a route at a listener where they inherit something of policies and payload processors for the
// listener or its Gateway.
//
// A ListenerCache keeps these rules from one compilation to the next, for routes that were not compiled again, at
// listeners that hand down the same. It belongs to the loading thread.
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

/// What the rules of a listener inherit of each kind of policies, in the order of the RulePolicyList.
using Inheritance = std::vector<SharedSettings>;

/// Returns true if there is nothing to inherit.
bool isEmpty(const Inheritance& inheritance);

struct RulesAtListener {
  std::vector<std::shared_ptr<const routing::Rule>> rules;  // as RoutePlan::rules
  std::shared_ptr<const routing::RouteCandidates> candidates;
  InheritanceFindings found;
};

class ListenerCache {
 public:
  /// Returns what the listener of that name hands down by the kind of policies at that index: what it did before, if
  /// that is equal.
  SharedSettings shared(const std::string& listener, std::size_t kind, SharedSettings settings);
  /// Returns the rules of a route at a listener with this inheritance, which are valid until sweep(). `isOwn` says
  /// whether route and Gateway are of one namespace.
  const RulesAtListener& rulesAt(const std::shared_ptr<const RoutePlan>& plan, const Inheritance& inheritance,
                                 bool isOwn, const RulePolicyList& policies, const BackendCatalog& backends);
  /// Ends a compilation: drops what it has not used.
  void sweep();

 private:
  /// Holding the plan keeps its address, which is in the key, from reuse.
  struct KeptRules {
    std::shared_ptr<const RoutePlan> plan;
    RulesAtListener made;
  };
  using Key = std::pair<const RoutePlan*, Inheritance>;

  base::Cache<std::pair<std::string, std::size_t>, SharedSettings> settings_;
  base::Cache<Key, KeptRules> rules_;
};

}  // namespace sluice::compile
