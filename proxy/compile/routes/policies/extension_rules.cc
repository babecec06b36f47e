#include "proxy/compile/routes/policies/extension_rules.h"

#include <optional>
#include <utility>
#include <vector>

#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/routes/policies/listener_uses.h"
#include "proxy/compile/routes/route_plan.h"
#include "proxy/compile/routes/route_uses.h"

namespace sluice::compile {
SharedSettings ExtensionRules::ofRule(const RoutePlan& route, const RulePlan& rule) const {
  const config::ObjectMeta& meta = route.route->meta;
  std::optional<CompiledUses> uses =
      processors_.extending(meta, rule.name, {route.holder(), meta.name, processing::Scope::kRoute, Exposure::kSome});
  return uses ? sharedSettings(*std::move(uses)) : nullptr;
}

void ExtensionRules::applyToRule(const PolicySettings* own, const RuleInMaking& rule) const {
  if (own == nullptr) return;
  std::vector<processing::Step> steps = takeSteps(settingsAs<CompiledUses>(*own), rule.route, rule.fault);
  rule.rule.chain = chainOf(std::move(steps), rule.rule.chain);
}

HandedDown ExtensionRules::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  HandedDown result;
  const UsesOf of{holderOf(gateway.meta), gateway.meta.name, processing::Scope::kRoute, Exposure::kSome};
  std::optional<CompiledUses> uses = processors_.extending(gateway.meta, listener, of);
  if (!uses) return result;
  uses = usesAtGateway(*std::move(uses), processors_.model(), gateway, result);
  uses->forgetOpen();
  result.unmatched = uses->steps;
  if (!uses->steps.empty() || !result.closing.empty()) result.settings = sharedSettings(*std::move(uses));
  return result;
}

std::shared_ptr<const routing::Rule> ExtensionRules::inherit(std::shared_ptr<const routing::Rule> rule,
                                                             const PolicySettings& inherited,
                                                             const RuleAtListener& /*at*/) const {
  if (rule->failure) return rule;
  const auto& uses = settingsAs<CompiledUses>(inherited);
  auto inheriting = std::make_shared<routing::Rule>(*rule);
  if (const auto closed = joined(uses.closed())) {
    inheriting->failure = routing::Rule::refusal(answer(*closed), rule->grpc);
  } else {
    inheriting->chain = chainOf(uses.steps, rule->chain);
  }
  return inheriting;
}

}  // namespace sluice::compile
