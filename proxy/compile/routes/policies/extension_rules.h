// The extension policies of rules and listeners. A rule runs the uses of the policy for its listener or Gateway, and
// before its own ones those of the policy for itself or its route. The second adds to the first and takes nothing away,
// because whoever may write a route need not be trusted by the owner of the Gateway.
#pragma once

#include <memory>
#include <string>

#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

class ExtensionRules final : public RulePolicies {
 public:
  /// `processors` outlive it.
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
