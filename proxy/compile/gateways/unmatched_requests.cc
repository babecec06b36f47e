#include "proxy/compile/gateways/unmatched_requests.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
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

routing::Rule restRule(std::shared_ptr<const processing::Chain> chain, const std::optional<Fault>& why) {
  routing::Rule rest;
  rest.isRest = true;
  rest.chain = std::move(chain);
  if (why) rest.failure = answer(*why);
  return rest;
}

/// Has the rule of a listener send its requests to the destinations that they name. Returns why it cannot.
std::optional<Fault> lead(const DirectPlan& direct, const Inheritance& inheritance, const RulePolicyList& policies,
                          const std::string& place, routing::Rule& rest) {
  if (!direct) return direct.fault;
  rest.backends.emplace_back().backend = *direct.value;
  rest.totalWeight = 1;
  std::vector<Fault> faults;
  for (std::size_t kind = 0; kind < inheritance.size(); ++kind) {
    if (inheritance[kind] == nullptr) continue;
    auto fault = policies[kind]->inheritUnrouted(*inheritance[kind], place, rest);
    if (fault) faults.push_back(*std::move(fault));
  }
  return joined(faults);
}

/// Has the rule of the listener answer 500, and its conditions say why.
void closeRest(const Fault& why, ListenerPlan& listener, routing::Rule& rest) {
  if (!rest.failure) rest.failure = answer(why);
  std::vector<Fault> faults;
  if (listener.unprocessed) faults.push_back(*listener.unprocessed);
  faults.push_back(why);
  listener.unprocessed = joined(faults);
}

}  // namespace

void ruleUnmatched(std::vector<GatewayPlan>& gateways, const ExtensionHooks& hooks, const RulePolicyList& policies,
                   const SystemTrust& authorities) {
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
      routing::Rule rest = restRule(own.empty() ? ofRoutes : chainOf(own, ofRoutes), why);
      std::optional<Fault> unled;
      if (isProxy)
        unled = lead(direct(), listener.inheritance, policies, placeName(gateway, listener) + ", no route", rest);
      if (unled) closeRest(*unled, listener, rest);
      listener.rest = std::make_shared<const routing::Rule>(std::move(rest));
    }
    const std::optional<Fault>& why = ofProcess ? ofProcess : ofAllHosts;
    if (why) gateway.rest = std::make_shared<const routing::Rule>(restRule(nullptr, why));
  }
}

}  // namespace sluice::compile
