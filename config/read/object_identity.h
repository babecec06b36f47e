// The identity that a document claims for its object. Two documents with the same identity define the same object.
#pragma once

#include <string>
#include <string_view>

#include "config/ground/document.h"

namespace sluice::config {

/// All parts of the identity that could be read. They are checked later.
struct ObjectIdentity {
  std::string group;  // empty for the core group
  std::string version;
  std::string kind;
  std::string nameSpace;  // for known kinds, "default" if absent; empty if the kind has none
  std::string name;

  /// Returns "namespace/name", or only the name.
  std::string qualifiedName() const;
  /// Returns true for a List of the core group, whose `items` are the objects.
  bool isList() const { return group.empty() && kind == "List"; }
};

ObjectIdentity identify(const Value& root);

/// Returns true for a document whose `items` are the objects: a List, or one of a single kind that is known, such as a
/// GatewayList.
bool isListOfObjects(const Value& root, const ObjectIdentity& identity);

/// Returns an item of a list of a single kind. If it has no apiVersion and kind, as in answers of an API server, it
/// gets those of the list, at the item's position.
Value completeItem(const Value& item, const Value& list);

/// The members of metadata that only the API server writes. They have no effect on what is served.
inline constexpr std::string_view kServerFields[] = {
    "uid",      "resourceVersion", "finalizers",        "ownerReferences",           "managedFields",
    "selfLink", "generateName",    "deletionTimestamp", "deletionGracePeriodSeconds"};

}  // namespace sluice::config
