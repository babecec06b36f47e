#include "proxy/compile/gateways/unmatched_requests.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/compile/ground/compiled_chain.h"

namespace sluice::compile {

namespace {

std::shared_ptr<const routing::Rule> restRule(std::shared_ptr<const processing::Chain> chain,
                                              const std::optional<Fault>& why) {
  auto rest = std::make_shared<routing::Rule>();
  rest->isRest = true;
  rest->chain = std::move(chain);
  if (why) rest->failure = answer(*why);
  return rest;
}

}  // namespace

void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks) {
  const std::optional<Fault> ofProcess = joined(hooks.ofRoutes.closed());
  const std::shared_ptr<const processing::Chain> ofRoutes = chainOf(hooks.ofRoutes.steps);
  const std::optional<Fault> ofAllHosts = joined(hooks.ofListeners.closed());
  for (GatewayPlan& gateway : gateways) {
    for (ListenerPlan& listener : gateway.listeners) {
      const std::optional<Fault>& why = listener.shut ? listener.shut : ofProcess;
      const std::vector<processing::Step>& own = listener.unmatched;
      if (!why && listener.chain == nullptr && ofRoutes == nullptr && own.empty()) continue;
      listener.rest = restRule(own.empty() ? ofRoutes : chainOf(own, ofRoutes), why);
    }
    const std::optional<Fault>& why = ofProcess ? ofProcess : ofAllHosts;
    if (why) gateway.rest = restRule(nullptr, why);
  }
}

}  // namespace sluice::compile
