// Follows the objects of one collection that are wanted, by their names and their owners. Anybody may write the label
// by which the controller selects its objects, so it keeps none of the others. Of those it only marks the hash of the
// name, in a table of fixed size, because an object that is wanted later may be one of them.
//
// Lives on the main thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "proxy/content/value.h"
#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/objects/api_object.h"
#include "proxy/kubernetes/provision/provisioned_object.h"

namespace sluice::kubernetes {

/// Names of objects, each with the uid of its owner; empty: anybody may own it.
using OwnedNames = std::map<ApiObjectKey, std::string>;
/// The objects of one kind for Gateways, by the Gateways as events name them ("Gateway demo/egress").
using GatewayObjects = std::map<std::string, OwnedNames::value_type>;

/// Called on the main thread, inside a Turn. Each function only records.
class WantedObjectsUser {
 public:
  /// A wanted object is there, or has changed.
  virtual void onFound(const ApiObjectKey& name, const content::Value& object) = 0;
  /// A found object is gone, has another owner now, or is not wanted any more.
  virtual void onLost(const ApiObjectKey& name) = 0;
  /// access() has changed.
  virtual void onAccess() = 0;

 protected:
  ~WantedObjectsUser() = default;
};

class WantedObjects final : private ListWatchUser {
 public:
  enum class Access : std::uint8_t {
    kAwaited,  // the first list has not come yet
    kNone,     // the server does not permit it, or does not have the resource
    kRead
  };

  /// References outlive it. `trouble` is the message that is logged once when the objects may not be read.
  WantedObjects(ApiClient& client, WantedObjectsUser& user, ApiCollection collection, std::string trouble);

  /// Sets the objects that are wanted; inside a Turn. They are followed from the first call on.
  void want(OwnedNames wanted);
  Access access() const { return access_; }

 private:
  static constexpr std::size_t kMarks = 1 << 16;

  void onListing(ListWatch&) override;
  void onListed(ListWatch&) override;
  void onObject(ListWatch&, content::Value&& object) override;
  void onDeleted(ListWatch&, const content::Value& object) override { lose(keyOf(object)); }
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch&) override { told_.clear(); }
  void lose(const ApiObjectKey& name);
  void setAccess(Access access);

  ApiClient& client_;
  WantedObjectsUser& user_;
  const std::string trouble_;
  ListWatch follow_;
  OwnedNames wanted_;
  std::set<ApiObjectKey> found_;                  // those of wanted_ that are there
  std::optional<std::set<ApiObjectKey>> listed_;  // those that the list has shown so far
  /// The hashes of names of objects that were ignored since the last list began.
  std::bitset<kMarks> ignored_;
  Access access_ = Access::kAwaited;
  std::string told_;  // why they may not be read
  bool started_ = false;
};

/// Returns the objects without their Gateways.
OwnedNames ownedNames(const GatewayObjects& objects);
/// Returns the collection of all objects of a kind that have the controller's label.
ApiCollection labelledObjects(const ProvisionedKind& kind);

}  // namespace sluice::kubernetes
