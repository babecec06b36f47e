// Reads lists of objects from an API server, for commands that read once and end.
//
// It blocks, as a ClusterRequests does.
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
  /// A user who may not list all namespaces gets the objects of the kubeconfig's own namespace.
  bool mayBeOwnNamespace = false;
  /// A user who may not list it gets an empty list.
  bool optional = false;
};

/// The lists in the server's answers.
struct ClusterLists {
  std::string server;                             // its URL
  std::vector<std::vector<content::Value>> each;  // in the order of the collections
  std::vector<std::string> refused = {};          // the paths of optional collections that may not be listed
};

/// Reads the collections one after the other. Without a `kubeconfig` path, the server is found as accessOfPerson()
/// says. The error describes the fault of the kubeconfig, or names the server with the reason: it cannot be reached, it
/// does not let this user read a collection, or it took too long.
base::Result<ClusterLists> readClusterLists(const std::string& kubeconfig, std::vector<ClusterCollection> collections);

}  // namespace sluice::server
