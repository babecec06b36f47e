// The objects that a replica does not serve as they are written; it reports them beside its revision.
//
// Pure function.
#pragma once

#include <vector>

#include "config/status/status_list.h"
#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {

/// Returns these objects, each with its first reason. A broken reference is served as it is written, with errors, so it
/// is not among them. Neither is a Backend that does not serve.
std::vector<FailedObject> failedObjectsOf(const config::StatusList& statuses);

}  // namespace sluice::kubernetes
