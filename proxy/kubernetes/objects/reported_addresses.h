// The addresses that the statuses of Gateways report. Clients rely on them, so a process that starts keeps using them.
#pragma once

#include <string_view>

#include "config/load/object_set.h"
#include "proxy/kubernetes/objects/cluster_objects.h"

namespace sluice::kubernetes {

/// Adds the addresses in `status`, the JSON of a Gateway's status. Entries that are no IP addresses, or not legible,
/// are left out.
void addReportedAddresses(std::string_view gateway, std::string_view status, config::ReportedAddresses& addresses);

/// Returns the addresses of all Gateways whose statuses are kept. Main thread.
config::ReportedAddresses reportedAddresses(const ClusterObjects& objects);

}  // namespace sluice::kubernetes
