#include "proxy/control/health/check_plan.h"

#include <string>

#include "proxy/compile/ground/backend_plan.h"

namespace sluice::control {
namespace {

void setTls(const routing::HealthCheckSettings& settings, routing::BackendPlan& plan) {
  if (settings.plain) plan.tls.reset();
  if (!plan.tls) return;
  if (!settings.serverName.empty()) plan.tls->serverName = settings.serverName;
  if (settings.insecureSkipVerify) plan.tls->insecureSkipVerify = true;
}

void setPort(std::uint16_t port, routing::BackendPlan& plan) {
  plan.port = port;
  if (!plan.endpoints) return;
  for (routing::Endpoint& each : *plan.endpoints) each.port = port;
}

}  // namespace

std::shared_ptr<const routing::BackendPlan> planOfChecks(const routing::BackendPlan& backend,
                                                         const std::optional<routing::Endpoint>& endpoint,
                                                         const routing::HealthCheckSettings& settings,
                                                         std::uint64_t generation) {
  auto plan = std::make_shared<routing::BackendPlan>(backend);
  if (endpoint) plan->endpoints = {*endpoint};
  plan->zones.clear();
  // With either of these, each check would go to another address of the name.
  plan->connection.balancing = {};
  plan->connection.perEndpoint = {};
  setTls(settings, *plan);
  if (settings.port != 0) setPort(settings.port, *plan);
  plan->authority = compile::authorityOf(*plan);
  plan->identity = compile::identityOf(*plan) + "|check " + std::to_string(generation) +
                   (endpoint ? " of " + compile::hostAndPort(endpoint->ip, endpoint->port) : "");
  // Only the check itself reports its result. Another port, or one endpoint alone, is no evidence about the Backend's
  // reachability.
  plan->reach = nullptr;
  plan->countsAs = {};
  plan->boundsOf = {};
  plan->http11 = nullptr;
  plan->chain = nullptr;
  return plan;
}

}  // namespace sluice::control
