#include "proxy/kubernetes/provision/shared_role.h"

#include <utility>

#include "proxy/kubernetes/provision/gateway_access.h"
#include "proxy/kubernetes/provision/provisioned_object.h"

namespace sluice::kubernetes {

SharedRole::SharedRole(ApiClient& client, SharedRoleUser& user)
    : client_(client),
      user_(user),
      follow_(client, *this,
              {.path = provisioned::kClusterRole.path(),
               .selector = "fieldSelector=metadata.name%3D" + std::string(kGatewayClusterRole),
               .metadataOnly = true}) {}

void SharedRole::onObject(ListWatch&, content::Value&& role) {
  listed_ = metadataText(role, "uid");
  if (answered_) settle(listed_);
}

void SharedRole::onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) {
  if (trouble == ListTrouble::kUnavailable) return;
  if (!answered_) {
    client_.log().warn("the ClusterRole of Gateways cannot be read, so their rights stay when it is deleted",
                       {{"role", std::string(kGatewayClusterRole)}, {"reason", message}});
  }
  settle({});
}

void SharedRole::settle(const std::string& uid) {
  const bool first = !std::exchange(answered_, true);
  if (std::exchange(uid_, uid) != uid || first) user_.onSharedRole();
}

}  // namespace sluice::kubernetes
