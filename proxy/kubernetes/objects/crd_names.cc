#include "proxy/kubernetes/objects/crd_names.h"

#include <utility>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

constexpr std::string_view kClassesCrd = "gatewayclasses.gateway.networking.k8s.io";
constexpr std::string_view kBundleVersion = "gateway.networking.k8s.io/bundle-version";

}  // namespace

CrdNames::CrdNames(ApiClient& client, CrdNamesUser& user)
    : user_(user),
      follow_(client, *this,
              {.path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", .metadataOnly = true}) {}

void CrdNames::onListed(ListWatch&) {
  followed_ = answered_ = true;
  if (listed_) names_ = *std::exchange(listed_, std::nullopt);
  user_.onCrds();
}

void CrdNames::onObject(ListWatch&, content::Value&& object) {
  const std::string_view name = metadataText(object, "name");
  names_.emplace(name);
  if (name == kClassesCrd) {
    gatewayApiVersion_ = textIn(valueIn(valueIn(&object, "metadata"), "annotations"), kBundleVersion);
  }
  if (listed_) listed_->emplace(name);
  user_.onCrds();
}

void CrdNames::onDeleted(ListWatch&, const content::Value& object) {
  const std::string name(metadataText(object, "name"));
  names_.erase(name);
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
