// Reads kubeconfigs, the files by which kubectl and other clients find an API server.
//
// The current context is read, with its cluster and its user; other entries may contain anything. Unsupported fields
// are errors that suggest an alternative: auth-provider, passwords, proxies, impersonation. Credential plugins (exec)
// are for commands that a person runs, because a process that serves must not depend on programs beside it.
// Fields that this program does not know are ignored. As in client-go, data is preferred to a file, tokenFile to token
// as long as it can be read, paths are relative to the kubeconfig's folder, and no credentials are used over http://.
//
// Functions over files, which block as briefly as reading them does, and as long as a credential plugin takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/kubernetes/access/api_access.h"
#include "proxy/kubernetes/access/credential_plugin.h"

namespace sluice::kubernetes {

/// Reads a kubeconfig of at most 1 MiB, and the files that it names. Errors have config's origin, name file, line and
/// object, and contain no secret: `/etc/kubeconfig:12:5: user "ci": exec: credential plugins are not ...`. A
/// certificate and a key that do not belong together, as while both files are replaced, are an error. A user with a
/// credential plugin is an error, too.
base::Result<ApiAccess> readKubeconfig(const std::string& path);

/// Reads the kubeconfigs of a person as if they were one, by kubectl's rules: the first file that sets current-context,
/// or has an entry of a name, decides, and paths in an entry are relative to its own file. Files that do not exist are
/// left out, but one must exist. `run` is called if the user has a credential plugin, and neither a token nor a
/// certificate.
base::Result<ApiAccess> readKubeconfigs(const std::vector<std::string>& paths, const RunPlugin& run);

/// Returns the paths of a list like that of KUBECONFIG, "a:b", without empty and repeated ones.
std::vector<std::string> kubeconfigList(std::string_view list);

}  // namespace sluice::kubernetes
