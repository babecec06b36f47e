// Compares the reports of replicas that should serve the same: those of one group, for the same Gateways. A replica
// differs if one of its fields has another value than the same field of most others.
//
// Values and pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::server {

/// A field of a report in which a replica differs. Values are as people read them.
struct DifferingField {
  std::string name;  // "served"
  std::vector<std::string> has;
  std::vector<std::string> others;

  bool operator==(const DifferingField&) const = default;
};

struct DifferingReplica {
  std::string replica;  // "namespace/name"
  std::vector<DifferingField> fields;
};

/// The replicas of a group that differ from the others; there is at least one.
struct DifferingGroup {
  std::string replicaOf;
  std::string gateway;  // as in their reports; empty: they serve all Gateways of the class
  std::size_t replicas = 0;
  std::vector<DifferingReplica> differing;
};

/// Returns the groups in which replicas differ, by their names. If as many replicas have one report as another, those
/// that are in sync, or fail to serve fewer objects, are the others, from which the rest differ.
std::vector<DifferingGroup> differingGroups(const std::vector<const kubernetes::ReplicaReport*>& live);

}  // namespace sluice::server
