// Changes references to objects that get another group and kind. An object of another spelling and its counterpart have
// the same name and namespace, so a reference changes only its group and kind.
//
// These are pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "config/ground/document.h"
#include "config/read/object_identity.h"

namespace sluice::config {

/// The objects that stay in their spelling.
class StayingObjects {
 public:
  void add(const ObjectIdentity& object);
  bool contain(std::string_view group, std::string_view kind, std::string_view nameSpace, std::string_view name) const;
  /// Returns true if some object of the kind stays.
  bool containAny(std::string_view group, std::string_view kind) const;

 private:
  using Name = std::tuple<std::string, std::string, std::string, std::string>;
  std::set<Name> names_;
  std::set<std::pair<std::string, std::string>> kinds_;
};

/// Changes all references in an object of that namespace to objects of other spellings, except those to objects that
/// stay. `object` is of a kind that this program reads. A ReferenceGrant for a kind of which some objects stay permits
/// both kinds.
void renewReferences(Value& object, const ObjectIdentity& identity, const StayingObjects& staying);

}  // namespace sluice::config
