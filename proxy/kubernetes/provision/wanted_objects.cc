#include "proxy/kubernetes/provision/wanted_objects.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

/// Returns true if one of the owners of an object has that uid, or if it is empty.
bool isOwnedBy(const content::Value& object, std::string_view uid) {
  if (uid.empty()) return true;
  const content::Value* owners = valueIn(valueIn(&object, "metadata"), "ownerReferences");
  return owners != nullptr && std::any_of(owners->items.begin(), owners->items.end(),
                                          [&](const content::Value& each) { return textIn(&each, "uid") == uid; });
}

std::size_t hashOf(const ApiObjectKey& name) { return std::hash<std::string>()(name.first + "/" + name.second); }

}  // namespace

WantedObjects::WantedObjects(ApiClient& client, WantedObjectsUser& user, ApiCollection collection, std::string trouble)
    : client_(client), user_(user), trouble_(std::move(trouble)), follow_(client, *this, std::move(collection)) {}

void WantedObjects::want(OwnedNames wanted) {
  const OwnedNames before = std::exchange(wanted_, std::move(wanted));
  const auto isIn = [](const OwnedNames& names, const OwnedNames::value_type& object) {
    const auto at = names.find(object.first);
    return at != names.end() && at->second == object.second;
  };
  for (const auto& each : before) {
    if (isIn(wanted_, each)) continue;
    if (found_.contains(each.first)) ignored_.set(hashOf(each.first) % kMarks);
    lose(each.first);
  }
  bool lists = !std::exchange(started_, true);
  for (const auto& each : wanted_) {
    lists = lists || (!isIn(before, each) && ignored_.test(hashOf(each.first) % kMarks));
  }
  if (lists) follow_.list();
}

void WantedObjects::onListing(ListWatch&) {
  listed_.emplace();
  ignored_.reset();
}

void WantedObjects::onObject(ListWatch&, content::Value&& object) {
  const ApiObjectKey name = keyOf(object);
  const auto wanted = wanted_.find(name);
  if (wanted == wanted_.end() || !isOwnedBy(object, wanted->second)) {
    ignored_.set(hashOf(name) % kMarks);
    return lose(name);
  }
  if (listed_) listed_->insert(name);
  found_.insert(name);
  user_.onFound(name, object);
}

void WantedObjects::onListed(ListWatch&) {
  const std::optional<std::set<ApiObjectKey>> listed = std::exchange(listed_, std::nullopt);
  if (!listed) return;
  std::vector<ApiObjectKey> gone;
  std::set_difference(found_.begin(), found_.end(), listed->begin(), listed->end(), std::back_inserter(gone));
  for (const ApiObjectKey& each : gone) lose(each);
  setAccess(Access::kRead);
}

void WantedObjects::onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) {
  if (trouble == ListTrouble::kUnavailable) return;  // the objects of the configuration tell an outage
  setAccess(Access::kNone);
  if (std::exchange(told_, message) != message) client_.log().warn(trouble_, {{"reason", message}});
}

void WantedObjects::lose(const ApiObjectKey& name) {
  if (found_.erase(name) > 0) user_.onLost(name);
}

void WantedObjects::setAccess(Access access) {
  if (std::exchange(access_, access) != access) user_.onAccess();
}

OwnedNames ownedNames(const GatewayObjects& objects) {
  OwnedNames names;
  for (const auto& [gateway, object] : objects) names.insert(object);
  return names;
}

ApiCollection labelledObjects(const ProvisionedKind& kind) {
  return {.path = kind.path(),
          .selector = "labelSelector=" + std::string(kManagedByLabel) + "%3D" + std::string(kManagedBy)};
}

}  // namespace sluice::kubernetes
