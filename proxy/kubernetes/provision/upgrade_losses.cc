#include "proxy/kubernetes/provision/upgrade_losses.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/catalog/catalog_cache.h"
#include "config/load/load.h"
#include "proxy/compile/compile.h"
#include "proxy/compile/gateways/pod_choices.h"
#include "proxy/compile/processors/processor_support.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

using NamedGatewayOfSet = compile::SecretsOfGateways::key_type;

std::string titleOf(const NamedGatewayOfSet& gateway) {
  const auto& [kind, nameSpace, name] = gateway;
  return kind + " " + nameSpace + "/" + name;
}

/// Returns the group of a Gateway, even if no other part of it is legible.
std::string groupOf(const config::Model& model, const NamedGatewayOfSet& gateway) {
  std::string group;
  const auto look = [&](const config::Gateway& each) {
    if (NamedGatewayOfSet(each.meta.kind, each.meta.nameSpace, each.meta.name) == gateway) group = each.meta.group;
  };
  for (const config::Gateway& each : model.all<config::Gateway>()) look(each);
  for (const config::Rejected& each : model.rejected) {
    if (const auto* legible = each.legible<config::Gateway>()) look(*legible);
  }
  return group;
}

/// Returns the grant in the namespace of a Secret, from Gateways of that kind and namespace. Names are quoted, because
/// YAML takes some for numbers or other values.
std::string grantFor(const config::Model& model, const NamedGatewayOfSet& gateway,
                     const base::ObjectNames::value_type& secret) {
  constexpr std::size_t kMostBytesOfName = 253;
  const auto& [kind, nameSpace, name] = gateway;
  const auto quoted = [](const std::string& text) { return content::jsonString(text); };
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: " +
         quoted(secret.first) + ", name: " + quoted(boundedName(secret.second + "-to-" + nameSpace, kMostBytesOfName)) +
         "}\nspec:\n  from: [{group: " + groupOf(model, gateway) + ", kind: " + kind +
         ", namespace: " + quoted(nameSpace) + "}]\n  to: [{group: \"\", kind: Secret, name: " + quoted(secret.second) +
         "}]\n";
}

compile::SecretsOfGateways secretsIn(const config::Model& model, const processing::BuiltinTypes& processors) {
  config::Problems ignored;  // validating reports them
  compile::CompileCache cache;
  const auto catalog = config::CatalogCache().read(model, compile::supportOf(processors), ignored);
  return compile::compile(model, *catalog, processors, cache).secrets;
}

}  // namespace

UpgradeLosses upgradeLosses(const config::ObjectSet& set, const std::string& controllerNamespace,
                            const processing::BuiltinTypes& processors) {
  config::ObjectSet kept = set;
  kept.keeping.controllerNamespace = controllerNamespace;
  config::Model model = config::load(kept, nullptr).model;
  const compile::SecretsOfGateways now = secretsIn(model, processors);
  UpgradeLosses losses;
  std::vector<std::string> all;
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    all.push_back(each.meta.nameSpace);
    if (each.gatewayClassName != model.gatewayClassName) continue;
    if (const auto why = compile::forbiddenChoice(model, each))
      losses.gateways.push_back({each.meta.title(), why->message});
  }
  for (const config::Rejected& each : model.rejected) {
    if (each.legible<config::Gateway>() != nullptr) all.push_back(each.nameSpace);
  }
  // In earlier versions, the Pods of all namespaces could read the Secrets that their routes led to.
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

}  // namespace sluice::kubernetes
