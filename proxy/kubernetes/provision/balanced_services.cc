#include "proxy/kubernetes/provision/balanced_services.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/ground/patterns.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

/// Returns an address of the form that the status of a Gateway takes; nullopt if there is none.
std::optional<config::AddressStatus> addressIn(const content::Value& ingress) {
  const std::string_view ip = textIn(&ingress, "ip");
  if (config::isIpAddress(ip)) return config::AddressStatus{"IPAddress", std::string(ip)};
  const std::string_view name = textIn(&ingress, "hostname");
  if (config::isDnsSubdomain(name)) return config::AddressStatus{"Hostname", std::string(name)};
  return std::nullopt;
}

BalancedServices::Addresses addressesIn(const content::Value& service) {
  BalancedServices::Addresses addresses;
  if (textIn(valueIn(&service, "spec"), "type") != "LoadBalancer") return addresses;  // the status may be an old one
  const content::Value* balancer = valueIn(valueIn(&service, "status"), "loadBalancer");
  const content::Value* ingress = valueIn(balancer, "ingress");
  if (ingress == nullptr) return addresses;
  for (const content::Value& each : ingress->items) {
    auto address = addressIn(each);
    if (!address || std::find(addresses.begin(), addresses.end(), *address) != addresses.end()) continue;
    if (addresses.size() < BalancedServices::kMostAddresses) addresses.push_back(*std::move(address));
  }
  return addresses;
}

}  // namespace

BalancedServices::BalancedServices(ApiClient& client, BalancedServicesUser& user)
    : user_(user),
      follow_(client, *this, labelledObjects(provisioned::kService), "the addresses of load balancers cannot be read") {
}

BalancedServices::Addresses BalancedServices::addressesOf(const ApiObjectKey& service) const {
  const auto found = services_.find(service);
  return found == services_.end() ? Addresses() : found->second;
}

void BalancedServices::onFound(const ApiObjectKey& name, const content::Value& service) {
  Addresses addresses = addressesIn(service);
  if (addresses.empty()) return onLost(name);
  Addresses& known = services_[name];
  if (std::exchange(known, std::move(addresses)) != known) user_.onBalancedServices();
}

void BalancedServices::onLost(const ApiObjectKey& name) {
  if (services_.erase(name) != 0) user_.onBalancedServices();
}

}  // namespace sluice::kubernetes
