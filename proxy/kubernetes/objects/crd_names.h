// Follows the names of the cluster's CustomResourceDefinitions, so that a kind whose CRD is installed later is read
// from then on, and the releases of Gateway API to which they belong. Only their metadata is asked for.
//
// Lives on the main thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/model/gateway_api_crds.h"
#include "proxy/kubernetes/client/list_watch.h"

namespace sluice::kubernetes {

class CrdNamesUser {
 public:
  /// Called inside a Turn when a CRD has come, changed or gone; it only records.
  virtual void onCrds() = 0;

 protected:
  ~CrdNamesUser() = default;
};

class CrdNames final : private ListWatchUser {
 public:
  /// Both outlive it.
  CrdNames(ApiClient& client, CrdNamesUser& user);
  void start() { follow_.list(); }
  /// Returns true as long as the server lets them be followed.
  bool followed() const { return followed_; }
  /// Returns true once it is known which CRDs there are, or that this cannot be known.
  bool answered() const { return answered_; }
  /// Returns true if the server had that CRD ("httproutes.gateway.networking.k8s.io") when it answered last.
  bool has(std::string_view name) const { return names_.contains(name); }
  /// Returns those of Gateway API, with their releases.
  const config::GatewayApiCrds& gatewayApi() const { return gatewayApi_; }

 private:
  void onListing(ListWatch&) override { listed_.emplace(); }
  void onListed(ListWatch&) override;
  void onObject(ListWatch&, content::Value&& object) override;
  void onDeleted(ListWatch&, const content::Value& object) override;
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string&) override;
  void onRecovered(ListWatch&) override {}

  CrdNamesUser& user_;
  ListWatch follow_;
  std::set<std::string, std::less<>> names_;
  std::optional<std::set<std::string, std::less<>>> listed_;  // in the listing that is under way
  config::GatewayApiCrds gatewayApi_{.releases = {}, .areFiles = false};
  bool followed_ = true;
  bool answered_ = false;
};

}  // namespace sluice::kubernetes
