#include "proxy/kubernetes/provision/rollout_watch.h"

#include <utility>

namespace sluice::kubernetes {

RolloutWatch::RolloutWatch(ApiClient& client, RolloutWatchUser& user)
    : user_(user),
      follow_(client, *this, labelledObjects(provisioned::kDeployment), "the Deployments of Gateways cannot be read"),
      pods_(client, *this) {}

void RolloutWatch::want(GatewayObjects deployments) {
  wanted_ = std::move(deployments);
  follow_.want(ownedNames(wanted_));
}

void RolloutWatch::lead(bool leads) {
  leads_ = leads;
  pods_.clear();
  for (const auto& [name, state] : states_) checkPods(name, state);
}

bool RolloutWatch::follows(const std::string& gateway) const {
  return follow_.access() != WantedObjects::Access::kNone && wanted_.contains(gateway);
}

std::optional<RolloutState> RolloutWatch::stateOf(const std::string& gateway) const {
  const auto wanted = wanted_.find(gateway);
  if (follow_.access() != WantedObjects::Access::kRead || wanted == wanted_.end()) return std::nullopt;
  const ApiObjectKey& name = wanted->second.first;
  const auto found = states_.find(name);
  if (found == states_.end()) return RolloutState();
  RolloutState state = found->second;
  const std::string ofPods = pods_.faultOf(name);
  if (!ofPods.empty()) state.fault += (state.fault.empty() ? "" : "; ") + ofPods;
  if (!state.fault.empty()) state.fault.insert(0, "Deployment " + name.second + ": ");
  return state;
}

void RolloutWatch::onFound(const ApiObjectKey& name, const content::Value& deployment) {
  RolloutState state = rolloutState(deployment);
  const auto [known, isNew] = states_.try_emplace(name, state);
  if (!isNew && known->second == state) return;
  checkPods(name, state);
  known->second = std::move(state);
  user_.onRollouts();
}

void RolloutWatch::onLost(const ApiObjectKey& name) {
  pods_.forget(name);
  if (states_.erase(name) > 0) user_.onRollouts();
}

void RolloutWatch::checkPods(const ApiObjectKey& name, const RolloutState& state) {
  leads_ && !state.complete ? pods_.watch(name) : pods_.forget(name);
}

}  // namespace sluice::kubernetes
