// Which object a document says it is: what two documents of one object have in common.
#pragma once

#include <string>
#include <string_view>

#include "config/yaml/document.h"

namespace sluice::config {

/// Whatever is legible of it; the checks come later.
struct ObjectIdentity {
  std::string group;  // empty: the core group
  std::string version;
  std::string kind;
  std::string nameSpace;  // of kinds that are read: "default" if none was given, empty if the kind has none
  std::string name;

  /// "namespace/name", or the name alone.
  std::string qualifiedName() const;
  /// A List of the core group: its `items` are the objects.
  bool isList() const { return group.empty() && kind == "List"; }
};

ObjectIdentity identify(const Value& root);

/// The API server alone writes these into metadata, and nothing that is served depends on them.
inline constexpr std::string_view kServerFields[] = {
    "uid",      "resourceVersion", "finalizers",        "ownerReferences",           "managedFields",
    "selfLink", "generateName",    "deletionTimestamp", "deletionGracePeriodSeconds"};

}  // namespace sluice::config
