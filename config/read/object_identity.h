// The identity that a document claims for its object. Two documents of one object have the same identity.
#pragma once

#include <string>
#include <string_view>

#include "config/ground/document.h"

namespace sluice::config {

/// Everything legible of the identity; it is checked later.
struct ObjectIdentity {
  std::string group;  // empty: the core group
  std::string version;
  std::string kind;
  std::string nameSpace;  // for known kinds "default" if none was given, and empty if the kind has none
  std::string name;

  /// Returns "namespace/name", or the name alone.
  std::string qualifiedName() const;
  /// Returns true for a List of the core group, whose `items` are the objects.
  bool isList() const { return group.empty() && kind == "List"; }
};

ObjectIdentity identify(const Value& root);

/// Members of metadata that only the API server writes. Nothing that is served depends on them.
inline constexpr std::string_view kServerFields[] = {
    "uid",      "resourceVersion", "finalizers",        "ownerReferences",           "managedFields",
    "selfLink", "generateName",    "deletionTimestamp", "deletionGracePeriodSeconds"};

}  // namespace sluice::config
