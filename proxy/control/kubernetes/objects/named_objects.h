// The objects that a configuration names and that are not read as a whole kind: Secrets and ConfigMaps, because nobody
// needs to be allowed to list all of them, and Services, of which a cluster has many more than the gateway uses.
//
// A value; namedObjects() is a pure function.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "config/object_set.h"

namespace sluice::control {

struct NamedObjects {
  using Names = std::set<std::pair<std::string, std::string>>;  // namespace and name
  Names secrets = {};
  Names configMaps = {};
  Names services = {};

  friend bool operator==(const NamedObjects&, const NamedObjects&) = default;
};

/// Returns what the objects of the set name, as far as they can be read: also what they name without being permitted
/// to. What a ConfigMap with settings, or with entries of a catalog, names counts too.
NamedObjects namedObjects(const config::ObjectSet& set);

}  // namespace sluice::control
