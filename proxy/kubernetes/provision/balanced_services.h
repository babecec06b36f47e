// Follows the Services that the controller keeps for Gateways, as far as load balancers have given them addresses
// (status.loadBalancer.ingress), by which clients outside of the cluster reach the Gateways.
//
// Lives on the main thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/objects/api_object.h"

namespace sluice::kubernetes {

class BalancedServicesUser {
 public:
  /// Called inside a Turn when addressesOf() may return something else; it only records.
  virtual void onBalancedServices() = 0;

 protected:
  ~BalancedServicesUser() = default;
};

class BalancedServices final : private ListWatchUser {
 public:
  using Addresses = std::vector<config::AddressStatus>;
  /// The most addresses that the status of a Gateway has.
  static constexpr std::size_t kMostAddresses = 16;

  /// Both outlive it.
  BalancedServices(ApiClient& client, BalancedServicesUser& user);
  void start() { follow_.list(); }
  /// Returns the addresses of a Service of type LoadBalancer that is owned by the object with that uid; none if it has
  /// none.
  Addresses addressesOf(const ApiObjectKey& service, std::string_view owner) const;

 private:
  struct BalancedService {
    std::set<std::string> owners;  // uids
    Addresses addresses;

    bool operator==(const BalancedService&) const = default;
  };

  void onListing(ListWatch&) override { listed_.emplace(); }
  void onListed(ListWatch&) override;
  void onObject(ListWatch&, content::Value&& service) override;
  void onDeleted(ListWatch&, const content::Value& service) override;
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch&) override { told_.clear(); }
  void remove(const ApiObjectKey& key);

  ApiClient& client_;
  BalancedServicesUser& user_;
  ListWatch follow_;
  std::map<ApiObjectKey, BalancedService> services_;  // those with addresses
  std::optional<std::set<ApiObjectKey>> listed_;
  std::string told_;  // why they cannot be listed
};

}  // namespace sluice::kubernetes
