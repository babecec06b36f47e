// The control plane's half of the table of kinds (config/read/object_kinds.h). It names the writer of each type's
// statuses, in the order in which /status lists them.
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

std::span<const StatusEntry> statusTable();

/// Writes all statuses, in the order of the table, then by group, kind, namespace and name. `attached` are the statuses
/// that routeStatus() made for routes with parents of ours.
config::StatusList writeStatuses(const StatusSources& sources, Statuses attached);

}  // namespace sluice::compile
