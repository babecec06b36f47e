// Adds to a status that the controller has compiled what its replicas say: whether all of them serve a route's newest
// generation (`sluice.dev/Programmed` of each of its parents), and whether some or all of a Gateway's replicas cannot
// serve what they should (`Degraded`). Others of the controller add what they know of a Gateway.
//
// Conditions without that prefix speak of what was compiled, whoever serves it. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/kubernetes/lease/replica_reports.h"

namespace sluice::kubernetes {

inline constexpr std::string_view kFleetProgrammed = "sluice.dev/Programmed";

/// Facts about objects that a compilation does not know.
class FleetFacts {
 public:
  virtual const ReplicaReports& reports() const = 0;
  /// Returns the resourceVersion at which an object got its present content; 0 if it is not known.
  virtual std::uint64_t changedAt(const config::ObjectStatus& object) const = 0;
  /// Returns what else is known of a Gateway, without observedGeneration: conditions of other types.
  virtual std::vector<config::Condition> conditionsOf(const config::ObjectStatus& gateway) const = 0;

 protected:
  ~FleetFacts() = default;
};

struct FleetStatus {
  config::StatusList::Shared compiled;  // that it was made of
  config::StatusList::Shared status;
  std::size_t added = 0;  // conditions
  bool awaited = false;   // it will change as soon as the last replica serves what it should
};

/// Returns a status with the replicas' conditions. If it is the same as `last`, which this returned for the object
/// before, it is shared with that, because there are thousands of them.
FleetStatus withFleetConditions(const config::StatusList::Shared& compiled, const FleetStatus& last,
                                const FleetFacts& facts, base::MonotonicTime now);

}  // namespace sluice::kubernetes
