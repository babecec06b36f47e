#include "proxy/kubernetes/objects/crd_names.h"

#include <utility>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

config::CrdRelease releaseOf(const content::Value& crd) {
  const content::Value* annotations = valueIn(valueIn(&crd, "metadata"), "annotations");
  return {std::string(textIn(annotations, "gateway.networking.k8s.io/bundle-version")),
          std::string(textIn(annotations, "gateway.networking.k8s.io/channel"))};
}

}  // namespace

CrdNames::CrdNames(ApiClient& client, CrdNamesUser& user)
    : user_(user),
      follow_(client, *this,
              {.path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", .metadataOnly = true}) {}

void CrdNames::onListed(ListWatch&) {
  followed_ = answered_ = true;
  if (listed_) names_ = *std::exchange(listed_, std::nullopt);
  std::erase_if(gatewayApi_.releases, [this](const auto& each) { return !names_.contains(each.first); });
  user_.onCrds();
}

void CrdNames::onObject(ListWatch&, content::Value&& object) {
  const std::string_view name = metadataText(object, "name");
  names_.emplace(name);
  if (config::hasGatewayApiRelease(name)) {
    gatewayApi_.releases.insert_or_assign(std::string(name), releaseOf(object));
  }
  if (listed_) listed_->emplace(name);
  user_.onCrds();
}

void CrdNames::onDeleted(ListWatch&, const content::Value& object) {
  const std::string name(metadataText(object, "name"));
  names_.erase(name);
  gatewayApi_.releases.erase(name);
  if (listed_) listed_->erase(name);
  user_.onCrds();
}

void CrdNames::onTrouble(ListWatch&, ListTrouble trouble, const std::string&) {
  if (trouble != ListTrouble::kUnavailable) {
    followed_ = false;
    answered_ = true;
  }
  user_.onCrds();
}

}  // namespace sluice::kubernetes
