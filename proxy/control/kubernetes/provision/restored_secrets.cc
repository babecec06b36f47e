#include "proxy/control/kubernetes/provision/restored_secrets.h"

#include <algorithm>

#include "config/model/object_kinds.h"

namespace sluice::control {
namespace {

bool isForAny(const config::ReferenceGrant& grant, const std::set<std::string>& nameSpaces) {
  return std::any_of(grant.from.begin(), grant.from.end(),
                     [&](const config::ReferenceGrant::From& from) { return nameSpaces.contains(from.nameSpace); });
}

bool permitsDestinations(const config::ReferenceGrant& grant) {
  return std::any_of(grant.to.begin(), grant.to.end(), [](const config::ReferenceGrant::To& to) {
    return config::isKindOf<config::Backend>(to.group, to.kind) || config::isKindOf<config::Service>(to.group, to.kind);
  });
}

bool permitsSecret(const config::ReferenceGrant& grant, const std::string& secret) {
  return std::any_of(grant.to.begin(), grant.to.end(), [&](const config::ReferenceGrant::To& to) {
    const bool isNamed = to.name.empty() || to.name == secret;
    return isNamed && config::isKindOf<config::SecretObject>(to.group, to.kind);
  });
}

}  // namespace

NamedObjects::Names restoredSecrets(const NamedObjects::Names& earlier, std::set<std::string> reached,
                                    const config::Model& model) {
  const auto& grants = model.all<config::ReferenceGrant>();
  for (bool grows = true; grows;) {
    grows = false;
    for (const config::ReferenceGrant& each : grants) {
      if (permitsDestinations(each) && isForAny(each, reached))
        grows = reached.insert(each.meta.nameSpace).second || grows;
    }
  }
  NamedObjects::Names restored;
  for (const auto& [nameSpace, name] : earlier) {
    const auto letsIn = [&](const config::ReferenceGrant& grant) {
      return grant.meta.nameSpace == nameSpace && permitsSecret(grant, name) && isForAny(grant, reached);
    };
    if (reached.contains(nameSpace) || std::any_of(grants.begin(), grants.end(), letsIn))
      restored.emplace(nameSpace, name);
  }
  return restored;
}

}  // namespace sluice::control
