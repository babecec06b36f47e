#include "test/integration/support/kubernetes/shared_api_server.h"

#include <map>
#include <utility>

#include "test/integration/support/kubernetes/kubectl.h"

namespace sluice::test {
namespace {

void install(const Kubectl& kubectl, InstalledKinds kinds) {
  if (kinds == InstalledKinds::kGatewayApiAndOurs) {
    kubectl.expect({"apply", "--server-side", "-k", SLUICE_SOURCE_DIR "/config/kustomize/crds"});
  }
  installGatewayApi(kubectl);
}

/// Returns the data folder of a server that has ended, and had these kinds and no objects.
std::string dataWith(InstalledKinds kinds) {
  static std::map<InstalledKinds, std::unique_ptr<KubeApiServer>> servers;
  std::unique_ptr<KubeApiServer>& server = servers[kinds];
  if (server == nullptr) {
    server = std::make_unique<KubeApiServer>();
    install(Kubectl(server->kubeconfig()), kinds);
    server->kill();
  }
  return server->dataFolder();
}

}  // namespace

std::unique_ptr<KubeApiServer> ownApiServer(InstalledKinds kinds, std::vector<std::string> options) {
  return std::make_unique<KubeApiServer>(std::move(options), "127.0.0.1", dataWith(kinds));
}

KubeApiServer& sharedApiServer(InstalledKinds kinds) {
  static std::map<InstalledKinds, std::unique_ptr<KubeApiServer>> servers;
  std::unique_ptr<KubeApiServer>& server = servers[kinds];
  if (server == nullptr) {
    server = ownApiServer(kinds);
  } else {
    server->forget();
  }
  return *server;
}

}  // namespace sluice::test
