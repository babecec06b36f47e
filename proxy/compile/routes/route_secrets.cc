#include "proxy/compile/routes/route_secrets.h"

#include <memory>

namespace sluice::compile {
namespace {

void addOfChain(const std::shared_ptr<const processing::Chain>& chain, base::ObjectNames& names) {
  if (chain == nullptr) return;
  for (const processing::Step& each : chain->all()) names.insert(each.secrets.begin(), each.secrets.end());
}

}  // namespace

base::ObjectNames secretsOfRoute(const RoutePlan& plan) {
  base::ObjectNames names;
  if (plan.rejection) return names;
  for (const std::shared_ptr<const BackendUse>& use : plan.uses) {
    names.insert(use->secrets.begin(), use->secrets.end());
  }
  for (const RulePlan& rule : plan.rules) {
    addOfChain(rule.rule->chain, names);
    for (const routing::WeightedBackend& each : rule.rule->backends) addOfChain(each.chain, names);
  }
  for (const RefusedUse& each : plan.refused) names.insert(each.secrets.begin(), each.secrets.end());
  return names;
}

}  // namespace sluice::compile
