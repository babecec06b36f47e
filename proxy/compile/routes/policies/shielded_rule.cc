#include "proxy/compile/routes/policies/shielded_rule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/routes/refused_backends.h"

namespace sluice::compile {

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
    refuseBackends(*shielded, [&fault = refused.fault](const routing::WeightedBackend& weighted) {
      return isExposed(weighted) ? std::optional(fault) : std::nullopt;
    });
    if (step.preRouting) continue;
    steps.push_back(step);
    // The step is added and removed with the rule when a route is matched again, as steps of a route are.
    steps.back().scope = processing::Scope::kRoute;
  }
  shielded->chain = chainOf(std::move(steps), rule->chain);
  result.rule = std::move(shielded);
  return result;
}

}  // namespace sluice::compile
