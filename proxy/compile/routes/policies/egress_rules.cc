#include "proxy/compile/routes/policies/egress_rules.h"

#include <utility>

#include "proxy/compile/routes/route_plan.h"

namespace sluice::compile {

SharedSettings EgressRules::ofRule(const RoutePlan& route, const RulePlan& rule) const {
  if (policies_.empty()) return nullptr;
  EgressSettings settings = policies_.targeting(route.route->meta, rule.name);
  return settings.empty() ? nullptr : sharedSettings(std::move(settings));
}

void EgressRules::applyToRule(const PolicySettings* own, const RuleInMaking& rule) const {
  if (own == nullptr) return;
  const auto& settings = settingsAs<EgressSettings>(*own);
  if (!rule.fault) rule.fault = settings.fault;
  if (settings.policies.empty()) return;
  rule.rule.egress = std::make_shared<const routing::EgressPolicies>(settings.policies);
}

HandedDown EgressRules::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  HandedDown result;
  if (policies_.empty()) return result;
  EgressSettings settings = policies_.ofListener(gateway, listener);
  result.egress = std::move(settings.policies);
  result.authentication = std::move(settings.authentication);
  result.secrets = std::move(settings.secrets);
  if (!settings.fault) return result;
  result.closing = result.told = {*settings.fault};
  result.settings = sharedSettings(EgressSettings{{}, std::move(settings.fault)});
  return result;
}

std::shared_ptr<const routing::Rule> EgressRules::inherit(std::shared_ptr<const routing::Rule> rule,
                                                          const PolicySettings& inherited,
                                                          const RuleAtListener& /*at*/) const {
  if (rule->failure) return rule;
  auto closed = std::make_shared<routing::Rule>(*rule);
  closed->failure = routing::Rule::refusal(answer(*settingsAs<EgressSettings>(inherited).fault), rule->grpc);
  return closed;
}

}  // namespace sluice::compile
