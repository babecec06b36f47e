// ServedObjects decides which objects concern the Gateways of a process. A process that serves some of the Gateways
// watches whole kinds, so it knows the objects of other Gateways and namespaces too. It must not disclose these to
// users of its admin port.
//
// An object without a namespace always concerns the process. A Backend does if one of the process's routes may use it,
// or if a processor calls it. A policy does if its target does. Any other object does if it is in the namespace of a
// Gateway, of a route, or of such a Backend. The maker owns the object, and any thread may use it.
#pragma once

#include <set>
#include <string>

#include "proxy/compile/compile.h"

namespace sluice::compile {

class ServedObjects {
 public:
  /// `compiled` must belong to a process that has only the Gateways and routes which it serves.
  explicit ServedObjects(const CompileResult& compiled);

  bool has(const config::ObjectStatus& object) const;
  /// Returns true if a Gateway, a route or such a Backend is in the namespace.
  bool hasNamespace(const std::string& nameSpace) const { return nameSpaces_.contains(nameSpace); }

 private:
  void add(const std::string& object, const std::string& nameSpace);
  void addBackend(const std::string& object);

  std::set<std::string> objects_;  // Gateways, routes and Backends
  std::set<std::string> nameSpaces_;
};

}  // namespace sluice::compile
