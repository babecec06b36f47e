// A credential plugin of a kubeconfig: a program that prints credentials for the API server (users[].user.exec,
// client.authentication.k8s.io).
//
// Pure functions. The program itself is run by the function that readKubeconfigs() gets.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields/field_reader.h"
#include "proxy/base/result.h"
#include "proxy/base/secret.h"

namespace sluice::kubernetes {

struct CredentialPlugin {
  std::string apiVersion;
  std::string command;  // a path, or a name without a slash that is looked up in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // besides the inherited variables
  std::string installHint;                                       // for a person without the program; may be empty
  bool wantsCluster = false;                                     // it gets the cluster in KUBERNETES_EXEC_INFO
};

/// The output of a plugin. It has a token, or a certificate with its key, or both.
struct ExecCredential {
  base::Secret token;
  base::Secret certificate;  // PEM
  base::Secret key;
};

/// Runs a plugin, and returns its standard output. Errors name the program and the reason.
using RunPlugin = std::function<base::Result<base::Secret>(const CredentialPlugin& plugin)>;

/// The largest output that is read.
inline constexpr std::size_t kMaxPluginBytes = std::size_t{1024} * 1024;
/// The variable that tells a plugin what is asked of it.
inline constexpr const char* kExecInfo = "KUBERNETES_EXEC_INFO";

/// Reads `exec` of a user. A command with a slash is relative to `folder`. Problems go to the context of the reader,
/// and the result is of use only if there is none.
CredentialPlugin readPlugin(config::FieldReader& exec, const std::string& folder);
/// Returns the ExecCredential that the plugin gets as kExecInfo. `cluster` is JSON.
std::string infoForPlugin(const CredentialPlugin& plugin, const std::string& cluster);
/// Reads what the plugin has printed. The error says which field is wrong, and quotes nothing of it.
base::Result<ExecCredential> readExecCredential(std::string_view output, const CredentialPlugin& plugin);

}  // namespace sluice::kubernetes
