// `sluice revisions rollback`: has the replicas of a Gateway serve an earlier revision, or the newest objects again, by
// the spec.active of its EgressRevisions.
#pragma once

#include <string>

#include "proxy/server/kubernetes/rollback_options.h"

namespace sluice::server {

/// Prints the result. Returns the exit code. Without a `kubeconfig`, the server is found as
/// accessOfPerson() says.
int rollBack(const std::string& kubeconfig, const RollbackOptions& options);

}  // namespace sluice::server
