// Finds the API server from within a Pod, by the environment and the service account's files that the kubelet provides.
//
// A pure function over files and the environment that it is given; it blocks as briefly as reading small files does.
#pragma once

#include <functional>
#include <string>

#include "proxy/base/result.h"
#include "proxy/kubernetes/access/api_access.h"

namespace sluice::kubernetes {

/// Returns the value of an environment variable; empty if it is not set.
using EnvironmentLookup = std::function<std::string(const char* name)>;

inline constexpr const char* kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the namespace of the Pod: POD_NAMESPACE, as client-go prefers it, or the file `namespace` in `folder`; empty
/// if there is neither.
base::Result<std::string> readPodNamespace(const EnvironmentLookup& environment,
                                           const std::string& folder = kServiceAccountFolder);

/// Reads KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, and in `folder` token, ca.crt and namespace. The
/// namespace is that of readPodNamespace(), or "default". Errors have config's origin, name the variable or the file,
/// and contain no byte of a file.
base::Result<ApiAccess> readInCluster(const EnvironmentLookup& environment,
                                      const std::string& folder = kServiceAccountFolder);

}  // namespace sluice::kubernetes
