#include "proxy/kubernetes/access/in_cluster.h"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"
#include "proxy/kubernetes/access/access_files.h"
#include "proxy/kubernetes/access/server_url.h"
#include "proxy/pki/pem.h"

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kMaxNamespaceBytes = 1024;
constexpr const char* kHostVariable = "KUBERNETES_SERVICE_HOST";
constexpr const char* kPortVariable = "KUBERNETES_SERVICE_PORT";
constexpr const char* kNamespaceVariable = "POD_NAMESPACE";

base::Error notInCluster(const char* variable) {
  return base::Error::config("not in a cluster: " + std::string(variable) + " is not set; give --kubeconfig FILE");
}

base::Status readService(const EnvironmentLookup& environment, ApiAccess& access) {
  const std::string host = environment(kHostVariable);
  const std::string port = environment(kPortVariable);
  if (host.empty()) return notInCluster(kHostVariable);
  if (port.empty()) return notInCluster(kPortVariable);
  access.host = canonicalHost(host);
  if (access.host.empty()) {
    return base::Error::config(std::string(kHostVariable) + ": must be an IP address or a domain name, but is " +
                               base::quote(host));
  }
  const char* end = port.data() + port.size();
  const auto [used, error] = std::from_chars(port.data(), end, access.port);
  if (error != std::errc() || used != end || access.port == 0) {
    return base::Error::config(std::string(kPortVariable) + ": must be a port between 1 and 65535, but is " +
                               base::quote(port));
  }
  access.serverName = access.host.ends_with('.') ? access.host.substr(0, access.host.size() - 1) : access.host;
  return base::Done{};
}

/// If the folder has no token, no service account was mounted into it.
base::Status readAccountToken(const std::string& folder, ApiAccess& access) {
  const std::string path = folder + "/token";
  base::Result<base::Secret> token = readTokenFile(path);
  if (!token) {
    std::error_code error;
    const bool missing = !std::filesystem::exists(path, error) && !error;
    const std::string hint =
        missing ? ": automountServiceAccountToken must not be false, or give --kubeconfig FILE" : "";
    return base::Error::config(token.error().detail + hint);
  }
  access.token = std::move(token).value();
  return base::Done{};
}

base::Status readAccountAuthorities(const std::string& folder, ApiAccess& access) {
  const std::string path = folder + "/ca.crt";
  const base::Result<base::Secret> pem = readAccessFile(path, pki::kMaxPemBytes);
  if (!pem) return pem.error();
  base::Result<pki::TrustStore> trust = pki::TrustStore::parse(pem->reveal());
  if (!trust) return base::Error::config(path + ": " + trust.error().detail);
  access.trust = std::make_shared<const pki::TrustStore>(std::move(trust).value());
  return base::Done{};
}

}  // namespace

base::Result<std::string> readPodNamespace(const EnvironmentLookup& environment, const std::string& folder) {
  const std::string path = folder + "/namespace";
  std::string source = kNamespaceVariable;
  std::string name = environment(kNamespaceVariable);
  std::error_code error;
  if (name.empty() && (std::filesystem::exists(path, error) || error)) {
    const base::Result<base::Secret> text = readAccessFile(path, kMaxNamespaceBytes);
    if (!text) return text.error();
    name = withoutOuterSpace(text->reveal());
    source = path;
  }
  if (name.empty() || config::isDnsLabel(name)) return name;
  return base::Error::config(source + ": must be a DNS label in lower case");
}

base::Result<ApiAccess> readInCluster(const EnvironmentLookup& environment, const std::string& folder) {
  ApiAccess access;
  if (base::Status read = readService(environment, access); !read) return read.error();
  if (base::Status read = readAccountToken(folder, access); !read) return read.error();
  if (base::Status read = readAccountAuthorities(folder, access); !read) return read.error();
  base::Result<std::string> name = readPodNamespace(environment, folder);
  if (!name) return name.error();
  access.nameSpace = name->empty() ? "default" : *std::move(name);
  access.fingerprint = fingerprintOfAccess(access);
  return access;
}

}  // namespace sluice::kubernetes
