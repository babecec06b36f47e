#include "proxy/control/compile/routes/shielded_rule.h"

#include <algorithm>
#include <utility>

#include "proxy/control/compile/routes/compile_failover.h"

namespace sluice::control {

bool exposes(const routing::BackendPlan& backend) { return !backend.tls && !backend.endpoints; }

bool isExposed(const routing::WeightedBackend& weighted) { return weighted.backend && exposes(*weighted.backend); }

namespace {

void refuseExposed(routing::Rule& rule, const Fault& fault) {
  for (std::size_t i = 0; i < rule.backends.size(); ++i) {
    routing::WeightedBackend& weighted = rule.backends[i];
    if (!isExposed(weighted)) continue;
    weighted.failure = routing::Rule::refusal(answer(fault), rule.grpc);
    weighted.backend = nullptr;
    weighted.chain = nullptr;
    if (!rule.healthChecks.empty()) rule.healthChecks[i] = nullptr;
  }
  if (!rule.failover) return;
  auto failover = std::make_shared<routing::FailoverPolicy>(*rule.failover);
  failover->usualWeight = usualWeight(failover->members, rule.broken());
  rule.failover = std::move(failover);
}

}  // namespace

ShieldedRule shieldedRule(std::shared_ptr<const routing::Rule> rule, const std::vector<ShieldedUse>& uses) {
  if (uses.empty() || rule->failure) return {std::move(rule), {}};
  const bool exposed = std::any_of(rule->backends.begin(), rule->backends.end(), isExposed);
  ShieldedRule result;
  auto shielded = std::make_shared<routing::Rule>(*rule);
  std::vector<processing::Step> steps;
  for (std::size_t index = 0; index < uses.size(); ++index) {
    const auto& [step, refused] = uses[index];
    if (exposed) result.exposed.push_back(index);
    if (exposed && refused.open) continue;
    refuseExposed(*shielded, refused.fault);
    if (step.preRouting) continue;
    steps.push_back(step);
    // It comes and goes with the rule when a route is matched again, as steps of a route do.
    steps.back().scope = processing::Scope::kRoute;
  }
  if (rule->chain) {
    for (processing::Step& each : rule->chain->all()) steps.push_back(std::move(each));
  }
  shielded->chain = chainOf(std::move(steps));
  result.rule = std::move(shielded);
  return result;
}

}  // namespace sluice::control
