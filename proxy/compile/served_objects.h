// Tells the objects that concern the Gateways of a process from all others that it has compiled. A process that serves
// some Gateways follows kinds as a whole, so it knows objects of other Gateways and namespaces too, of which it should
// say nothing to whoever may ask it.
//
// Objects without a namespace concern all. A Backend concerns it if one of its routes may use it, or a processor asks
// it; a policy if what it targets does; all others if they stand in the namespace of a Gateway, of a route, or of such
// a Backend. Owned by its maker; any thread.
#pragma once

#include <set>
#include <string>

#include "proxy/compile/compile.h"

namespace sluice::compile {

class ServedObjects {
 public:
  /// `compiled` is of a process that has no Gateways and routes but those that it serves.
  explicit ServedObjects(const CompileResult& compiled);

  bool has(const config::ObjectStatus& object) const;
  /// Returns true if a Gateway, a route or such a Backend stands in the namespace.
  bool hasNamespace(const std::string& nameSpace) const { return nameSpaces_.contains(nameSpace); }

 private:
  void add(const std::string& object, const std::string& nameSpace);
  void addBackend(const std::string& object);

  std::set<std::string> objects_;  // Gateways, routes and Backends
  std::set<std::string> nameSpaces_;
};

}  // namespace sluice::compile
