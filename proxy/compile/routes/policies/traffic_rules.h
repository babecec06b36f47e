// TrafficRules apply TrafficPolicies, and policies of other kinds with the same settings, to rules and listeners. From
// the policies for its listener and Gateway, a rule inherits the settings that neither the rule nor its route has.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/routes/rule_policies.h"
#include "proxy/processing/shared_states.h"

namespace sluice::compile {

class TrafficRules final : public RulePolicies {
 public:
  /// All references must outlive it.
  TrafficRules(const TrafficPolicies& policies, const BackendCatalog& backends, processing::SharedStates& states)
      : policies_(policies), backends_(backends), states_(states) {}

  SharedSettings ofRule(const RoutePlan& route, const RulePlan& rule) const override;
  bool isCurrent(const RoutePlan& plan) const override;
  /// Gathers the settings for each Backend and for each mirror. A policy that cannot be served closes its Backend, and
  /// mirrors to that Backend are left out.
  void applyToBackends(const PolicySettings& own, const RuleInMaking& rule) const override;
  /// The `retry` of the rule itself takes precedence over policies.
  void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const override;
  HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const override;
  std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                               const PolicySettings& inherited,
                                               const RuleAtListener& at) const override;
  /// Such a rule has one Backend and no active health checks, since it has no endpoint of its own to check.
  std::optional<Fault> inheritUnrouted(const PolicySettings& inherited, const std::string& place,
                                       routing::Rule& rule) const override;

 private:
  void applyToMirrors(const RuleTraffic& traffic, const RuleInMaking& rule) const;

  const TrafficPolicies& policies_;
  const BackendCatalog& backends_;
  processing::SharedStates& states_;
};

}  // namespace sluice::compile
