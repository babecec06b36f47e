#include "proxy/compile/gateways/listener_steps.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "proxy/compile/ground/secret_trust.h"
#include "proxy/compile/processors/permitted_steps.h"

namespace sluice::compile {
namespace {

void tell(const CompiledUses& uses, ListenerPlan& listener) {
  std::vector<Fault> all = uses.closed();
  for (const Fault& each : uses.open()) all.push_back(withConsequence(each, kLeftOut));
  if (listener.unprocessed) all.insert(all.begin(), *listener.unprocessed);
  listener.unprocessed = joined(all);
}

/// Notes the Secrets of uses that a Gateway runs, and takes out those that its Pods may not read.
CompiledUses atGateway(CompiledUses uses, const SecretTrust& trust, GatewayPlan& gateway) {
  gateway.secrets.merge(secretsUsedBy(uses));
  return permittedUses(std::move(uses), trust, gateway.gateway->meta);
}

/// Compiles the extension policy of a listener, for all rules there.
InheritedUses extendListener(GatewayPlan& gateway, ListenerPlan& listener, const ProcessorCompiler& processors,
                             const SecretTrust& trust, RefusedUses& refused) {
  const config::ObjectMeta& meta = gateway.gateway->meta;
  const UsesOf of{holderOf(meta), meta.name, processing::Scope::kRoute, Exposure::kSome};
  std::optional<CompiledUses> uses = processors.extending(meta, listener.listener->name, of);
  if (!uses) return {};
  uses = atGateway(*std::move(uses), trust, gateway);
  refused.note(uses->refused);
  tell(*uses, listener);
  for (const Fault& each : uses->closed()) {
    gateway.closeFor(each);
    listener.shutFor(each);
  }
  return {std::move(uses->steps), joined(uses->closed())};
}

}  // namespace

void processListeners(std::vector<GatewayPlan>& gateways, const ProcessorCompiler& processors,
                      const ExtensionHooks& hooks, ListenerCache& cache, RefusedUses& refused) {
  for (GatewayPlan& gateway : gateways) {
    const config::ObjectMeta& meta = gateway.gateway->meta;
    if (hooks.ofListeners == CompiledUses() && !processors.concern(meta)) continue;
    const SecretTrust trust(processors.model(), *gateway.gateway);
    for (ListenerPlan& listener : gateway.listeners) {
      const UsesOf of{holderOf(meta), meta.name, processing::Scope::kGateway, Exposure::kByRule};
      CompiledUses uses = toldOfHooks(hooks.ofListeners);
      uses.append(processors.targeting(meta, {listener.listener->name}, of));
      uses = atGateway(std::move(uses), trust, gateway);
      refused.note(uses.refused);
      tell(uses, listener);
      InheritedUses inherited = extendListener(gateway, listener, processors, trust, refused);
      for (const Fault& each : uses.closed()) {
        uses.steps.push_back(refusing(each, of.scope));
        gateway.closeFor(each);
        listener.shutFor(each);
      }
      for (const ShieldedUse& each : uses.shielded) {
        if (each.step.preRouting) uses.steps.push_back(each.step);
      }
      listener.inheritance.uses =
          cache.shared(placeName(gateway, listener), ListenerUses{std::move(uses.shielded), std::move(inherited)});
      const auto routed = std::stable_partition(uses.steps.begin(), uses.steps.end(),
                                                [](const processing::Step& step) { return step.preRouting; });
      listener.chain = chainOf({std::make_move_iterator(routed), std::make_move_iterator(uses.steps.end())});
      uses.steps.erase(routed, uses.steps.end());
      listener.preRouting = chainOf(std::move(uses.steps));
    }
  }
}

void governListeners(std::vector<GatewayPlan>& gateways, const TrafficPolicies& traffic, ListenerCache& cache) {
  for (GatewayPlan& gateway : gateways) {
    const config::ObjectMeta& meta = gateway.gateway->meta;
    if (!traffic.concern(meta)) continue;
    for (ListenerPlan& listener : gateway.listeners) {
      listener.inheritance.traffic =
          cache.shared(placeName(gateway, listener), traffic.ofListener(meta, listener.listener->name));
      if (listener.inheritance.traffic == nullptr) continue;
      const std::optional<Fault>& fault = listener.inheritance.traffic->settings.fault;
      if (!fault) continue;
      listener.unprocessed = listener.unprocessed ? joined({*listener.unprocessed, *fault}) : fault;
      gateway.closeFor(*fault);
      listener.shutFor(*fault);
    }
  }
}

}  // namespace sluice::compile
