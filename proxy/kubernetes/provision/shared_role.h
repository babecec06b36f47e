// Follows the ClusterRole whose rights the Pods of all Gateways have (kGatewayClusterRole). It is a part of the
// installation. What the controller makes outside of a Gateway's namespace belongs to it, so that the cluster deletes
// that together with the installation, when no controller is left to do it.
//
// Lives on the main thread.
#pragma once

#include <string>

#include "proxy/kubernetes/provision/wanted_objects.h"

namespace sluice::kubernetes {

class SharedRoleUser {
 public:
  /// Called inside a Turn when the role is another one, or known at last; it only records.
  virtual void onSharedRole() = 0;

 protected:
  ~SharedRoleUser() = default;
};

class SharedRole final : private WantedObjectsUser {
 public:
  /// Both outlive it.
  SharedRole(ApiClient& client, SharedRoleUser& user);
  void start();
  /// Returns true once it is known whether there is such a role, or that this cannot be known.
  bool answered() const { return follow_.access() != WantedObjects::Access::kAwaited; }
  /// Returns its uid; empty if there is none, or if it may not be read.
  std::string uid() const { return follow_.access() == WantedObjects::Access::kRead ? uid_ : std::string(); }

 private:
  void onFound(const ApiObjectKey& name, const content::Value& role) override;
  void onLost(const ApiObjectKey&) override { settle({}); }
  void onAccess() override { user_.onSharedRole(); }
  void settle(const std::string& uid);

  SharedRoleUser& user_;
  WantedObjects follow_;
  std::string uid_;
};

}  // namespace sluice::kubernetes
