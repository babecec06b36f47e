// Reads a kubeconfig, the file by which kubectl and other clients find an API server.
//
// The current context is read, with its cluster and its user; entries that it does not name may hold anything. What is
// not served is an error that says what to do instead: credential plugins (exec, auth-provider), passwords, proxies,
// impersonation. Fields that this program does not know are ignored. As in client-go, data is preferred to a file,
// tokenFile to token as long as it can be read, paths are relative to the kubeconfig's folder, and no credentials are
// used over http://.
//
// A pure function over files, which blocks as briefly as reading them does.
#pragma once

#include <string>

#include "proxy/base/result.h"
#include "proxy/kubernetes/access/api_access.h"

namespace sluice::kubernetes {

/// Reads a kubeconfig of at most 1 MiB, and the files that it names. Errors have config's origin, name file, line and
/// object, and hold nothing that is secret: `/etc/kubeconfig:12:5: user "ci": exec: credential plugins are not ...`. A
/// certificate whose key is another one's, as while both files are replaced, is an error.
base::Result<ApiAccess> readKubeconfig(const std::string& path);

}  // namespace sluice::kubernetes
