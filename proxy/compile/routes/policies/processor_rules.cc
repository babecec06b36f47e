#include "proxy/compile/routes/policies/processor_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/policies/listener_uses.h"
#include "proxy/compile/routes/policies/shielded_rule.h"
#include "proxy/compile/routes/route_uses.h"

namespace sluice::compile {
namespace {

using ShieldedUses = std::vector<ShieldedUse>;

}  // namespace

ProcessorRules::ProcessorRules(const ProcessorCompiler& processors, std::shared_ptr<const ExtensionHooks> hooks)
    : processors_(processors), hooks_(std::move(hooks)) {}

bool ProcessorRules::isCurrent(const RoutePlan& plan) const {
  if (plan.hooks != hooks_ || processors_.concern(plan.route->meta) != plan.processed) return false;
  return std::all_of(plan.asked.begin(), plan.asked.end(), [&](const AskedUses& before) {
    return findUses(processors_, plan.route->meta, before.question) == before.found;
  });
}

void ProcessorRules::applyToRule(const PolicySettings* /*own*/, const RuleInMaking& rule) const {
  const auto& backends = rule.rule.backends;
  const bool exposed = std::any_of(backends.begin(), backends.end(), isExposed);
  const UsesOf of{rule.route.holder(), rule.route.route->meta.name, processing::Scope::kRoute,
                  exposed ? Exposure::kSome : Exposure::kNone, rule.place};
  CompiledUses found = usesFor(processors_, {&rule.written.filters.processors, of, rule.written.name}, rule.route);
  CompiledUses uses = toldOfHooks(hooks_->ofRoutes);
  uses.append(std::move(found));
  rule.rule.chain = chainOf(takeSteps(std::move(uses), rule.route, rule.fault));
}

HandedDown ProcessorRules::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  HandedDown result;
  if (hooks_->ofListeners == CompiledUses() && !processors_.concern(gateway.meta)) return result;
  const UsesOf of{holderOf(gateway.meta), gateway.meta.name, processing::Scope::kGateway, Exposure::kByRule};
  CompiledUses uses = toldOfHooks(hooks_->ofListeners);
  uses.append(processors_.targeting(gateway.meta, {listener}, of));
  uses = usesAtGateway(std::move(uses), processors_.model(), gateway, result);
  result.steps = std::move(uses.steps);
  for (const Fault& each : result.closing) {
    result.steps.push_back(refusing(each, of.scope, gateway.meta.title()));
  }
  for (const ShieldedUse& each : uses.shielded) {
    if (each.step.preRouting) result.steps.push_back(each.step);
  }
  if (!uses.shielded.empty()) result.settings = sharedSettings<ShieldedUses>(std::move(uses.shielded));
  return result;
}

std::shared_ptr<const routing::Rule> ProcessorRules::inherit(std::shared_ptr<const routing::Rule> rule,
                                                             const PolicySettings& inherited,
                                                             const RuleAtListener& at) const {
  const auto& uses = settingsAs<ShieldedUses>(inherited);
  ShieldedRule result = shieldedRule(std::move(rule), uses);
  for (const std::size_t use : result.exposed) {
    const RefusedUse& refused = uses[use].refused;
    at.found.exposed.push_back(&refused);
    const std::string message =
        at.isOwn ? refused.origin + refused.fault.text()
                 : "a payload processor of another namespace cannot run for it (" + refused.fault.reason + ")";
    const Fault why = faultOfRule(at.index, fault(refused.fault.reason, message));
    if (refused.open) {
      at.found.notes.push_back(noteOf(withConsequence(why, kLeftOut)));
    } else {
      at.found.dropped.push_back(why);
    }
  }
  return std::move(result.rule);
}

std::optional<Fault> ProcessorRules::inheritUnrouted(const PolicySettings& inherited, const std::string& /*place*/,
                                                     routing::Rule& /*rule*/) const {
  for (const ShieldedUse& each : settingsAs<ShieldedUses>(inherited)) {
    if (each.step.preRouting) return each.refused.fault;
  }
  return std::nullopt;
}

}  // namespace sluice::compile
