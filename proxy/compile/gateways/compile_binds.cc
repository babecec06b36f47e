#include "proxy/compile/gateways/compile_binds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "proxy/routing/table/route_table_builder.h"

namespace sluice::compile {
namespace {

using Group = std::vector<const ListenerPlan*>;

bool hasNoPort(const ListenerPlan& plan) {
  return plan.unaccepted && plan.unaccepted->reason == config::reason::kPortUnavailable;
}

/// Returns the listeners of a Gateway by port. Listeners that did not get their port are left out, and so are ports
/// without any listener that is up.
std::map<std::uint16_t, Group> groupByPort(const GatewayPlan& gateway) {
  std::map<std::uint16_t, Group> groups;
  for (const ListenerPlan& plan : gateway.listeners) {
    if (speaksHttp(*plan.listener) && !hasNoPort(plan)) groups[plan.port].push_back(&plan);
  }
  std::erase_if(groups, [](const auto& group) {
    return std::all_of(group.second.begin(), group.second.end(),
                       [](const ListenerPlan* plan) { return plan->state == ListenerState::kDown; });
  });
  return groups;
}

/// Returns the candidate of a listener that is not served: its hostname stays reserved and answers 500.
std::shared_ptr<const routing::RouteCandidates> refusal(const GatewayPlan& gateway, const ListenerPlan& plan) {
  auto rule = std::make_shared<routing::Rule>();
  const std::optional<Fault>& why = gateway.refusal   ? gateway.refusal
                                    : plan.conflict   ? plan.conflict
                                    : plan.unaccepted ? plan.unaccepted
                                    : plan.unresolved ? plan.unresolved
                                                      : plan.closed;
  rule->failure = answer(why ? *why : fault(config::reason::kInvalid, {}));
  const routing::Candidate all{std::make_shared<const routing::Match>(routing::Match::ofAll()), std::move(rule)};
  return std::make_shared<const routing::RouteCandidates>(1, all);
}

/// Returns the rule of a forward proxy for destinations outside the hostnames of its listeners.
std::shared_ptr<const routing::Rule> ofNoDestination() {
  auto rule = std::make_shared<routing::Rule>();
  rule->isRest = true;
  rule->failure = base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream,
                              "no listener of this forward proxy leads to this host");
  return rule;
}

/// Returns how clients are verified that name no host of a listener: as for the first certificate, which they are
/// shown.
std::shared_ptr<const routing::ClientValidation> clientsOfOthers(const Group& group) {
  const auto first =
      std::find_if(group.begin(), group.end(), [](const ListenerPlan* plan) { return !plan->identities.empty(); });
  return first == group.end() ? nullptr : (*first)->clients;
}

/// Returns the entry for the hosts of a port that no listener has.
std::shared_ptr<const routing::ServedListener> ofNoListener(const GatewayPlan& gateway, const Group& group,
                                                            bool forwardProxy) {
  auto name = std::make_shared<routing::ServedListener>();
  name->gateway = gateway.gateway->meta.qualifiedName();
  name->object = gateway.gateway->meta.title();
  name->port = group.front()->port;
  name->forwardProxy = forwardProxy;
  name->clients = clientsOfOthers(group);
  name->identityHeader = gateway.identity.forwardHeader;
  name->rest = forwardProxy && gateway.rest == nullptr ? ofNoDestination() : gateway.rest;
  return name;
}

bool isProxy(const Group& group) { return config::isForwardProxy(group.front()->listener->protocol); }

routing::RouteTable compileTable(const GatewayPlan& gateway, const Group& group, routing::RouteTableBuilder& builder) {
  const bool allHosts = std::any_of(group.begin(), group.end(),
                                    [](const ListenerPlan* plan) { return plan->listener->hostname.empty(); });
  if ((gateway.rest || isProxy(group)) && !allHosts) {
    builder.addListener("", ofNoListener(gateway, group, isProxy(group)));
  }
  for (const ListenerPlan* plan : group) {
    const std::string& hostname = plan->listener->hostname;
    auto name = std::make_shared<routing::ServedListener>();
    name->gateway = gateway.gateway->meta.qualifiedName();
    name->object = gateway.gateway->meta.title();
    name->section = plan->listener->name;
    name->port = plan->port;
    name->forwardProxy = config::isForwardProxy(plan->listener->protocol);
    name->preRouting = plan->preRouting;
    name->chain = plan->chain;
    name->egress = plan->egress;
    name->authentication = plan->authentication;
    name->clients = plan->clients;
    name->identityHeader = gateway.identity.forwardHeader;
    name->matching = plan->matching;
    // Clients of a forward proxy name the port of the destination.
    if (name->forwardProxy) name->matching.stripAuthorityPort = false;
    name->rest = plan->rest;
    builder.addListener(hostname, std::move(name));
    if (plan->state != ListenerState::kServing) {
      builder.add(hostname, "", refusal(gateway, *plan));
      continue;
    }
    for (const AttachedRoute& route : plan->routes) {
      for (const std::string& each : route.hostnames) builder.add(hostname, each, route.candidates);
    }
  }
  return builder.build();
}

/// Returns the certificates of all listeners of the group without duplicates, beginning with those of the first
/// listener.
std::vector<routing::ListenerIdentity> identities(const Group& group) {
  std::vector<routing::ListenerIdentity> result;
  std::set<std::string> seen;
  for (const ListenerPlan* plan : group) {
    for (const routing::ListenerIdentity& identity : plan->identities) {
      if (!seen.insert(identity.certificate->fingerprint()).second) continue;
      result.push_back(identity);
      result.back().clients = plan->clients;
    }
  }
  return result;
}

}  // namespace

std::vector<routing::Bind> compileBinds(const std::vector<GatewayPlan>& gateways, const base::PathSettings& paths,
                                        routing::HostRulesStore& rules) {
  std::vector<routing::Bind> binds;
  routing::RouteTableBuilder builder(paths, rules);
  for (const GatewayPlan& gateway : gateways) {
    for (const auto& [port, group] : groupByPort(gateway)) {
      const routing::HttpService service{compileTable(gateway, group, builder), isProxy(group)};
      for (const std::string& address : gateway.addresses) {
        if (findUnusable(gateway.unusablePlaces, address, port) != nullptr) continue;
        routing::Bind bind;
        bind.address = address;
        bind.port = port;
        bind.gateway = gateway.gateway->meta.title();
        bind.tls = config::terminatesTls(group.front()->listener->protocol);
        bind.identities = identities(group);
        bind.service = service;
        binds.push_back(std::move(bind));
      }
    }
  }
  std::sort(binds.begin(), binds.end(), [](const routing::Bind& a, const routing::Bind& b) {
    return std::tie(a.address, a.port) < std::tie(b.address, b.port);
  });
  return binds;
}

}  // namespace sluice::compile
