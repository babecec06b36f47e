// The statuses of objects while the newest configuration is refused as a whole: objects say what is served, and
// Gateways are Degraded and name the refused revision and the reason.
//
// Values and pure functions.
#pragma once

#include <string>

#include "config/status/status_list.h"
#include "proxy/control/state/revisions.h"

namespace sluice::kubernetes {

/// A revision that is refused as a whole.
struct RefusedRevision {
  std::string refused;
  std::string served;     // by this process; empty if it has no good one
  std::string why;        // the reason of the GatewayClass, or else the first problem
  std::string nameSpace;  // of the object that the problem is about; empty if it is about no such object
  bool ofClass = false;   // the GatewayClass has the reason in its own conditions
};

/// Returns the refused revision; `newest` are the statuses of the refused configuration.
RefusedRevision refusedRevision(const control::Revisions& revisions, const config::StatusList& newest);

/// Returns the statuses of the objects in `newest`, the refused configuration: those of GatewayClasses as they are
/// there, because a class shows whether its settings can be used, and all others as in `served`. An object that
/// `served` does not have is not served, so its conditions are Unknown. If `served` is empty, `newest` is returned.
config::StatusList rollbackStatuses(const config::StatusList& served, const config::StatusList& newest);

/// Returns the condition Degraded for a Gateway of that namespace, by the controller's own verdict: its reason is
/// Rollback, or RollbackFailed if nothing is served. The fault is told to readers of the namespace to which it belongs,
/// and that of the class to all, because the class itself has it.
config::Condition degradedBy(const RefusedRevision& revision, std::string_view nameSpace);

}  // namespace sluice::kubernetes
