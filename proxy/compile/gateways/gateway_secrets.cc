#include "proxy/compile/gateways/gateway_secrets.h"

#include <utility>
#include <vector>

#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/ground/secret_trust.h"

namespace sluice::compile {
namespace {

/// Adds the certificates of the Gateway's listeners, and the authorities of their clients.
void addCertificates(const config::Model& model, const config::Gateway& gateway, base::ObjectNames& secrets) {
  const auto add = [&](const std::vector<config::ObjectRef>& refs) {
    secrets.merge(secretsNamedBy(refs, model, holderOf(gateway.meta)));
  };
  for (const config::Listener& listener : gateway.listeners) {
    if (listener.tls) add(listener.tls->certificateRefs);
  }
  if (!gateway.frontend) return;
  for (const config::FrontendValidation* each : gateway.frontend->validations()) add(each->caCertificateRefs);
}

SecretsOfGateways::key_type keyOfPlan(const GatewayPlan& plan) {
  const config::ObjectMeta& meta = plan.gateway->meta;
  return {std::string(meta.kind), meta.nameSpace, meta.name};
}

}  // namespace

SecretsOfGateways secretsOfPods(const config::Model& model, const std::vector<GatewayPlan>& gateways) {
  SecretsOfGateways result;
  if (model.controllerNamespace.empty()) return result;
  for (const GatewayPlan& plan : gateways) {
    base::ObjectNames secrets = SecretTrust(model, *plan.gateway).permitted(plan.secrets);
    addCertificates(model, *plan.gateway, secrets);
    result.emplace(keyOfPlan(plan), std::move(secrets));
  }
  return result;
}

RoutesOfGateways routesOfPods(const config::Model& model, const std::vector<GatewayPlan>& gateways) {
  RoutesOfGateways result;
  if (model.controllerNamespace.empty()) return result;
  for (const GatewayPlan& plan : gateways) result.emplace(keyOfPlan(plan), plan.routes);
  return result;
}

}  // namespace sluice::compile
