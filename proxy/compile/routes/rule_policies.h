// RulePolicies are the policies of one kind in the form in which rules use them. proxy/compile/policy_kinds.cc lists
// all kinds, in the order in which they apply to a rule.
//
// A rule gets settings from policies for itself, its route and its Backends. These are the same at every listener. It
// inherits settings from policies for the listener and its Gateway, which differ by listener. Each kind defines how
// both are combined.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/base/terms/request_matching.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/policy_settings.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/processing/chain.h"
#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

struct RoutePlan;
struct RulePlan;

/// A rule whose route is being compiled.
struct RuleInMaking {
  const config::RouteRule& written;
  RoutePlan& route;
  RulePlan& plan;  // its Rule is not set yet
  /// Identifies the rule in its route, such as ", rule 0". It stays the same as long as the rule is not moved.
  const std::string& place;
  routing::Rule& rule;
  std::optional<Fault>& fault;  // the fault because of which the rule answers 500; later ones are dropped
};

/// The result of the policies of one kind for a listener and its Gateway.
struct HandedDown {
  SharedSettings settings;                  // what the rules of the listener inherit
  std::vector<processing::Step> steps;      // steps of all its requests
  std::vector<processing::Step> unmatched;  // steps of its requests that match no route
  std::vector<Fault> closing;               // faults because of which all its requests answer 500
  std::vector<Fault> told;                  // faults for its conditions, including those in `closing`
  std::vector<RefusedUse> refused;
  routing::EgressPolicies egress;  // policies about where all its requests may go
  /// How its clients prove who they are; null if they need not.
  std::shared_ptr<const routing::ClientAuthentication> authentication;
  base::RequestMatching matching;  // what of its requests does not count when their route is looked for
  base::ObjectNames secrets;       // the Secrets that these use, or would use if they could be served
};

/// Findings about the rules of a route at a listener, besides the rules themselves.
struct InheritanceFindings {
  std::vector<Fault> dropped;  // faults because of which rules answer 500 there
  std::vector<config::Finding> notes;
  std::vector<const RefusedUse*> exposed;  // uses of the listener that some rule refuses; they belong to its settings
};

/// A rule of a route at one listener.
struct RuleAtListener {
  const RoutePlan& route;
  std::size_t index;          // index of the rule in its route
  const PolicySettings* own;  // settings of the kind's policies for the rule; may be null
  bool isOwn;                 // whether route and Gateway are in the same namespace
  InheritanceFindings& found;
};

class RulePolicies {
 public:
  virtual ~RulePolicies() = default;

  /// Returns the settings of policies for the rule, its route and its Backends. The name and the Backends of the rule's
  /// plan are set already. A kept plan is used again as long as these settings stay equal.
  virtual SharedSettings ofRule(const RoutePlan& /*route*/, const RulePlan& /*rule*/) const { return nullptr; }
  /// Returns true if a kept plan can be used again, with regard to everything that ofRule() does not cover.
  virtual bool isCurrent(const RoutePlan& /*plan*/) const { return true; }

  /// Applies settings to the Backends of a rule. All kinds do this before any kind applies its settings to the rule as
  /// a whole.
  virtual void applyToBackends(const PolicySettings& /*own*/, const RuleInMaking& /*rule*/) const {}
  /// Applies settings to the rule as a whole. If `own` is null, applies the defaults of a rule without settings.
  virtual void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const = 0;

  virtual HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const = 0;
  /// Returns the rule with the settings that it inherits. `rule` is shared, so a rule with other settings must be a
  /// copy.
  virtual std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                                       const PolicySettings& inherited,
                                                       const RuleAtListener& at) const = 0;
  /// Gives these settings to the rule of the listener for destinations that no route leads to. `place` names the rule
  /// in the process. Returns the fault because of which the rule answers 500; nullopt if there is none.
  virtual std::optional<Fault> inheritUnrouted(const PolicySettings& /*inherited*/, const std::string& /*place*/,
                                               routing::Rule& /*rule*/) const {
    return std::nullopt;
  }
};

using RulePolicyList = std::vector<std::unique_ptr<const RulePolicies>>;

}  // namespace sluice::compile
