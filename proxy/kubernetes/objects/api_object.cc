#include "proxy/kubernetes/objects/api_object.h"

#include <algorithm>
#include <iterator>

#include "config/model/model.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/lease/class_claim.h"

namespace sluice::kubernetes {
namespace {

using content::Member;
using content::Value;

constexpr std::string_view kKeptMetadata[] = {"name",   "namespace",  "uid", "generation", "creationTimestamp",
                                              "labels", "annotations"};
/// kubectl keeps a copy of the whole object in it, Secrets too.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// The claim of a leader (lease/class_claim.h) is no part of the configuration, and must not make another revision of
/// it.
bool isKeptAnnotation(std::string_view name) {
  return name != kLastApplied && name.substr(0, name.find('/')) != kClaimDomain;
}

Value textValue(std::string_view text) {
  Value value;
  value.kind = Value::Kind::kString;
  value.text = text;
  return value;
}

void set(Value& map, std::string_view key, Value value) {
  map.members.push_back(Member{std::string(key), {}, std::move(value)});
}

Value keptMetadata(Value&& metadata) {
  Value kept;
  kept.kind = Value::Kind::kMap;
  for (Member& member : metadata.members) {
    if (std::find(std::begin(kKeptMetadata), std::end(kKeptMetadata), member.key) == std::end(kKeptMetadata)) continue;
    if (member.key == "annotations") {
      std::erase_if(member.value.members, [](const Member& each) { return !isKeptAnnotation(each.key); });
      if (member.value.members.empty()) continue;
    }
    kept.members.push_back(std::move(member));
  }
  return kept;
}

/// Returns a name by which people and caches identify the object of a text.
std::string textName(const config::ObjectKind& kind, const ApiObjectKey& key) {
  std::string name(config::kApiServerPrefix);
  name += kind.kind;
  if (!kind.group.empty()) name.append(".").append(kind.group);
  if (!key.first.empty()) name += "/" + key.first;
  return name + "/" + key.second;
}

}  // namespace

ApiObjectKey keyOf(const Value& object) {
  return {std::string(metadataText(object, "namespace")), std::string(metadataText(object, "name"))};
}

std::string_view serviceOf(const Value& slice) {
  const Value* metadata = slice.find("metadata");
  const Value* labels = metadata == nullptr ? nullptr : metadata->find("labels");
  const Value* service = labels == nullptr ? nullptr : labels->find(config::EndpointSlice::kServiceLabel);
  return service == nullptr ? std::string_view() : std::string_view(service->text);
}

ApiObject makeApiObject(const config::ObjectKind& kind, std::string_view version, Value&& object, bool withStatus) {
  const ApiObjectKey key = keyOf(object);
  ApiObject made;
  made.uid = metadataText(object, "uid");
  made.resourceVersion = metadataText(object, "resourceVersion");
  if (kind.isOf<config::EndpointSlice>()) made.service = serviceOf(object);
  Value kept;
  kept.kind = Value::Kind::kMap;
  const std::string group = kind.group.empty() ? std::string() : std::string(kind.group) + "/";
  set(kept, "apiVersion", textValue(group + std::string(version)));
  set(kept, "kind", textValue(kind.kind));
  for (Member& member : object.members) {
    if (member.key == "metadata") {
      set(kept, "metadata", keptMetadata(std::move(member.value)));
    } else if (member.key == "status") {
      if (withStatus) {
        made.status = content::writeJson(member.value);
        made.status.shrink_to_fit();  // there is one for each object of the cluster
      }
    } else if (member.key != "apiVersion" && member.key != "kind" && !kind.isOf<config::Namespace>()) {
      kept.members.push_back(std::move(member));
    }
  }
  made.text = std::make_shared<const config::KeptText>(textName(kind, key), base::Secret(content::writeJson(kept)));
  return made;
}

}  // namespace sluice::kubernetes
