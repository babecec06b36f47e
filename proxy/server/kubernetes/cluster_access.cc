#include "proxy/server/kubernetes/cluster_access.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "proxy/kubernetes/access/kubeconfig.h"
#include "proxy/server/kubernetes/plugin_process.h"

namespace sluice::server {
namespace {

constexpr const char* kListVariable = "KUBECONFIG";
constexpr const char* kHomeVariable = "HOME";

/// Returns the kubeconfigs of a person; none if the service account is meant.
std::vector<std::string> kubeconfigsOf(const std::string& given, const kubernetes::EnvironmentLookup& environment) {
  if (!given.empty()) return {given};
  std::vector<std::string> listed = kubernetes::kubeconfigList(environment(kListVariable));
  if (!listed.empty()) return listed;
  const std::string home = environment(kHomeVariable);
  std::string usual = home + "/.kube/config";
  std::error_code error;
  if (home.empty() || !std::filesystem::exists(usual, error)) return {};
  return {std::move(usual)};
}

base::Result<kubernetes::ApiAccess> readAccessOfPerson(const std::vector<std::string>& kubeconfigs,
                                                       const kubernetes::EnvironmentLookup& environment) {
  if (kubeconfigs.empty()) return kubernetes::readInCluster(environment);
  return kubernetes::readKubeconfigs(kubeconfigs,
                                     [](const kubernetes::CredentialPlugin& plugin) { return runPlugin(plugin); });
}

}  // namespace

std::string environmentVariable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

AccessReader accessOfProcess(const std::string& kubeconfig) {
  return [kubeconfig] {
    return kubeconfig.empty() ? kubernetes::readInCluster(environmentVariable) : kubernetes::readKubeconfig(kubeconfig);
  };
}

AccessReader accessOfPerson(const std::string& kubeconfig, const kubernetes::EnvironmentLookup& environment) {
  return [kubeconfigs = kubeconfigsOf(kubeconfig, environment), environment,
          known = std::optional<kubernetes::ApiAccess>()]() mutable -> base::Result<kubernetes::ApiAccess> {
    if (known) return *known;
    base::Result<kubernetes::ApiAccess> access = readAccessOfPerson(kubeconfigs, environment);
    if (access.ok()) known = *access;
    return access;
  };
}

}  // namespace sluice::server
