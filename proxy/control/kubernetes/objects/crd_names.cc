#include "proxy/control/kubernetes/objects/crd_names.h"

#include <utility>

namespace sluice::control {

CrdNames::CrdNames(ApiClient& client, std::function<void()> changed)
    : changed_(std::move(changed)),
      follow_(client, *this,
              {.path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", .metadataOnly = true}) {}

void CrdNames::onTrouble(ListWatch&, ListTrouble trouble, const std::string&) {
  if (trouble != ListTrouble::kUnavailable) followed_ = false;
  changed_();
}

}  // namespace sluice::control
