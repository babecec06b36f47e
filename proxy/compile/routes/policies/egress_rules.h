// EgressRules apply EgressPolicies to rules and listeners. The policies for a listener and those for a rule take effect
// together, so a rule inherits only that one of the listener's cannot be served.
#pragma once

#include <memory>
#include <string>

#include "proxy/compile/policies/egress_policies.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

class EgressRules final : public RulePolicies {
 public:
  /// Both must outlive it.
  EgressRules(const config::Model& model, processing::SharedStates& states) : policies_(model, states) {}

  SharedSettings ofRule(const RoutePlan& route, const RulePlan& rule) const override;
  void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const override;
  HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const override;
  std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                               const PolicySettings& inherited,
                                               const RuleAtListener& at) const override;

 private:
  const CompiledEgressPolicies policies_;
};

}  // namespace sluice::compile
