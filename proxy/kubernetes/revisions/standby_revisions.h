// The revisions from which Pods of Gateways start if they cannot serve the newest objects.
//
// Pure functions.
#pragma once

#include <map>

#include "proxy/kubernetes/objects/named_objects.h"
#include "proxy/kubernetes/revisions/egress_revision.h"

namespace sluice::kubernetes {

struct StandbyRevision {
  const EgressRevision* newest = nullptr;  // the one that was created last
  const EgressRevision* good = nullptr;    // the good one besides it that was served last; null if there is none

  /// Returns true if Pods may have to start from the good one.
  bool isNeeded() const;
};

/// Returns the standby of each Gateway with revisions that the controller has judged. They refer to `revisions`.
std::map<NamedGateway, StandbyRevision> standbysOf(const std::map<ApiObjectKey, EgressRevision>& revisions);

}  // namespace sluice::kubernetes
