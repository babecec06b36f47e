#include "proxy/kubernetes/provision/restored_secrets.h"

#include <algorithm>

#include "config/model/client_traffic_policy.h"
#include "config/model/egress_policy.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/ground/secret_trust.h"

namespace sluice::kubernetes {
namespace {

template <typename... Kinds>
bool isOneOf(const std::string& group, const std::string& kind) {
  return (config::isKindOf<Kinds>(group, kind) || ...);
}

/// Returns true if the grant permits references from Gateways, routes, Backends, processors or policies in one
/// of these namespaces.
bool isForAny(const config::ReferenceGrant& grant, const std::set<std::string>& nameSpaces) {
  return std::any_of(grant.from.begin(), grant.from.end(), [&](const config::ReferenceGrant::From& from) {
    return nameSpaces.contains(from.nameSpace) &&
           isOneOf<config::Gateway, config::HttpRoute, config::GrpcRoute, config::Backend, config::PayloadProcessor,
                   config::PayloadProcessingPipeline, config::ExtensionPolicy, config::EgressPolicy,
                   config::ClientTrafficPolicy>(from.group, from.kind);
  });
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

const config::Gateway* gatewayNamed(const config::Model& model, const NamedGateway& gateway) {
  const auto& all = model.all<config::Gateway>();
  const auto found = std::find_if(all.begin(), all.end(), [&](const config::Gateway& each) {
    return NamedGateway(each.meta.kind, each.meta.nameSpace, each.meta.name) == gateway;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

NamedObjects::Names restoredSecrets(const NamedObjects::Names& earlier, const NamedGateway& gateway,
                                    std::set<std::string> reached, const config::Model& model) {
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
  const config::Gateway* found = gatewayNamed(model, gateway);
  return found == nullptr ? NamedObjects::Names() : compile::SecretTrust(model, *found).permitted(restored);
}

}  // namespace sluice::kubernetes
