#include "proxy/control/kubernetes/provision/restored_secrets.h"

#include <algorithm>

#include "config/model/object_kinds.h"

namespace sluice::control {
namespace {

bool letsIn(const config::ReferenceGrant& grant, const std::set<std::string>& reached, const std::string& secret) {
  const bool isForThem =
      std::any_of(grant.from.begin(), grant.from.end(),
                  [&](const config::ReferenceGrant::From& from) { return reached.contains(from.nameSpace); });
  return isForThem && std::any_of(grant.to.begin(), grant.to.end(), [&](const config::ReferenceGrant::To& to) {
           if (config::isKindOf<config::SecretObject>(to.group, to.kind)) return to.name.empty() || to.name == secret;
           return config::isKindOf<config::Backend>(to.group, to.kind) ||
                  config::isKindOf<config::Service>(to.group, to.kind);
         });
}

}  // namespace

NamedObjects::Names restoredSecrets(const NamedObjects::Names& earlier, const std::set<std::string>& reached,
                                    const config::Model& model) {
  NamedObjects::Names restored;
  for (const auto& [nameSpace, name] : earlier) {
    const auto& grants = model.all<config::ReferenceGrant>();
    const bool isLetIn = reached.contains(nameSpace) ||
                         std::any_of(grants.begin(), grants.end(), [&](const config::ReferenceGrant& grant) {
                           return grant.meta.nameSpace == nameSpace && letsIn(grant, reached, name);
                         });
    if (isLetIn) restored.emplace(nameSpace, name);
  }
  return restored;
}

}  // namespace sluice::control
