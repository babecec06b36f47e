// The table of the functions that write the statuses of each type of object, in the order in which /status lists the
// types. The writers of policies (proxy/compile/policy_kinds.h) are inserted after those of routes.
#pragma once

#include <span>
#include <typeinfo>

#include "config/status/status_list.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

struct StatusEntry {
  const std::type_info* type;  // as in ObjectKind
  /// Appends a status for each object of this controller, including refused objects, in any order. Routes that were
  /// attached already have their statuses.
  void (*write)(const StatusSources& sources, Statuses& statuses);
};

/// Returns the writers for all types that have a status and are not policies.
std::span<const StatusEntry> statusTable();

/// Writes all statuses, sorted by their writers, then by group, kind, namespace and name. `attached` are the statuses
/// that routeStatus() made for routes with parents of this controller.
config::StatusList writeStatuses(const StatusSources& sources, std::span<const StatusEntry> ofPolicies,
                                 Statuses attached);

}  // namespace sluice::compile
