// The policies of one kind as rules meet them. proxy/compile/policy_kinds.cc has all kinds, in the order in which they
// apply to a rule.
//
// A rule has the settings of policies for itself, its route and its Backends, which are the same at every listener. It
// inherits those of policies for the listener and its Gateway, which differ by listener. Each kind says how the two go
// together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/policy_settings.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/chain.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

struct RoutePlan;
struct RulePlan;

/// A rule while its route is compiled.
struct RuleInMaking {
  const config::RouteRule& written;
  RoutePlan& route;
  RulePlan& plan;  // without its Rule yet
  /// The rule's place in its route, ", rule 0", which stays the same while nobody moves the rule.
  const std::string& place;
  routing::Rule& rule;
  std::optional<Fault>& fault;  // the fault for which the rule answers 500; the first one counts
};

/// What a listener and its Gateway have by the policies of one kind.
struct HandedDown {
  SharedSettings settings;                  // what the rules of the listener inherit
  std::vector<processing::Step> steps;      // steps of all its requests
  std::vector<processing::Step> unmatched;  // steps of its requests that match no route
  std::vector<Fault> closing;               // faults for which all its requests answer 500
  std::vector<Fault> told;                  // faults for its conditions, among them those that close it
  std::vector<RefusedUse> refused;
  base::ObjectNames secrets;  // the Secrets that its steps are made of, or would be if they could run
};

/// What came of a route's rules at a listener, besides the rules themselves.
struct InheritanceFindings {
  std::vector<Fault> dropped;  // why rules answer 500 there
  std::vector<config::Finding> notes;
  std::vector<const RefusedUse*> exposed;  // uses of the listener that some rule refuses; they belong to its settings
};

/// A rule of a route at one listener.
struct RuleAtListener {
  const RoutePlan& route;
  std::size_t index;          // of the rule in its route
  const PolicySettings* own;  // what policies of the kind say of the rule; null if nothing
  bool isOwn;                 // whether route and Gateway are of one namespace
  InheritanceFindings& found;
};

class RulePolicies {
 public:
  virtual ~RulePolicies() = default;

  /// Returns what policies say of the rule, its route and its Backends. The plan of the rule knows its name and its
  /// Backends. A kept plan is used again as long as this is equal.
  virtual SharedSettings ofRule(const RoutePlan& /*route*/, const RulePlan& /*rule*/) const { return nullptr; }
  /// Returns true if a kept plan can be used again, as far as it depends on more than ofRule().
  virtual bool isCurrent(const RoutePlan& /*plan*/) const { return true; }

  /// Applies settings to the Backends of a rule, before any kind applies its settings to the rule as a whole.
  virtual void applyToBackends(const PolicySettings& /*own*/, const RuleInMaking& /*rule*/) const {}
  /// Applies settings, or what a rule has without any if `own` is null, to the rule as a whole.
  virtual void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const = 0;

  virtual HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const = 0;
  /// Returns the rule with the settings that it inherits. `rule` is shared, so that a rule with other settings is a
  /// copy.
  virtual std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                                       const PolicySettings& inherited,
                                                       const RuleAtListener& at) const = 0;
};

using RulePolicyList = std::vector<std::unique_ptr<const RulePolicies>>;

}  // namespace sluice::compile
