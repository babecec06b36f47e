#include "proxy/compile/gateways/gateway_secrets.h"

#include <utility>

#include "proxy/compile/ground/grants.h"
#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/ground/secret_trust.h"

namespace sluice::compile {
namespace {

/// Adds the certificates of the Gateway's listeners.
void addCertificates(const config::Model& model, const config::Gateway& gateway, base::ObjectNames& secrets) {
  const Holder holder = holderOf(gateway.meta);
  for (const config::Listener& listener : gateway.listeners) {
    if (!listener.tls) continue;
    for (const config::ObjectRef& ref : listener.tls->certificateRefs) {
      const bool isSecret = ref.group.empty() && ref.kind == config::SecretObject::kKind;
      if (isSecret && mayExist(ref) && isPermitted(model, ref, holder))
        secrets.emplace(targetNamespace(ref, holder.nameSpace), ref.name);
    }
  }
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
