// Follows the Deployments of Gateways, so that their state stands in the status of the Gateway. If this controller
// leads, it has the Pods of a Deployment that is not complete looked at.
//
// Lives on the main thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "proxy/kubernetes/provision/pod_check.h"
#include "proxy/kubernetes/provision/rollout_state.h"
#include "proxy/kubernetes/provision/wanted_objects.h"

namespace sluice::kubernetes {

class RolloutWatchUser {
 public:
  /// Called inside a Turn when follows() or stateOf() may return something else; it only records.
  virtual void onRollouts() = 0;

 protected:
  ~RolloutWatchUser() = default;
};

class RolloutWatch final : private WantedObjectsUser, private PodCheckUser {
 public:
  /// Both outlive it.
  RolloutWatch(ApiClient& client, RolloutWatchUser& user);

  /// Sets the Deployments of all Gateways; inside a Turn. They are followed from the first call on.
  void want(GatewayObjects deployments);
  void lead(bool leads);
  /// Returns true if the state of the Gateway's Pods is known, or will be. False if the API server lets nobody read
  /// Deployments.
  bool follows(const std::string& gateway) const;
  /// Returns the state of a Gateway's Pods; that of no Pods at all if it has no Deployment; nullopt if it is not known.
  std::optional<RolloutState> stateOf(const std::string& gateway) const;

 private:
  void onFound(const ApiObjectKey& name, const content::Value& deployment) override;
  void onLost(const ApiObjectKey& name) override;
  void onAccess() override { user_.onRollouts(); }
  void onPodsChecked() override { user_.onRollouts(); }
  void checkPods(const ApiObjectKey& name, const RolloutState& state);

  RolloutWatchUser& user_;
  WantedObjects follow_;
  PodCheck pods_;
  GatewayObjects wanted_;
  std::map<ApiObjectKey, RolloutState> states_;  // by Deployment
  bool leads_ = false;
};

}  // namespace sluice::kubernetes
