// Follows the ClusterRole whose rights the Pods of all Gateways have (kGatewayClusterRole). It is a part of the
// installation. What the controller makes outside of a Gateway's namespace belongs to it, so that the cluster deletes
// that together with the installation, when no controller is left to do it.
//
// Lives on the main thread.
#pragma once

#include <string>

#include "proxy/kubernetes/client/list_watch.h"

namespace sluice::kubernetes {

class SharedRoleUser {
 public:
  /// Called inside a Turn when the role is another one, or known at last; it only records.
  virtual void onSharedRole() = 0;

 protected:
  ~SharedRoleUser() = default;
};

class SharedRole final : private ListWatchUser {
 public:
  /// Both outlive it.
  SharedRole(ApiClient& client, SharedRoleUser& user);
  void start() { follow_.list(); }
  /// Returns true once it is known whether there is such a role, or that this cannot be known.
  bool answered() const { return answered_; }
  /// Returns its uid; empty if there is none, or if it may not be read.
  const std::string& uid() const { return uid_; }

 private:
  void onListing(ListWatch&) override { listed_.clear(); }
  void onListed(ListWatch&) override { settle(listed_); }
  void onObject(ListWatch&, content::Value&& role) override;
  void onDeleted(ListWatch&, const content::Value&) override { settle({}); }
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch&) override {}
  void settle(const std::string& uid);

  ApiClient& client_;
  SharedRoleUser& user_;
  ListWatch follow_;
  std::string uid_;
  std::string listed_;  // the uid in the listing that is under way
  bool answered_ = false;
};

}  // namespace sluice::kubernetes
