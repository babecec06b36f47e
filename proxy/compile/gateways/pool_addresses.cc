#include "proxy/compile/gateways/pool_addresses.h"

#include <algorithm>
#include <string>
#include <utility>

#include "config/ground/patterns.h"
#include "proxy/compile/gateways/listen_address.h"
#include "proxy/compile/ground/disclosure.h"

namespace sluice::compile {
namespace {

/// Notes the fault of an address that the Gateway asks for, and removes the address.
void withdraw(GatewayPlan& plan, const config::GatewayAddress& asked, const std::string& address,
              const std::string& why) {
  std::erase(plan.addresses, address);
  if (plan.unusable) return;
  plan.unusable = fault(config::reason::kAddressNotUsable, asked.path + ".value", asked.value + ": " + why);
}

void withdrawTaken(GatewayPlan& plan, const PoolAssignment& assignment, const std::vector<GatewayPlan>& plans) {
  for (const config::GatewayAddress& asked : plan.gateway->addresses) {
    const std::string address = config::canonicalIp(asked.value);
    const auto holder = assignment.holders.find(address);
    if (holder == assignment.holders.end()) continue;
    const auto other = std::find_if(plans.begin(), plans.end(),
                                    [&](const GatewayPlan& each) { return placeName(each) == holder->second; });
    const std::string name =
        other == plans.end() ? "another Gateway" : nameFor(plan.gateway->meta.nameSpace, other->gateway->meta);
    withdraw(plan, asked, address, name + " has it of the address pool");
  }
}

void withdrawAny(GatewayPlan& plan) {
  for (const config::GatewayAddress& asked : plan.gateway->addresses) {
    const std::string address = config::canonicalIp(asked.value);
    if (address.empty() || !isAnyAddress(address)) continue;
    withdraw(plan, asked, address, "with an address pool each Gateway has addresses of its own, and none has them all");
  }
}

Fault exhausted(const AddressPool& pool) {
  const std::string all = pool.size() == 1 ? "the one address" : "all " + std::to_string(pool.size()) + " addresses";
  return fault(config::reason::kAddressNotAssigned, "spec.addresses",
               "no address is free: Gateways have " + all + " of the address pool " + pool.text());
}

}  // namespace

void givePoolAddresses(const config::Model& model, const KnownPlaces& places, std::vector<GatewayPlan>& plans) {
  const auto isServed = [&](const GatewayPlan& plan) {
    return plan.gateway->gatewayClassName == model.gatewayClassName;
  };
  std::vector<PoolMember> members;
  for (GatewayPlan& plan : plans) {
    withdrawAny(plan);
    if (!isServed(plan)) continue;
    members.push_back({placeName(plan), plan.gateway->meta.creationTimestamp, plan.addresses, plan.wantsAddress});
  }
  const PoolAssignment assignment = assignFromPool(*places.pool, std::move(members), places.addresses);
  for (GatewayPlan& plan : plans) {
    withdrawTaken(plan, assignment, plans);
    if (!plan.wantsAddress || !isServed(plan)) continue;
    const auto given = assignment.addresses.find(placeName(plan));
    if (given != assignment.addresses.end()) {
      plan.addresses.push_back(given->second);
    } else if (!plan.unusable) {
      plan.unusable = exhausted(*places.pool);
    }
  }
}

GatewayAddresses addressesOf(const std::vector<GatewayPlan>& plans) {
  GatewayAddresses all;
  for (const GatewayPlan& plan : plans) {
    for (const std::string& address : plan.addresses) {
      if (!address.empty()) all.emplace(placeName(plan), address);
    }
  }
  return all;
}

}  // namespace sluice::compile
