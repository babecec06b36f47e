// The objects of a configuration that metrics and /status count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "config/ground/problem.h"
#include "proxy/compile/compile.h"
#include "proxy/compile/served_objects.h"

namespace sluice::control {

/// The objects that are counted.
enum class CountedObjects : std::uint8_t { kAll, kServed };  // all that are known, or those of ServedObjects

/// Decides which objects are counted.
class ObjectCounting {
 public:
  ObjectCounting(const compile::CompileResult& compiled, CountedObjects which);

  bool has(const config::ObjectStatus& object) const { return !served_ || served_->has(object); }
  /// Also returns true for a problem without an object, and for the problem of an object without a status in the
  /// namespace of a served one.
  bool has(const config::Problem& problem) const;
  bool has(const compile::AskedServer& server) const { return !served_ || names_.contains(server.writtenIn); }

 private:
  std::optional<compile::ServedObjects> served_;  // none: all are counted
  /// Records by the titles of objects with a status whether they are served. Objects of several groups may share a
  /// title.
  std::map<std::string, bool> byTitle_;
  std::set<std::string> names_;  // objectName() of the served ones
};

}  // namespace sluice::control
