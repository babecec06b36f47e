#include "proxy/routing/dynamic_targets.h"

#include <algorithm>
#include <utility>

#include "proxy/base/ip_network.h"
#include "proxy/http/authority.h"
#include "proxy/routing/policy/egress/egress_policies.h"

namespace sluice::routing {
namespace {

std::uint16_t usualPortOf(const BackendPlan& plan) {
  return http::usualPort(plan.tls ? http::Scheme::kHttps : http::Scheme::kHttp);
}

base::Error refused(std::string why) {
  return {base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream, std::move(why)};
}

/// Returns false for a host that some programs read as an address, but that is none in its canonical form.
bool isNameOrAddress(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  const bool looksLikeAddress = host.find(':') != std::string_view::npos || last.starts_with("0x") ||
                                std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
  return !looksLikeAddress || base::IpNetwork::parse(host).has_value();
}

/// Returns the identity for that destination of one that has no host.
BackendIdentity identityAt(const BackendIdentity& identity, const std::string& destination) {
  return identity.empty() ? identity : BackendIdentity(identity.text() + "|for=" + destination);
}

std::shared_ptr<const BackendPlan> planAt(const std::shared_ptr<const BackendPlan>& ofPort, std::string_view host,
                                          std::uint16_t port) {
  auto plan = std::make_shared<BackendPlan>(*ofPort);
  const std::string written =
      host.find(':') != std::string_view::npos ? "[" + std::string(host) + "]" : std::string(host);
  const std::string destination = written + ":" + std::to_string(port);
  plan->hostname = host;
  plan->port = port;
  plan->authority = port == usualPortOf(*plan) ? written : destination;
  if (plan->tls) plan->tls->serverName = host;
  plan->requestedOf = ofPort;
  plan->stream = nullptr;
  // A destination that no Backend leads to may have any name.
  plan->connection.dns.seriesName = plan->name.empty() ? "*" : plan->name;
  plan->identity = identityAt(ofPort->identity, destination);
  plan->countsAs = identityAt(ofPort->countsAs, destination);
  plan->boundsOf = identityAt(ofPort->boundsOf, destination);
  if (ofPort->http11 != nullptr) plan->http11 = planAt(ofPort->http11, host, port);
  return plan;
}

}  // namespace

DynamicTargets::DynamicTargets(PolicyNeed policies, std::vector<std::string> names,
                               std::vector<std::shared_ptr<const BackendPlan>> plans)
    : need(policies), hostnames(std::move(names)), ports(std::move(plans)) {
  std::vector<RuleHostname> all;
  for (const std::string& each : hostnames) all.emplace_back(each, 0);
  table_ = NameTable<RuleSet<1>>({}, all);
}

/// Returns nullptr if there is none.
const std::shared_ptr<const BackendPlan>* DynamicTargets::portFor(const NamedDestination& named,
                                                                  std::uint16_t number) const {
  const bool secure = named.scheme == http::Scheme::kHttps;
  for (const auto& each : ports) {
    const bool takesAny = each->port == 0;  // then the scheme chooses
    if (takesAny && (ports.size() == 1 || each->tls.has_value() == secure)) return &each;
    if (!takesAny && (number == 0 || each->port == number)) return &each;
  }
  return nullptr;
}

base::Result<RequestedTarget> DynamicTargets::targetOf(const NamedDestination& named) const {
  RequestedTarget target{http::hostOf(named.authority), http::portOf(named.authority), nullptr};
  if (target.host.empty() || !isNameOrAddress(target.host)) {
    return refused("the request names no host to which the backend could send it");
  }
  if (!hostnames.empty() && !table_.find(target.host).any())
    return refused("the backend sends no requests to this host");
  if (target.port == 0 && named.forwardProxy) target.port = http::usualPort(named.scheme);
  const auto* const found = portFor(named, target.port);
  if (found == nullptr) return refused("the backend sends no requests to this port");
  if (named.forwardProxy && !named.isTunnel && named.scheme == http::Scheme::kHttps && !(*found)->tls) {
    return refused("the backend uses no TLS at this port");
  }
  target.ofPort = named.isTunnel ? (*found)->stream : *found;
  if (target.ofPort == nullptr) return refused("the backend takes no tunnels");
  if (target.port == 0) target.port = (*found)->port;
  if (target.port == 0) target.port = usualPortOf(**found);
  return target;
}

base::Result<RequestedTarget> requestedTarget(const BackendPlan& backend, const NamedDestination& named,
                                              const TargetPolicies& policies) {
  const DynamicTargets& targets = *backend.dynamic;
  const bool permitted = targets.need == PolicyNeed::kNone ||
                         (targets.need == PolicyNeed::kEnforced ? anyEnforced(policies.ofListener, policies.ofRule)
                                                                : denyByDefault(policies.ofListener, policies.ofRule));
  if (!permitted) return refused("no egress policy covers the destination that the request names");
  return targets.targetOf(named);
}

std::shared_ptr<const BackendPlan> requestedPlan(const RequestedTarget& target) {
  return planAt(target.ofPort, target.host, target.port);
}

}  // namespace sluice::routing
