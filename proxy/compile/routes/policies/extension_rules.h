// ExtensionRules apply extension policies to rules and listeners. A rule runs the uses of the policy for its listener
// or Gateway. It also runs the uses of the policy for itself or its route, before the uses in the rule. The second
// policy adds to the first and removes nothing, because the owner of the Gateway does not necessarily trust the users
// who may write routes.
#pragma once

#include <memory>
#include <string>

#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

class ExtensionRules final : public RulePolicies {
 public:
  /// `processors` must outlive it.
  explicit ExtensionRules(const ProcessorCompiler& processors) : processors_(processors) {}

  SharedSettings ofRule(const RoutePlan& route, const RulePlan& rule) const override;
  void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const override;
  HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const override;
  /// Returns a rule that answers 500 if uses of the listener cannot run and fail closed.
  std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                               const PolicySettings& inherited,
                                               const RuleAtListener& at) const override;

 private:
  const ProcessorCompiler& processors_;
};

}  // namespace sluice::compile
