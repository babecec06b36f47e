// Adds what replicas report about objects to the statuses that the controller has compiled: a controller moves no
// traffic, so it does not know that a Backend takes no connections, that the server of a processor does not answer, or
// that a certificate cannot be read by a Pod.
//
// Only reasons that depend on the process are taken from replicas (config::dependsOnProcess()), and a condition that is
// bad by the controller's own compilation stays as it is. If all replicas of each Gateway with a replica that reports a
// condition to be bad do so, it becomes bad with the words of one of them; otherwise, the object is Degraded. A report
// counts as long as its replica is there, so a replica that goes takes its words along.
//
// Replicas of a Gateway are believed about that Gateway, and about objects of the namespaces that its traffic reaches.
// So the owner of a Gateway cannot speak about objects with which it has nothing to do.
//
// A value that is made for one judgement; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/base/clock.h"
#include "proxy/kubernetes/lease/replica_reports.h"

namespace sluice::kubernetes {

/// The namespaces about which the replicas of each Gateway are believed.
struct ReachOfGateways {
  /// The namespaces that the traffic of each Gateway ("namespace/name") reaches.
  std::map<std::string, std::set<std::string>> nameSpaces = {};
  /// If this is not empty, replicas in that namespace are believed about all namespaces. It is that of a controller
  /// that runs no Pods of Gateways, so that nobody but the platform reports from there.
  std::string home = {};
};

class ReportedConditions {
 public:
  /// `reports` outlives it and does not change.
  ReportedConditions(const ReplicaReports& reports, const ReachOfGateways& reach, base::MonotonicTime now);

  /// Returns true if merged() may return something else than its argument.
  bool concern(const config::ObjectStatus& compiled) const;
  /// Returns the status with the conditions that replicas report; `compiled` itself if they report none.
  config::StatusList::Shared merged(const config::StatusList::Shared& compiled) const;

 private:
  using Name = std::tuple<std::string_view, std::string_view, std::string_view>;  // kind, namespace, name
  using Replicas = std::set<const ReplicaReport*>;
  struct Said {
    const ReplicaReport* by;
    const Replicas* among;  // of the same Gateway
    const FailedObject* what;
  };
  /// The same condition, as several replicas report it.
  using SaidOfCondition = std::vector<Said>;
  using SaidOfObject = std::map<std::pair<std::string, std::string>, SaidOfCondition>;  // by place and type

  void hear(const std::string& gateway, const ReplicaReport& report, const std::set<std::string>& nameSpaces,
            bool everywhere);
  std::optional<bool> isComplete(const std::string& nameSpace) const;
  SaidOfObject saidOf(const config::ObjectStatus& object) const;
  void apply(const SaidOfCondition& said, config::ObjectStatus& object) const;
  void activate(const config::ObjectStatus& compiled, config::ObjectStatus& object) const;

  std::map<std::string, Replicas> replicas_;  // by Gateway
  std::map<Name, std::vector<Said>> said_;
  /// The namespaces that are reached, and whether all of the replicas that reach them have listed all conditions.
  std::map<std::string, bool> complete_;
  std::optional<bool> everywhereComplete_;  // the same of those that reach all namespaces
};

/// Adds a condition, or replaces the one of its type. It stands before the conditions of single uses of processors,
/// which are left out if a status has too many.
void addCondition(std::vector<config::Condition>& conditions, config::Condition condition);

}  // namespace sluice::kubernetes
