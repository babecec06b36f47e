// ProcessorRules apply payload processors to rules and listeners. These are the hooks of the process, the filters of
// rules, and the PayloadProcessors that target a route, a Gateway or a section of them. All of them run.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/routes/rule_policies.h"

namespace sluice::compile {

class ProcessorRules final : public RulePolicies {
 public:
  /// `processors` must outlive it.
  ProcessorRules(const ProcessorCompiler& processors, std::shared_ptr<const ExtensionHooks> hooks);

  bool isCurrent(const RoutePlan& plan) const override;
  void applyToRule(const PolicySettings* own, const RuleInMaking& rule) const override;
  HandedDown ofListener(const config::Gateway& gateway, const std::string& listener) const override;
  /// Adds the uses of the listener that depend on the rule (shielded_rule.h).
  std::shared_ptr<const routing::Rule> inherit(std::shared_ptr<const routing::Rule> rule,
                                               const PolicySettings& inherited,
                                               const RuleAtListener& at) const override;
  /// Such a rule has none of the uses that depend on the rule, so it adds no credentials. It cannot be served if one of
  /// them has run before the route was known.
  std::optional<Fault> inheritUnrouted(const PolicySettings& inherited, const std::string& place,
                                       routing::Rule& rule) const override;

 private:
  const ProcessorCompiler& processors_;
  const std::shared_ptr<const ExtensionHooks> hooks_;
};

}  // namespace sluice::compile
