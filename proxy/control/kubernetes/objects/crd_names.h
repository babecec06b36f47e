// Follows the names of the cluster's CustomResourceDefinitions, so that a kind whose CRD is installed later is read
// from then on. Only their metadata is asked for.
//
// Lives on the main thread.
#pragma once

#include <functional>

#include "proxy/control/kubernetes/client/list_watch.h"

namespace sluice::control {

class CrdNames final : private ListWatchUser {
 public:
  /// `changed` is called inside a Turn when a CRD has come or changed; it only records.
  CrdNames(ApiClient& client, std::function<void()> changed);
  void start() { follow_.list(); }
  /// Returns true as long as the server lets them be followed.
  bool followed() const { return followed_; }

 private:
  void onListing(ListWatch&) override {}
  void onListed(ListWatch&) override { followed_ = true; }
  void onObject(ListWatch&, content::Value&&) override { changed_(); }
  void onDeleted(ListWatch&, const content::Value&) override {}
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string&) override;
  void onRecovered(ListWatch&) override {}

  const std::function<void()> changed_;
  ListWatch follow_;
  bool followed_ = true;
};

}  // namespace sluice::control
