#include "proxy/kubernetes/provision/provisioned_object.h"

#include "proxy/kubernetes/client/api_path.h"

namespace sluice::kubernetes {

std::string ProvisionedKind::apiVersion() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string ProvisionedKind::path(std::string_view nameSpace) const {
  std::string path = apiPath(group, version);
  if (!nameSpace.empty()) path.append("/namespaces/").append(nameSpace);
  return path.append("/").append(plural);
}

bool isAccess(const ProvisionedKind& kind) { return kind.group == provisioned::kRole.group; }

bool isNeededByPods(const ProvisionedKind& kind) { return isAccess(kind) || &kind == &provisioned::kSecret; }

bool ProvisionedObject::isElsewhere() const {
  const std::size_t from = gateway.find(' ') + 1;
  return !nameSpace.empty() && gateway.substr(from, gateway.find('/') - from) != nameSpace;
}

std::span<const ProvisionedKind* const> provisionedKinds() {
  static constexpr const ProvisionedKind* kKinds[] = {
      &provisioned::kServiceAccount,     &provisioned::kRole,          &provisioned::kRoleBinding,
      &provisioned::kClusterRoleBinding, &provisioned::kNetworkPolicy, &provisioned::kService,
      &provisioned::kDisruptionBudget,   &provisioned::kSecret,        &provisioned::kDeployment,
      &provisioned::kAutoscaler};
  return kKinds;
}

}  // namespace sluice::kubernetes
