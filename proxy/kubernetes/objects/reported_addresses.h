// The addresses that the statuses of Gateways report. Clients rely on them, so a process that starts goes on with them.
#pragma once

#include <string_view>

#include "config/load/object_set.h"
#include "proxy/kubernetes/objects/cluster_objects.h"

namespace sluice::kubernetes {

/// Adds what `status`, the JSON of a Gateway's status, has in its addresses. What is not an IP address there, or not
/// legible at all, is left out.
void addReportedAddresses(std::string_view gateway, std::string_view status, config::ReportedAddresses& addresses);

/// Returns the addresses of all Gateways whose statuses are kept. Main thread.
config::ReportedAddresses reportedAddresses(const ClusterObjects& objects);

}  // namespace sluice::kubernetes
