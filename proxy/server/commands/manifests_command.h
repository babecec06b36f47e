// `sluice manifests`: the objects that a cluster needs for the controller, which are those of config/kustomize/default.
#pragma once

#include <string>

namespace sluice::server {

struct ManifestOptions {
  std::string nameSpace;  // empty: sluice-system
  std::string image;      // of the controller and of Gateways; empty: that of config/image, without a registry
};

/// Prints them. Returns 0.
int printManifests(const ManifestOptions& options);

/// Returns them as YAML documents, each after those that it needs.
std::string manifestsText(const ManifestOptions& options);

}  // namespace sluice::server
