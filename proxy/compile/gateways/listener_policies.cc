#include "proxy/compile/gateways/listener_policies.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "proxy/compile/ground/compiled_chain.h"

namespace sluice::compile {
namespace {

/// Returns the chain with more steps after its own; `chain` may be null.
std::shared_ptr<const processing::Chain> withSteps(const std::shared_ptr<const processing::Chain>& chain,
                                                   std::vector<processing::Step> more) {
  if (more.empty()) return chain;
  std::vector<processing::Step> steps = chain ? chain->all() : std::vector<processing::Step>();
  std::move(more.begin(), more.end(), std::back_inserter(steps));
  return chainOf(std::move(steps));
}

/// Gives the listener steps that its requests run before or after a route is matched.
void addSteps(std::vector<processing::Step> steps, ListenerPlan& listener) {
  const auto routed =
      std::stable_partition(steps.begin(), steps.end(), [](const processing::Step& step) { return step.preRouting; });
  listener.chain = withSteps(listener.chain, {std::make_move_iterator(routed), std::make_move_iterator(steps.end())});
  steps.erase(routed, steps.end());
  listener.preRouting = withSteps(listener.preRouting, std::move(steps));
}

void tell(std::vector<Fault> faults, ListenerPlan& listener) {
  if (listener.unprocessed) faults.insert(faults.begin(), *listener.unprocessed);
  listener.unprocessed = joined(faults);
}

void take(HandedDown handed, GatewayPlan& gateway, ListenerPlan& listener) {
  gateway.secrets.merge(handed.secrets);
  for (const Fault& each : handed.closing) {
    gateway.closeFor(each);
    listener.shutFor(each);
  }
  tell(std::move(handed.told), listener);
  addSteps(std::move(handed.steps), listener);
  if (!handed.egress.empty()) {
    listener.egress = std::make_shared<const routing::EgressPolicies>(std::move(handed.egress));
  }
  if (handed.matching.any()) listener.matching = handed.matching;
  if (handed.authentication != nullptr) listener.authentication = std::move(handed.authentication);
  std::move(handed.unmatched.begin(), handed.unmatched.end(), std::back_inserter(listener.unmatched));
}

}  // namespace

void applyToListeners(std::vector<GatewayPlan>& gateways, const RulePolicyList& policies, ListenerCache& cache,
                      RefusedUses& refused) {
  for (std::size_t kind = 0; kind < policies.size(); ++kind) {
    for (GatewayPlan& gateway : gateways) {
      for (ListenerPlan& listener : gateway.listeners) {
        HandedDown handed = policies[kind]->ofListener(*gateway.gateway, listener.listener->name);
        listener.inheritance.push_back(cache.shared(placeName(gateway, listener), kind, std::move(handed.settings)));
        refused.note(handed.refused);
        take(std::move(handed), gateway, listener);
      }
    }
  }
}

}  // namespace sluice::compile
