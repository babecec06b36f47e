// Reads a kubeconfig, the file by which kubectl and other clients find an API server.
//
// The current context is read, with its cluster and its user; other entries may contain anything. Unsupported fields
// are errors that suggest an alternative: credential plugins (exec, auth-provider), passwords, proxies, impersonation.
// Fields that this program does not know are ignored. As in client-go, data is preferred to a file, tokenFile to token
// as long as it can be read, paths are relative to the kubeconfig's folder, and no credentials are used over http://.
//
// A pure function over files, which blocks as briefly as reading them does.
#pragma once

#include <string>

#include "proxy/base/result.h"
#include "proxy/kubernetes/access/api_access.h"

namespace sluice::kubernetes {

/// Reads a kubeconfig of at most 1 MiB, and the files that it names. Errors have config's origin, name file, line and
/// object, and contain no secret: `/etc/kubeconfig:12:5: user "ci": exec: credential plugins are not ...`. A
/// certificate and a key that do not belong together, as while both files are replaced, are an error.
base::Result<ApiAccess> readKubeconfig(const std::string& path);

}  // namespace sluice::kubernetes
