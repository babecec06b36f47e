#include "proxy/control/kubernetes/provision/upgrade_losses.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/catalog/catalog_cache.h"
#include "config/load.h"
#include "proxy/control/compile/compile.h"
#include "proxy/control/compile/gateways/pod_choices.h"
#include "proxy/control/processor_support.h"

namespace sluice::control {
namespace {

using NamedGatewayOfSet = SecretsOfGateways::key_type;

std::string titleOf(const NamedGatewayOfSet& gateway) {
  const auto& [kind, nameSpace, name] = gateway;
  return kind + " " + nameSpace + "/" + name;
}

std::string groupOf(const config::Model& model, const NamedGatewayOfSet& gateway) {
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    if (NamedGatewayOfSet(each.meta.kind, each.meta.nameSpace, each.meta.name) == gateway)
      return std::string(each.meta.group);
  }
  return {};
}

/// Returns the grant in the namespace of a Secret, from Gateways of that kind and namespace.
std::string grantFor(const config::Model& model, const NamedGatewayOfSet& gateway,
                     const base::ObjectNames::value_type& secret) {
  const auto& [kind, nameSpace, name] = gateway;
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: " + secret.first +
         ", name: " + secret.second + "-to-" + nameSpace + "}\nspec:\n  from: [{group: " + groupOf(model, gateway) +
         ", kind: " + kind + ", namespace: " + nameSpace +
         "}]\n  to: [{group: \"\", kind: Secret, name: " + secret.second + "}]\n";
}

SecretsOfGateways secretsIn(const config::Model& model, const processing::BuiltinTypes& processors) {
  config::Problems ignored;  // validating reports them
  CompileCache cache;
  const auto catalog = config::CatalogCache().read(model, supportOf(processors), ignored);
  return compile(model, *catalog, processors, cache).secrets;
}

}  // namespace

UpgradeLosses upgradeLosses(const config::ObjectSet& set, const std::string& controllerNamespace,
                            const processing::BuiltinTypes& processors) {
  config::ObjectSet kept = set;
  kept.keeping.controllerNamespace = controllerNamespace;
  config::Model model = config::load(kept, nullptr).model;
  const SecretsOfGateways now = secretsIn(model, processors);
  UpgradeLosses losses;
  std::vector<std::string> all;
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    all.push_back(each.meta.nameSpace);
    if (each.gatewayClassName != model.gatewayClassName) continue;
    if (const auto why = forbiddenChoice(model, each)) losses.gateways.push_back({each.meta.title(), why->message});
  }
  // Before, the Pods of all namespaces read what their routes led to.
  model.settings.provisioning.trustedNamespaces = std::move(all);
  for (const auto& [gateway, before] : secretsIn(model, processors)) {
    base::ObjectNames lost;
    const base::ObjectNames& left = now.at(gateway);
    std::set_difference(before.begin(), before.end(), left.begin(), left.end(), std::inserter(lost, lost.end()));
    for (const auto& secret : lost) {
      losses.secrets.push_back({titleOf(gateway), secret.first, secret.second, grantFor(model, gateway, secret)});
    }
  }
  return losses;
}

}  // namespace sluice::control
