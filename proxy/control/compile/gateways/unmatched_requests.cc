#include "proxy/control/compile/gateways/unmatched_requests.h"

#include <memory>
#include <optional>

#include "proxy/control/compile/processors/compiled_chain.h"

namespace sluice::control {

void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks) {
  const std::optional<Fault> ofProcess = joined(hooks.ofRoutes.closed());
  const std::shared_ptr<const processing::Chain> ofRoutes = chainOf(hooks.ofRoutes.steps);
  for (GatewayPlan& gateway : gateways) {
    for (ListenerPlan& listener : gateway.listeners) {
      const std::optional<Fault>& why = listener.shut ? listener.shut : ofProcess;
      if (!why && listener.chain == nullptr && ofRoutes == nullptr) continue;
      auto rest = std::make_shared<routing::Rule>();
      rest->isRest = true;
      rest->chain = ofRoutes;
      if (why) rest->failure = answer(*why);
      listener.rest = std::move(rest);
    }
  }
}

}  // namespace sluice::control
