// Reads the status that this program, or an earlier process of it, has written to an object of the cluster.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "config/read/object_kinds.h"
#include "config/status/status_list.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/objects/api_object.h"
#include "proxy/kubernetes/objects/cluster_objects.h"

namespace sluice::kubernetes {

/// Returns the entries of this program in `status`, which is that of an object at the API server; nullopt if it has
/// none. The conditions that an API server sets on a new Gateway are not ours. Times are left out: statusPatch() keeps
/// them.
std::optional<config::ObjectStatus> reportedStatus(const config::ObjectKind& kind, const ApiObjectKey& key,
                                                   const content::Value& status);

/// Returns the statuses of all objects that have one of ours. Gateways are left without Degraded and
/// `sluice.dev/RolledBack`, which only last as long as a controller adds them.
config::StatusList reportedStatuses(const ClusterObjects& objects);

}  // namespace sluice::kubernetes
