// This is the control plane's half of the table of kinds (config/model/object_kinds.h): it says who tells the objects
// of a type how they are served, in the order in which /status lists them.
#pragma once

#include <span>
#include <typeinfo>

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

struct StatusEntry {
  const std::type_info* type;  // as in ObjectKind
  /// Appends a status for each object that is ours to speak of, refused ones too, in any order. Routes that were
  /// attached have theirs already.
  void (*write)(const StatusSources& sources, Statuses& statuses);
};

std::span<const StatusEntry> statusTable();

/// Writes all of them, in the order of the table, then by group, kind, namespace and name. `attached` are those of the
/// routes with parents of ours, as attachRoute() made them.
Statuses writeStatuses(const StatusSources& sources, Statuses attached);

}  // namespace sluice::control
