// Adds to the statuses that the controller has compiled what its replicas say: whether all of them serve a route's
// newest generation (`sluice.dev/Programmed` of each of its parents), and whether some or all of a Gateway's replicas
// cannot serve what they should (`Degraded`). Others of the controller add what they know of a Gateway.
//
// Conditions without that prefix speak of what was compiled, whoever serves it. Owned by the controller; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/kubernetes/lease/replica_reports.h"

namespace sluice::kubernetes {

inline constexpr std::string_view kFleetProgrammed = "sluice.dev/Programmed";

struct FleetStatuses {
  config::StatusList all;
  /// Holds those of `all` that will change as soon as the last replica serves what it should.
  std::unordered_set<const config::ObjectStatus*> awaited = {};
};

/// What else is known of objects.
class FleetFacts {
 public:
  /// Returns the resourceVersion at which an object got its present content; 0 if it is not known.
  virtual std::uint64_t changedAt(const config::ObjectStatus& object) const = 0;
  /// Returns what else is known of a Gateway, without observedGeneration: conditions of other types.
  virtual std::vector<config::Condition> conditionsOf(const config::ObjectStatus& gateway) const = 0;

 protected:
  ~FleetFacts() = default;
};

class FleetConditions {
 public:
  /// Returns the statuses with the replicas' conditions. One that is the same as in the last call is shared with it.
  FleetStatuses apply(const config::StatusList& compiled, const ReplicaReports& reports, const FleetFacts& facts,
                      base::MonotonicTime now);

 private:
  struct Applied {
    config::StatusList::Shared from;
    config::StatusList::Shared result;
    std::size_t added = 0;    // conditions
    std::uint64_t round = 0;  // of the apply() that it was in last
  };
  std::uint64_t round_ = 0;                                        // of apply()
  std::unordered_map<const config::ObjectStatus*, Applied> last_;  // by `from`, which it keeps
};

}  // namespace sluice::kubernetes
