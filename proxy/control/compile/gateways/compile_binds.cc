#include "proxy/control/compile/gateways/compile_binds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sluice::control {
namespace {

using Group = std::vector<ListenerPlan*>;

bool hasNoPort(const ListenerPlan& plan) {
  return plan.unaccepted && plan.unaccepted->reason == config::reason::kPortUnavailable;
}

/// Returns the listeners of a Gateway by port. Listeners that cannot have their port, and ports whose listeners are all
/// down, are left out.
std::map<std::uint16_t, Group> groupByPort(GatewayPlan& gateway) {
  std::map<std::uint16_t, Group> groups;
  for (ListenerPlan& plan : gateway.listeners) {
    if (speaksHttp(*plan.listener) && !hasNoPort(plan)) groups[plan.listener->port].push_back(&plan);
  }
  std::erase_if(groups, [](const auto& group) {
    return std::all_of(group.second.begin(), group.second.end(),
                       [](const ListenerPlan* plan) { return plan->state == ListenerState::kDown; });
  });
  return groups;
}

/// Returns the entry of a listener that is not served: its hostname stays reserved and answers 500.
routing::RouteEntry refusal(const GatewayPlan& gateway, const ListenerPlan& plan) {
  auto rule = std::make_shared<routing::Rule>();
  const std::optional<Fault>& why = gateway.refusal   ? gateway.refusal
                                    : plan.conflict   ? plan.conflict
                                    : plan.unaccepted ? plan.unaccepted
                                                      : plan.unresolved;
  rule->failure = answer(why ? *why : Fault{std::string(config::reason::kInvalid), {}});
  routing::RouteEntry entry;
  entry.listenerHostname = plan.listener->hostname;
  entry.rule = std::move(rule);
  return entry;
}

/// With `last` the entries are moved into the table, because the group is not used again.
routing::RouteTable compileTable(const GatewayPlan& gateway, const Group& group, const base::PathSettings& paths,
                                 bool last) {
  routing::RouteTableBuilder builder(paths);
  for (ListenerPlan* plan : group) {
    auto name = std::make_shared<routing::ServedListener>();
    name->gateway = gateway.gateway->meta.qualifiedName();
    name->section = plan->listener->name;
    name->port = plan->listener->port;
    name->preRouting = plan->preRouting;
    name->chain = plan->chain;
    builder.addListener(plan->listener->hostname, std::move(name));
    if (plan->state != ListenerState::kServing) {
      static_cast<void>(builder.add(refusal(gateway, *plan)));
      continue;
    }
    // compileMatch() has compiled the expressions already, so none of these can fail.
    for (routing::RouteEntry& entry : plan->entries) {
      static_cast<void>(builder.add(last ? std::move(entry) : routing::RouteEntry(entry)));
    }
  }
  return std::move(builder).build();
}

/// Returns the certificates of all listeners of the group, the first listener's first, each once.
std::vector<routing::ListenerIdentity> identities(const Group& group) {
  std::vector<routing::ListenerIdentity> result;
  std::set<std::string> seen;
  for (const ListenerPlan* plan : group) {
    for (const routing::ListenerIdentity& identity : plan->identities) {
      if (seen.insert(identity.certificate->fingerprint()).second) result.push_back(identity);
    }
  }
  return result;
}

}  // namespace

std::vector<routing::Bind> compileBinds(std::vector<GatewayPlan> gateways, const base::PathSettings& paths) {
  std::vector<routing::Bind> binds;
  for (GatewayPlan& gateway : gateways) {
    for (const auto& [port, group] : groupByPort(gateway)) {
      for (const std::string& address : gateway.addresses) {
        if (findUnusable(gateway.unusablePlaces, address, port) != nullptr) continue;
        routing::Bind bind;
        bind.address = address;
        bind.port = port;
        bind.tls = group.front()->listener->protocol == config::ListenerProtocol::kHttps;
        bind.identities = identities(group);
        const bool last = &address == &gateway.addresses.back();
        bind.service = routing::HttpService{compileTable(gateway, group, paths, last)};
        binds.push_back(std::move(bind));
      }
    }
  }
  std::sort(binds.begin(), binds.end(), [](const routing::Bind& a, const routing::Bind& b) {
    return std::tie(a.address, a.port) < std::tie(b.address, b.port);
  });
  return binds;
}

}  // namespace sluice::control
