#include "proxy/kubernetes/provision/balanced_services.h"

#include <algorithm>
#include <utility>

#include "config/ground/patterns.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/provision/found_object.h"
#include "proxy/processing/query_edit.h"

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
    : client_(client),
      user_(user),
      follow_(client, *this,
              {.path = provisioned::kService.path(),
               .selector = "labelSelector=" + std::string(kManagedByLabel) + "%3D" + std::string(kManagedBy)}) {}

BalancedServices::Addresses BalancedServices::addressesOf(const ApiObjectKey& service, std::string_view owner) const {
  const auto found = services_.find(service);
  if (found == services_.end() || !found->second.owners.contains(std::string(owner))) return {};
  return found->second.addresses;
}

void BalancedServices::onListed(ListWatch&) {
  const std::optional<std::set<ApiObjectKey>> listed = std::exchange(listed_, std::nullopt);
  if (!listed) return;
  const std::size_t erased = std::erase_if(services_, [&](const auto& each) { return !listed->contains(each.first); });
  if (erased != 0) user_.onBalancedServices();
}

void BalancedServices::onObject(ListWatch&, content::Value&& service) {
  const ApiObjectKey key = keyOf(service);
  if (listed_) listed_->insert(key);
  BalancedService balanced{.owners = {}, .addresses = addressesIn(service)};
  if (balanced.addresses.empty()) return remove(key);
  const FoundObject found = foundObject(provisioned::kService, service);
  balanced.owners.insert(found.owners.begin(), found.owners.end());
  BalancedService& known = services_[key];
  if (std::exchange(known, std::move(balanced)) != known) user_.onBalancedServices();
}

void BalancedServices::onDeleted(ListWatch&, const content::Value& service) { remove(keyOf(service)); }

void BalancedServices::onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) {
  if (trouble != ListTrouble::kForbidden || told_ == message) return;
  told_ = message;
  client_.log().warn("the addresses of load balancers cannot be read", {{"reason", message}});
}

void BalancedServices::remove(const ApiObjectKey& key) {
  if (services_.erase(key) != 0) user_.onBalancedServices();
}

}  // namespace sluice::kubernetes
