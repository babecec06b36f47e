#include "test/integration/support/kubernetes/shared_api_server.h"

#include <map>
#include <memory>

namespace sluice::test {

void installKinds(const Kubectl& kubectl, InstalledKinds kinds) {
  if (kinds == InstalledKinds::kGatewayApiAndOurs) {
    kubectl.expect({"apply", "--server-side", "-k", SLUICE_SOURCE_DIR "/config/kustomize/crds"});
  }
  installGatewayApi(kubectl);
}

KubeApiServer& sharedApiServer(InstalledKinds kinds) {
  static std::map<InstalledKinds, std::unique_ptr<KubeApiServer>> servers;
  std::unique_ptr<KubeApiServer>& server = servers[kinds];
  if (server != nullptr) {
    server->forget();
    return *server;
  }
  server = std::make_unique<KubeApiServer>();
  installKinds(Kubectl(server->kubeconfig()), kinds);
  return *server;
}

}  // namespace sluice::test
