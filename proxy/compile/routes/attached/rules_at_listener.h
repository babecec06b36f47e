// Makes the rules of a route at a listener whose own payload processors and policies, or those of its Gateway, apply to
// them.
//
// A ListenerCache keeps these rules from one compilation to the next, for routes that were not compiled again, at
// listeners that hand down the same. It belongs to the loading thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/base/cache.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/routes/attached/inherited_traffic.h"
#include "proxy/compile/routes/attached/inherited_uses.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::compile {

/// The payload processors that rules run because of their listener.
struct ListenerUses {
  std::vector<ShieldedUse> shielded;  // see shielded_rule.h
  InheritedUses inherited;            // of extension policies

  bool empty() const { return shielded.empty() && inherited.empty(); }
  friend bool operator==(const ListenerUses&, const ListenerUses&) = default;
};

/// The processors and policies that rules inherit from a listener; null if there are none.
struct Inheritance {
  std::shared_ptr<const ListenerUses> uses;
  std::shared_ptr<const ListenerTraffic> traffic;

  bool empty() const { return uses == nullptr && traffic == nullptr; }
};

struct RulesAtListener {
  std::vector<std::shared_ptr<const routing::Rule>> rules;  // as RoutePlan::rules
  std::shared_ptr<const routing::RouteCandidates> candidates;
  std::vector<std::size_t> exposed;  // shielded uses that some rule refuses, as indexes
  std::vector<Fault> dropped;        // why rules answer 500 here
  std::vector<config::Finding> notes;
};

class ListenerCache {
 public:
  /// Returns what the listener of that name hands down: what it did before, if that is equal; null if it is nothing.
  std::shared_ptr<const ListenerUses> shared(const std::string& listener, ListenerUses uses);
  std::shared_ptr<const ListenerTraffic> shared(const std::string& listener, ListenerTraffic traffic);
  /// Returns the rules of a route at a listener with this inheritance, which are valid until sweep(). `isOwn` says
  /// whether route and Gateway are of one namespace.
  const RulesAtListener& rulesAt(const std::shared_ptr<const RoutePlan>& plan, const Inheritance& inheritance,
                                 bool isOwn, const GovernTools& tools);
  /// Ends a compilation: drops what it has not used.
  void sweep();

 private:
  /// Holding all that the key names keeps their addresses from reuse.
  struct KeptRules {
    std::shared_ptr<const RoutePlan> plan;
    Inheritance inheritance;
    RulesAtListener made;
  };
  using Key = std::tuple<const RoutePlan*, const ListenerUses*, const ListenerTraffic*>;

  base::Cache<std::string, std::shared_ptr<const ListenerUses>> uses_;
  base::Cache<std::string, std::shared_ptr<const ListenerTraffic>> traffic_;
  base::Cache<Key, KeptRules> rules_;
};

}  // namespace sluice::compile
