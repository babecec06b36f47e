#include "proxy/kubernetes/revisions/refreshed_objects.h"

#include <cstddef>
#include <set>
#include <string>

#include "proxy/kubernetes/objects/api_object.h"
#include "proxy/kubernetes/objects/named_objects.h"

namespace sluice::kubernetes {
namespace {

/// Returns the names that both sets have, without those of objects that must not be read now.
NamedObjects followedBy(const config::ObjectSet& served, const config::ObjectSet& newest) {
  NamedObjects followed = namedObjects(served);
  const NamedObjects known = namedObjects(newest);
  std::erase_if(followed.secrets, [&](const auto& name) { return !known.secrets.contains(name); });
  std::erase_if(followed.services, [&](const auto& name) { return !known.services.contains(name); });
  for (std::size_t i = 0; i < newest.readings.size(); ++i) {
    if (!newest.texts[i]->file.empty()) continue;  // an object that must not be read has no text
    for (const config::ObjectReading& each : *newest.readings[i]) {
      if (each.identity.kind == config::SecretObject::kKind) {
        followed.secrets.erase({each.identity.nameSpace, each.identity.name});
      }
    }
  }
  return followed;
}

/// Returns true for an object of the API server whose followed version is used: a Secret, a Service, or an
/// EndpointSlice of a Service.
bool isFollowed(const config::ObjectSet& set, std::size_t index, const NamedObjects& followed) {
  const auto& readings = *set.readings[index];
  const std::string& file = set.texts[index]->file;
  // An object that could not be read has no text; it may be readable now.
  if (readings.size() != 1 || !(file.empty() || config::isOfApiServer(file))) return false;
  const config::ObjectReading& object = readings.front();
  if (object.kind == nullptr) return false;
  const ApiObjectKey name{object.identity.nameSpace, object.identity.name};
  if (object.kind->isOf<config::SecretObject>()) return followed.secrets.contains(name);
  if (object.kind->isOf<config::Service>()) return followed.services.contains(name);
  if (!object.kind->isOf<config::EndpointSlice>() || object.object == nullptr) return false;
  const auto* slice = static_cast<const config::EndpointSlice*>(object.object.get());
  return followed.services.contains({name.first, slice->service});
}

}  // namespace

config::ObjectSet refreshedObjects(const config::ObjectSet& served, const config::ObjectSet& newest) {
  const NamedObjects followed = followedBy(served, newest);
  config::ObjectSet refreshed = served;
  refreshed.readings.clear();
  refreshed.texts.clear();
  const auto add = [&](const config::ObjectSet& from, bool isOfNow) {
    for (std::size_t i = 0; i < from.readings.size(); ++i) {
      if (isFollowed(from, i, followed) != isOfNow) continue;
      refreshed.readings.push_back(from.readings[i]);
      refreshed.texts.push_back(from.texts[i]);
    }
  };
  add(served, false);
  add(newest, true);
  return refreshed;
}

}  // namespace sluice::kubernetes
