// `sluice check upgrade`: lists the rights and properties that the Gateways of a cluster would lose if a controller of
// this version ran their Pods.
#pragma once

#include <string>
#include <vector>

#include "proxy/processing/factory.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

struct UpgradeCheckOptions {
  std::vector<std::string> config;          // files with the objects; empty: those of the API server
  std::string nameSpace = "sluice-system";  // of the controller
};

/// Prints each loss, and how to prevent it. Returns 0 if there is none; else 1, also if the objects cannot be read.
/// Without a `kubeconfig`, the server is found as accessOfPerson() says. No Secret is read.
int checkUpgrade(const std::string& kubeconfig, const UpgradeCheckOptions& options, OutputFormat format,
                 const processing::BuiltinTypes& processors);

}  // namespace sluice::server
