// `sluice status --kubernetes`.
#pragma once

#include <string>

#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints what an API server knows of the Gateways of this program. Returns 0 if nothing has faults, else 1, as when
/// the server cannot be asked; the reason is on standard error then. Without a `kubeconfig` the server is the one of
/// the Pod's service account.
int printClusterStatus(const std::string& kubeconfig, OutputFormat format);

}  // namespace sluice::server
