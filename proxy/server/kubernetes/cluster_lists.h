// Reads lists of objects from an API server, for commands that look once and end.
//
// It blocks, as a ClusterErrand does.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::server {

/// A collection to be listed in whole.
struct ClusterCollection {
  /// Paths of the same objects in several versions: the first that the server has is taken. If it has none, because a
  /// CRD is not installed, the list is empty.
  std::vector<std::string> paths;
  std::string selector = {};  // "labelSelector=sluice.dev%2Freplica-of", or empty
  /// Who may not list it in all namespaces is shown what the kubeconfig's own namespace has.
  bool mayBeOwnNamespace = false;
};

/// The lists that the server has answered with.
struct ClusterLists {
  std::string server;                             // its URL
  std::vector<std::vector<content::Value>> each;  // in the order of the collections
};

/// Reads the collections one after the other. The error says what is wrong with the kubeconfig (a path; if it is empty,
/// the Pod's service account counts), that the server cannot be reached, what it does not let this user read, or that
/// it took too long; it names the server.
base::Result<ClusterLists> readClusterLists(const std::string& kubeconfig, std::vector<ClusterCollection> collections);

}  // namespace sluice::server
