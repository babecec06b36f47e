// The TagPolicies of rules and listeners. Each field is that of the most specific policy that has it.
#pragma once

#include <memory>
#include <string>

#include "config/model/tag_policy.h"
#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

class TagRules final : public RulePolicies {
 public:
  /// `model` must outlive it.
  explicit TagRules(const config::Model& model) : policies_(model) {}

  SharedSettings ofRule(const RoutePlan& route, const RulePlan& rule) const override;
  void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const override;
  HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const override;
  std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                               const PolicySettings& inherited,
                                               const RuleAtListener& at) const override;

 private:
  const AttachedPolicies<config::TagPolicy> policies_;
};

}  // namespace sluice::compile
