#include "proxy/compile/gateways/unmatched_requests.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/compiled_chain.h"

namespace sluice::compile {

namespace {

using DirectPlan = Resolved<std::shared_ptr<const routing::BackendPlan>>;

DirectPlan compileDirect(const SystemTrust& authorities) {
  auto store = authorities();
  if (!store)
    return fault(config::reason::kInvalidCaCertificateRef, "the authorities of the system: " + store.error().detail);
  return directPlan(*store);
}

/// Has the rule send its requests to the destinations that they name.
void lead(routing::Rule& rest, const DirectPlan& direct) {
  if (!direct && !rest.failure) rest.failure = answer(direct.fault);
  if (!direct) return;
  rest.backends.emplace_back().backend = *direct.value;
  rest.totalWeight = 1;
}

/// `direct` is null unless clients name the destinations of the requests.
std::shared_ptr<const routing::Rule> restRule(std::shared_ptr<const processing::Chain> chain,
                                              const std::optional<Fault>& why, const DirectPlan* direct) {
  auto rest = std::make_shared<routing::Rule>();
  rest->isRest = true;
  rest->chain = std::move(chain);
  if (why) rest->failure = answer(*why);
  if (direct != nullptr) lead(*rest, *direct);
  return rest;
}

}  // namespace

void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks, const SystemTrust& authorities) {
  std::optional<DirectPlan> made;  // only if there is a forward proxy
  const auto direct = [&]() -> const DirectPlan& {
    if (!made) made = compileDirect(authorities);
    return *made;
  };
  const std::optional<Fault> ofProcess = joined(hooks.ofRoutes.closed());
  const std::shared_ptr<const processing::Chain> ofRoutes = chainOf(hooks.ofRoutes.steps);
  const std::optional<Fault> ofAllHosts = joined(hooks.ofListeners.closed());
  for (GatewayPlan& gateway : gateways) {
    for (ListenerPlan& listener : gateway.listeners) {
      const std::optional<Fault>& why = listener.shut ? listener.shut : ofProcess;
      const std::vector<processing::Step>& own = listener.unmatched;
      const bool isProxy = config::isForwardProxy(listener.listener->protocol);
      if (!why && listener.chain == nullptr && ofRoutes == nullptr && own.empty() && !isProxy) continue;
      listener.rest = restRule(own.empty() ? ofRoutes : chainOf(own, ofRoutes), why, isProxy ? &direct() : nullptr);
    }
    const std::optional<Fault>& why = ofProcess ? ofProcess : ofAllHosts;
    if (why) gateway.rest = restRule(nullptr, why, nullptr);
  }
}

}  // namespace sluice::compile
