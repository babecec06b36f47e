// Names of objects of one kind in a Kubernetes cluster.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace sluice::base {

/// The namespace and the name of each object.
using ObjectNames = std::set<std::pair<std::string, std::string>>;

}  // namespace sluice::base
