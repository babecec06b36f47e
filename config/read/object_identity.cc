#include "config/read/object_identity.h"

#include "config/read/object_kinds.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

std::string textOf(const Value* value) { return value != nullptr && value->isString() ? value->text : std::string(); }

constexpr std::string_view kListSuffix = "List";

/// Returns "Gateway" for "GatewayList"; empty if the kind is no list of a single kind.
std::string_view kindOfItems(std::string_view kind) {
  if (!kind.ends_with(kListSuffix)) return {};
  return kind.substr(0, kind.size() - kListSuffix.size());
}

}  // namespace

std::string ObjectIdentity::qualifiedName() const { return nameSpace.empty() ? name : nameSpace + "/" + name; }

ObjectIdentity identify(const Value& root) {
  ObjectIdentity identity;
  const std::string apiVersion = textOf(root.find("apiVersion"));
  const std::size_t slash = apiVersion.rfind('/');
  if (slash != std::string::npos) identity.group = apiVersion.substr(0, slash);
  identity.version = slash == std::string::npos ? apiVersion : apiVersion.substr(slash + 1);
  identity.kind = textOf(root.find("kind"));
  if (const Value* metadata = root.find("metadata")) {
    identity.name = textOf(metadata->find("name"));
    identity.nameSpace = textOf(metadata->find("namespace"));
  }
  const ObjectKind* kind = findObjectKind(identity.group, identity.kind);
  if (kind == nullptr || identity.version.empty()) return identity;
  if (!kind->namespaced) identity.nameSpace.clear();
  if (kind->namespaced && identity.nameSpace.empty()) identity.nameSpace = "default";
  return identity;
}

bool isListOfObjects(const Value& root, const ObjectIdentity& identity) {
  if (identity.isList()) return true;
  const std::string_view kind = kindOfItems(identity.kind);
  const bool isKnown = findObjectKind(identity.group, kind) != nullptr || isUnsupportedKind(identity.group, kind) ||
                       isUnconcernedKind(identity.group, kind);
  const Value* items = isKnown && !identity.version.empty() ? root.find("items") : nullptr;
  return items != nullptr && items->isList();
}

Value completeItem(const Value& item, const Value& list) {
  Value object = item;
  if (!object.isMap()) return object;
  if (object.find("apiVersion") == nullptr) addText(object, "apiVersion", textOf(list.find("apiVersion")));
  if (object.find("kind") == nullptr) addText(object, "kind", kindOfItems(textOf(list.find("kind"))));
  return object;
}

}  // namespace sluice::config
