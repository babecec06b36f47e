// Adds the reports of replicas to a status that the controller has compiled: whether all of them serve a route's newest
// generation (`sluice.dev/Programmed` of each of its parents), whether some or all of a Gateway's replicas cannot serve
// their desired configuration (`Degraded`), and what they report about objects (reported_conditions.h). Other parts of
// the controller add conditions and addresses of Gateways, too. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/kubernetes/lease/replica_reports.h"
#include "proxy/kubernetes/status/reported_conditions.h"
#include "proxy/kubernetes/status/rollback_statuses.h"

namespace sluice::kubernetes {

inline constexpr std::string_view kFleetProgrammed = "sluice.dev/Programmed";

/// Facts about objects that a compilation does not know.
class FleetFacts {
 public:
  virtual const ReplicaReports& reports() const = 0;
  /// Returns the namespaces that the traffic of the Gateways reaches.
  virtual const ReachOfGateways& reach() const = 0;
  /// Returns the resourceVersion at which an object got its present content; 0 if it is not known.
  virtual std::uint64_t changedAt(const config::ObjectStatus& object) const = 0;
  /// Returns further conditions of a Gateway, of other types and without observedGeneration.
  virtual std::vector<config::Condition> conditionsOf(const config::ObjectStatus& gateway) const = 0;
  /// Returns the addresses of a Gateway that replace those that were compiled; none if these stay.
  virtual std::vector<config::AddressStatus> addressesOf(const config::ObjectStatus& gateway) const = 0;

 protected:
  ~FleetFacts() = default;
};

struct FleetStatus {
  config::StatusList::Shared compiled;  // the compiled status that it was made of
  config::StatusList::Shared status;
  std::size_t added = 0;      // number of conditions that were added for the replicas
  bool served = false;        // all replicas serve the route, at each of its parents
  std::uint64_t version = 0;  // FleetFacts::changedAt() of the route
  bool awaited = false;       // it may change as soon as the last replica serves its desired configuration
  bool reported = false;      // it has conditions that replicas report, or may have
};

/// One judgement of all statuses.
struct FleetRound {
  const FleetFacts& facts;
  const ReportedConditions& reported;
  const RefusedRevision* refused = nullptr;  // null: the newest configuration is served
  base::MonotonicTime now;
};

/// What the replicas of each Gateway serve, gathered once for the thousands of routes that all of them serve.
class ServedRoutes {
 public:
  /// `reports` outlives it and does not change.
  ServedRoutes(const ReplicaReports& reports, base::MonotonicTime now) : reports_(reports), now_(now) {}

  /// Returns true if withFleetConditions() would return the same again for the same status and version, however the
  /// reports have changed.
  bool stillHold(const FleetStatus& fleet);

 private:
  struct SeenOfAll {
    bool faultless = false;  // there are replicas, and none of them reports any object
    std::map<std::string, std::uint64_t, std::less<>> versions = {};  // that all have seen, by kind
  };
  const SeenOfAll& of(const std::string& gateway);

  const ReplicaReports& reports_;
  const base::MonotonicTime now_;
  std::map<std::string, SeenOfAll> gateways_;
};

/// Returns a status with the replicas' conditions and with the addresses that the facts have. If it is equal to `last`,
/// which this function returned for the object before, both share it, because there are thousands of them.
FleetStatus withFleetConditions(const config::StatusList::Shared& compiled, const FleetStatus& last,
                                const FleetRound& round);

}  // namespace sluice::kubernetes
