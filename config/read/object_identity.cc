#include "config/read/object_identity.h"

#include "config/read/object_kinds.h"

namespace sluice::config {
namespace {

std::string textOf(const Value* value) { return value != nullptr && value->isString() ? value->text : std::string(); }

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

}  // namespace sluice::config
