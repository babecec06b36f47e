// `sluice status --kubernetes`.
#pragma once

#include <string>

#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the state of this program's Gateways, as the API server has it. Returns 0 if nothing has faults, else 1. If
/// the server cannot be asked, the reason is on standard error. Without a `kubeconfig` the server is found as
/// accessOfPerson() says.
int printClusterStatus(const std::string& kubeconfig, OutputFormat format);

}  // namespace sluice::server
