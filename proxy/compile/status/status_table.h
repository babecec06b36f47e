// The writers of the statuses of each type of objects, in the order in which /status lists them: those of this table,
// with those of policies (proxy/compile/policy_kinds.h) behind the routes.
#pragma once

#include <span>
#include <typeinfo>

#include "config/status/status_list.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

struct StatusEntry {
  const std::type_info* type;  // as in ObjectKind
  /// Appends a status for each object that belongs to this controller, refused ones too, in any order. Routes that were
  /// attached already have theirs.
  void (*write)(const StatusSources& sources, Statuses& statuses);
};

/// Returns the writers for all types with a status that are not policies.
std::span<const StatusEntry> statusTable();

/// Writes all statuses, in the order of their writers, then by group, kind, namespace and name. `attached` are the
/// statuses that routeStatus() made for routes with parents of ours.
config::StatusList writeStatuses(const StatusSources& sources, std::span<const StatusEntry> ofPolicies,
                                 Statuses attached);

}  // namespace sluice::compile
