#include "proxy/compile/routes/attached/inherited_uses.h"

#include <utility>

namespace sluice::compile {

std::shared_ptr<const routing::Rule> inheritingRule(std::shared_ptr<const routing::Rule> rule,
                                                    const InheritedUses& uses) {
  if (uses.empty() || rule->failure) return rule;
  auto inheriting = std::make_shared<routing::Rule>(*rule);
  if (uses.closed) {
    inheriting->failure = routing::Rule::refusal(answer(*uses.closed), rule->grpc);
    return inheriting;
  }
  std::vector<processing::Step> steps = uses.steps;
  if (rule->chain) {
    for (processing::Step& each : rule->chain->all()) steps.push_back(std::move(each));
  }
  inheriting->chain = chainOf(std::move(steps));
  return inheriting;
}

}  // namespace sluice::compile
