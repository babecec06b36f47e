// The objects of which a replica serves something else than what is written: what it reports beside its revision.
//
// Pure function.
#pragma once

#include <vector>

#include "config/status/status_list.h"
#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {

/// Returns these objects, each with the reason that it has first. A broken reference is served as it is written, namely
/// as errors, so it is none of these; and neither is a Backend that does not serve.
std::vector<FailedObject> failedObjectsOf(const config::StatusList& statuses);

}  // namespace sluice::kubernetes
