#include "proxy/kubernetes/provision/found_object.h"

#include <algorithm>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

/// Statuses change the resourceVersion all the time, so it is used only if there is no generation.
std::string versionOf(const content::Value* metadata) {
  const std::string uid(textIn(metadata, "uid"));
  if (const auto generation = numberIn(metadata, "generation")) return uid + "/" + std::to_string(*generation);
  return uid + "@" + std::string(textIn(metadata, "resourceVersion"));
}

}  // namespace

bool FoundObject::belongsTo(const ProvisionedObject& wanted) const {
  return wanted.owner.empty() || std::find(owners.begin(), owners.end(), wanted.owner) != owners.end();
}

FoundObject foundObject(const ProvisionedKind& kind, const content::Value& object) {
  const content::Value* metadata = valueIn(&object, "metadata");
  const content::Value* labels = valueIn(metadata, "labels");
  FoundObject found;
  found.nameSpace = textIn(metadata, "namespace");
  found.path = kind.path(found.nameSpace) + "/" + std::string(textIn(metadata, "name"));
  found.uid = textIn(metadata, "uid");
  found.version = versionOf(metadata);
  found.gateway =
      std::pair<std::string, std::string>(textIn(labels, kGatewayNamespaceLabel), textIn(labels, kGatewayNameLabel));
  found.deleted = valueIn(metadata, "deletionTimestamp") != nullptr;
  if (const content::Value* owners = valueIn(metadata, "ownerReferences"); owners != nullptr) {
    for (const content::Value& each : owners->items) found.owners.emplace_back(textIn(&each, "uid"));
  }
  return found;
}

}  // namespace sluice::kubernetes
