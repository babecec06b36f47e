#include "proxy/control/kubernetes/revisions/refreshed_objects.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/control/kubernetes/objects/api_object.h"

namespace sluice::control {
namespace {

/// Returns the Secret, Service or EndpointSlice that the API server has given there; nullptr if it is something else,
/// or may not be read and so has no text.
const config::ObjectReading* movingObject(const config::ObjectSet& set, std::size_t index) {
  const auto& readings = *set.readings[index];
  if (readings.size() != 1 || !config::isOfApiServer(set.texts[index]->file)) return nullptr;
  const config::ObjectKind* kind = readings.front().kind;
  const bool moves = kind != nullptr && (kind->isOf<config::SecretObject>() || kind->isOf<config::Service>() ||
                                         kind->isOf<config::EndpointSlice>());
  return moves ? &readings.front() : nullptr;
}

bool isEndpointSlice(const config::ObjectReading& object) { return object.kind->isOf<config::EndpointSlice>(); }

ApiObjectKey serviceOfSlice(const config::ObjectReading& slice) {
  const auto* read = static_cast<const config::EndpointSlice*>(slice.object.get());
  return {slice.identity.nameSpace, read == nullptr ? std::string() : read->service};
}

/// The moving objects of a set.
struct MovingObjects {
  explicit MovingObjects(const config::ObjectSet& set) {
    for (std::size_t i = 0; i < set.readings.size(); ++i) {
      const config::ObjectReading* object = movingObject(set, i);
      if (object == nullptr) continue;
      if (object->kind->isOf<config::Service>()) {
        services.emplace(object->identity.nameSpace, object->identity.name);
      }
      if (isEndpointSlice(*object)) {
        slices.emplace(serviceOfSlice(*object), i);
      } else {
        named.emplace(set.texts[i]->file, i);
      }
    }
  }
  std::set<ApiObjectKey> services;
  std::multimap<ApiObjectKey, std::size_t> slices;
  std::map<std::string_view, std::size_t> named;  // Secrets and Services, by what their texts are called
};

}  // namespace

config::ObjectSet refreshedObjects(const config::ObjectSet& served, const config::ObjectSet& newest) {
  const MovingObjects now(newest);
  config::ObjectSet refreshed = served;
  refreshed.readings.clear();
  refreshed.texts.clear();
  const auto add = [&refreshed](const config::ObjectSet& from, std::size_t index) {
    refreshed.readings.push_back(from.readings[index]);
    refreshed.texts.push_back(from.texts[index]);
  };
  for (std::size_t i = 0; i < served.readings.size(); ++i) {
    const config::ObjectReading* object = movingObject(served, i);
    if (object != nullptr && isEndpointSlice(*object) && now.services.contains(serviceOfSlice(*object))) continue;
    const auto newer = object == nullptr ? now.named.end() : now.named.find(served.texts[i]->file);
    newer == now.named.end() ? add(served, i) : add(newest, newer->second);
  }
  for (const ApiObjectKey& service : MovingObjects(served).services) {
    if (!now.services.contains(service)) continue;
    const auto [first, last] = now.slices.equal_range(service);
    for (auto each = first; each != last; ++each) add(newest, each->second);
  }
  return refreshed;
}

}  // namespace sluice::control
