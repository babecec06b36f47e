#include "proxy/kubernetes/provision/rollout_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/kubernetes/provision/found_object.h"

namespace sluice::kubernetes {
namespace {

PodCheck::DeploymentName nameOf(const content::Value& deployment) {
  return {std::string(metadataText(deployment, "namespace")), std::string(metadataText(deployment, "name"))};
}

bool isOwnedBy(const content::Value& deployment, const std::string& uid) {
  const std::vector<std::string> owners = foundObject(provisioned::kDeployment, deployment).owners;
  return std::find(owners.begin(), owners.end(), uid) != owners.end();
}

}  // namespace

RolloutWatch::RolloutWatch(ApiClient& client, RolloutWatchUser& user)
    : client_(client),
      user_(user),
      follow_(client, *this,
              {.path = provisioned::kDeployment.path(),
               .selector = "labelSelector=" + std::string(kManagedByLabel) + "%3D" + std::string(kManagedBy)}),
      pods_(client, *this) {}

void RolloutWatch::want(GatewayDeployments wanted) {
  const bool first = !std::exchange(started_, true);
  if (!first && wanted == wanted_) return;
  const GatewayDeployments before = std::exchange(wanted_, std::move(wanted));
  for (const auto& [gateway, deployment] : before) {
    const auto now = wanted_.find(gateway);
    if (now != wanted_.end() && now->second == deployment) continue;
    pods_.forget(deployment.name);
    drop(gateway);
  }
  gateways_.clear();
  bool lists = first;
  for (const auto& [gateway, deployment] : wanted_) {
    gateways_.emplace(deployment.name, gateway);
    const auto known = before.find(gateway);
    if (known != before.end() && known->second == deployment) continue;
    lists = lists || ignoredMore_ || ignored_.contains(deployment.name);
  }
  if (lists) follow_.list();
}

void RolloutWatch::lead(bool leads) {
  leads_ = leads;
  pods_.clear();
  for (const auto& [gateway, state] : states_) checkPods(wanted_.at(gateway).name, state);
}

std::optional<RolloutState> RolloutWatch::stateOf(const std::string& gateway) const {
  const auto wanted = wanted_.find(gateway);
  if (access_ != Access::kRead || wanted == wanted_.end()) return std::nullopt;
  const auto found = states_.find(gateway);
  if (found == states_.end()) return RolloutState();
  RolloutState state = found->second;
  const std::string ofPods = pods_.faultOf(wanted->second.name);
  if (!ofPods.empty()) state.fault += (state.fault.empty() ? "" : "; ") + ofPods;
  if (!state.fault.empty()) state.fault.insert(0, "Deployment " + wanted->second.name.second + ": ");
  return state;
}

void RolloutWatch::onObject(ListWatch&, content::Value&& deployment) {
  const PodCheck::DeploymentName name = nameOf(deployment);
  const auto found = gateways_.find(name);
  if (found == gateways_.end()) return ignore(name);
  const std::string& gateway = found->second;
  if (!isOwnedBy(deployment, wanted_.at(gateway).owner)) {
    ignore(name);
    pods_.forget(name);
    return drop(gateway);
  }
  ignored_.erase(name);
  if (listed_) listed_->insert(gateway);
  RolloutState state = rolloutState(deployment);
  const auto [known, isNew] = states_.try_emplace(gateway, state);
  if (!isNew && known->second == state) return;
  checkPods(name, state);
  known->second = std::move(state);
  user_.onRollouts();
}

void RolloutWatch::checkPods(const PodCheck::DeploymentName& name, const RolloutState& state) {
  leads_ && !state.complete ? pods_.watch(name) : pods_.forget(name);
}

void RolloutWatch::ignore(const PodCheck::DeploymentName& name) {
  if (ignored_.size() < kMostIgnored) {
    ignored_.insert(name);
  } else {
    ignoredMore_ = ignoredMore_ || !ignored_.contains(name);
  }
}

void RolloutWatch::onListed(ListWatch&) {
  const std::optional<std::set<std::string>> listed = std::exchange(listed_, std::nullopt);
  if (!listed) return;
  std::vector<std::string> gone;
  for (const auto& [gateway, state] : states_) {
    if (!listed->contains(gateway)) gone.push_back(gateway);
  }
  for (const std::string& gateway : gone) {
    pods_.forget(wanted_.at(gateway).name);
    drop(gateway);
  }
  if (std::exchange(access_, Access::kRead) != Access::kRead) user_.onRollouts();
}

void RolloutWatch::onDeleted(ListWatch&, const content::Value& deployment) {
  const PodCheck::DeploymentName name = nameOf(deployment);
  ignored_.erase(name);
  pods_.forget(name);
  const auto found = gateways_.find(name);
  if (found != gateways_.end()) drop(found->second);
}

/// Forgets the state of a Gateway, whose Deployment is gone.
void RolloutWatch::drop(const std::string& gateway) {
  if (states_.erase(gateway) > 0) user_.onRollouts();
}

void RolloutWatch::onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) {
  const bool refused = trouble != ListTrouble::kUnavailable;
  if (refused && std::exchange(access_, Access::kNone) != Access::kNone) user_.onRollouts();
  if (std::exchange(told_, message) == message) return;
  client_.log().warn("the Deployments of Gateways cannot be read", {{"reason", message}});
}

}  // namespace sluice::kubernetes
