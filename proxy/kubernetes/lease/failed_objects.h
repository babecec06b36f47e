// The conditions of objects that are not good on a replica, which it reports beside its revision.
//
// Pure function.
#pragma once

#include <cstddef>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {

struct FailedObjects {
  static constexpr std::size_t kMostOfObject = 4;  // conditions

  std::vector<FailedObject> failed;  // at most ReplicaReport::kMostFailed
  std::size_t failedInAll = 0;       // as in a ReplicaReport
  std::size_t listedInAll = 0;
};

/// Returns these conditions. A report has room for some only, so those of objects that are not served as they are
/// written come first, those that only wait for a server's first answer last, and in between the namespaces take turns:
/// no namespace displaces the conditions of others. The conditions of one object stay together.
FailedObjects failedObjectsOf(const config::StatusList& statuses);

}  // namespace sluice::kubernetes
