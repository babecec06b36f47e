// The objects that are not served as they are written: what makes a configuration degraded although it is in sync. The
// metrics count them, and the admin document /status names them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/counted_objects.h"
#include "proxy/control/state/revisions.h"

namespace sluice::control {

/// One object with the fault that tells most. The texts are those of the configuration and of the problems, which
/// outlive it.
struct FaultyObject {
  std::string_view group;      // empty also if only a problem of reading knows the object
  std::string_view kind;       // empty if it could not be read
  std::string_view nameSpace;  // empty for an object without one
  std::string_view name;
  std::string_view condition;  // the type; empty for a problem of reading
  std::string_view reason;
  std::string_view field;  // of a problem of reading; the message of a condition has it
  std::string_view message;
};

/// Returns each object that has a fault (config::isFault()), and after these each one that has none and could not be
/// read without an error, such as a Secret, which has no status. `problems` are those of the configuration as it was
/// read last (problemsNow()).
std::vector<FaultyObject> faultyObjects(const CompiledConfiguration& configuration, const config::Problems& problems,
                                        const ObjectCounting& counted);

/// Returns the problems of the known configuration. If it is the desired one, they are those of its last reading: time
/// and machine may have changed since it was taken into service (surroundings.h).
const config::Problems& problemsNow(const CompiledConfiguration& known, const Revisions& revisions);

/// The members of an object with faults in /status, in their order.
inline constexpr auto kFaultMembers =
    std::to_array<std::string_view>({"group", "kind", "namespace", "name", "condition", "reason", "message"});

struct ListedFaults {
  /// The most objects of one namespace, so that no tenant displaces the others, and in all.
  static constexpr std::size_t kMostOfNamespace = 10;
  static constexpr std::size_t kMost = 100;

  std::string reasons = "[]";  // JSON: each reason of any object once, in the order of the alphabet
  std::string faults = "[]";   // JSON
  std::string leftOut = {};    // JSON: [{"namespace", "count"}]; empty if none is left out
};

ListedFaults listFaults(const std::vector<FaultyObject>& objects);

}  // namespace sluice::control
