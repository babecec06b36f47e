#include "proxy/kubernetes/provision/shared_role.h"

#include <utility>

namespace sluice::kubernetes {

SharedRole::SharedRole(ApiClient& client, SharedRoleUser& user)
    : user_(user),
      follow_(client, *this,
              {.path = provisioned::kClusterRole.path(),
               .selector = "fieldSelector=metadata.name%3D" + std::string(kGatewayClusterRole),
               .metadataOnly = true},
              "the ClusterRole of Gateways cannot be read, so their rights stay when it is deleted") {}

void SharedRole::start() { follow_.want({{{"", std::string(kGatewayClusterRole)}, ""}}); }

void SharedRole::onFound(const ApiObjectKey&, const content::Value& role) {
  settle(std::string(metadataText(role, "uid")));
}

void SharedRole::settle(const std::string& uid) {
  const bool known = follow_.access() == WantedObjects::Access::kRead;
  if (std::exchange(uid_, uid) != uid && known) user_.onSharedRole();
}

}  // namespace sluice::kubernetes
