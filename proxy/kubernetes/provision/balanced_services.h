// Follows the Services that the controller keeps for Gateways, as far as load balancers have given them addresses
// (status.loadBalancer.ingress), by which clients outside of the cluster reach the Gateways.
//
// Lives on the main thread.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/kubernetes/provision/wanted_objects.h"

namespace sluice::kubernetes {

class BalancedServicesUser {
 public:
  /// Called inside a Turn when addressesOf() may return something else; it only records.
  virtual void onBalancedServices() = 0;

 protected:
  ~BalancedServicesUser() = default;
};

class BalancedServices final : private WantedObjectsUser {
 public:
  using Addresses = std::vector<config::AddressStatus>;
  /// The most addresses that the status of a Gateway has.
  static constexpr std::size_t kMostAddresses = 16;

  /// Both outlive it.
  BalancedServices(ApiClient& client, BalancedServicesUser& user);
  /// Sets the Services of all Gateways; inside a Turn. They are followed from the first call on.
  void want(OwnedNames services) { follow_.want(std::move(services)); }
  /// Returns the addresses of a wanted Service of type LoadBalancer; none if it has none.
  Addresses addressesOf(const ApiObjectKey& service) const;

 private:
  void onFound(const ApiObjectKey& name, const content::Value& service) override;
  void onLost(const ApiObjectKey& name) override;
  void onAccess() override {}  // while they cannot be read, the last addresses stay

  BalancedServicesUser& user_;
  WantedObjects follow_;
  std::map<ApiObjectKey, Addresses> services_;  // those with addresses
};

}  // namespace sluice::kubernetes
