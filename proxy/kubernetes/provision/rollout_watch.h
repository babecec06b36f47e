// Follows the Deployments of Gateways, so that their state stands in the status of the Gateway.
//
// It takes Deployments with the controller's label whose name and owner are those of a Gateway's, because anybody may
// write the label, and keeps none of the others. If this controller leads, it has the Pods of a Deployment that is not
// complete looked at. Lives on the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/provision/pod_check.h"
#include "proxy/kubernetes/provision/rollout_state.h"

namespace sluice::kubernetes {

/// The Deployment of a Gateway.
struct GatewayDeployment {
  PodCheck::DeploymentName name;
  std::string owner;  // the uid of the Gateway

  bool operator==(const GatewayDeployment&) const = default;
};
/// Deployments by the Gateways as events name them ("Gateway demo/egress").
using GatewayDeployments = std::map<std::string, GatewayDeployment>;

class RolloutWatchUser {
 public:
  /// Called inside a Turn when follows() or stateOf() may return something else; it only records.
  virtual void onRollouts() = 0;

 protected:
  ~RolloutWatchUser() = default;
};

class RolloutWatch final : private ListWatchUser, private PodCheckUser {
 public:
  static constexpr std::size_t kMostIgnored = 10'000;

  /// Both outlive it.
  RolloutWatch(ApiClient& client, RolloutWatchUser& user);

  /// Sets the Deployments of all Gateways; inside a Turn. They are followed from the first call on.
  void want(GatewayDeployments wanted);
  void lead(bool leads);
  /// Returns true if the state of the Gateway's Pods is known, or will be. False if the API server lets nobody read
  /// Deployments.
  bool follows(const std::string& gateway) const { return access_ != Access::kNone && wanted_.contains(gateway); }
  /// Returns the state of a Gateway's Pods; that of no Pods at all if it has no Deployment; nullopt if it is not known.
  std::optional<RolloutState> stateOf(const std::string& gateway) const;

 private:
  enum class Access : std::uint8_t {
    kAwaited,  // the first list has not come yet
    kNone,     // the server does not permit it
    kRead
  };

  void onListing(ListWatch&) override { listed_.emplace(); }
  void onListed(ListWatch&) override;
  void onObject(ListWatch&, content::Value&& deployment) override;
  void onDeleted(ListWatch&, const content::Value& deployment) override;
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch&) override { told_.clear(); }
  void onPodsChecked() override { user_.onRollouts(); }
  void ignore(const PodCheck::DeploymentName& name);
  void drop(const std::string& gateway);
  void checkPods(const PodCheck::DeploymentName& name, const RolloutState& state);

  ApiClient& client_;
  RolloutWatchUser& user_;
  ListWatch follow_;
  PodCheck pods_;
  GatewayDeployments wanted_;
  std::map<PodCheck::DeploymentName, std::string> gateways_;  // the Gateways of wanted_ by their Deployments
  std::map<std::string, RolloutState> states_;                // by Gateway
  std::optional<std::set<std::string>> listed_;               // the Gateways that the list has shown so far
  std::set<PodCheck::DeploymentName> ignored_;                // Deployments with our label that are no Gateway's
  bool ignoredMore_ = false;                                  // there are others that are not in ignored_
  Access access_ = Access::kAwaited;
  std::string told_;  // why they cannot be watched
  bool started_ = false;
  bool leads_ = false;
};

}  // namespace sluice::kubernetes
