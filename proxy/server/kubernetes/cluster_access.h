// How commands and processes find their API server, and the credentials for it.
#pragma once

#include <functional>
#include <string>

#include "proxy/base/result.h"
#include "proxy/kubernetes/access/api_access.h"
#include "proxy/kubernetes/access/in_cluster.h"

namespace sluice::server {

/// Reads the access anew (ApiClientParts::readAccess).
using AccessReader = std::function<base::Result<kubernetes::ApiAccess>()>;

/// Returns the value of an environment variable; empty if it is not set.
std::string environmentVariable(const char* name);

/// For a process that serves: reads the file `kubeconfig` or, if that is empty, the service account of the Pod. It runs
/// no credential plugin, and KUBECONFIG does not matter.
AccessReader accessOfProcess(const std::string& kubeconfig);

/// For a command that a person runs, by kubectl's rules: reads the file `kubeconfig`, else those of KUBECONFIG, else
/// ~/.kube/config if it exists, else the service account of the Pod. It runs the user's credential plugin, once for all
/// calls.
AccessReader accessOfPerson(const std::string& kubeconfig,
                            const kubernetes::EnvironmentLookup& environment = environmentVariable);

}  // namespace sluice::server
