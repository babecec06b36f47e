#include "proxy/control/health/check_plan.h"

#include <string>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/pki/digest.h"

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

/// Returns the endpoint that is checked, if there is one.
std::string endpointText(const routing::BackendPlan& plan) {
  if (!plan.endpoints) return "";
  const routing::Endpoint& only = plan.endpoints->front();
  return "|of " + compile::hostAndPort(only.ip, only.port);
}

}  // namespace

std::shared_ptr<const routing::BackendPlan> planOfChecks(const routing::BackendPlan& backend,
                                                         const std::optional<routing::Endpoint>& endpoint,
                                                         const routing::HealthCheckSettings& settings) {
  auto plan = std::make_shared<routing::BackendPlan>(backend);
  if (endpoint) plan->endpoints = {*endpoint};
  plan->zones.clear();
  // With either of these, each check would go to another address of the name.
  plan->connection.balancing = {};
  plan->connection.perEndpoint = {};
  setTls(settings, *plan);
  if (settings.port != 0) setPort(settings.port, *plan);
  plan->authority = compile::authorityOf(*plan);
  // A third party must not be asked more often because more objects lead to it.
  plan->object.clear();
  plan->identity = compile::identityOf(*plan) + endpointText(*plan) + "|check " +
                   pki::toHex(pki::sha256(routing::questionOf(settings)));
  // Only the check itself reports its result. Another port, or one endpoint alone, is no evidence about the Backend's
  // reachability.
  plan->reach = nullptr;
  plan->countsAs = {};
  plan->boundsOf = {};
  plan->http11 = nullptr;
  plan->chain = nullptr;
  return plan;
}

std::shared_ptr<const routing::BackendPlan> planApart(const routing::BackendPlan& plan, std::uint64_t number) {
  auto apart = std::make_shared<routing::BackendPlan>(plan);
  apart->identity = plan.identity.text() + "|" + std::to_string(number);
  return apart;
}

}  // namespace sluice::control
