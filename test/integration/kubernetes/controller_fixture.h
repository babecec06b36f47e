// The parts that tests of `sluice controller` share: an API server with all CRDs, objects of all kinds with a status,
// and the counting of requests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/kubernetes/fault_proxy.h"
#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/kubernetes/shared_api_server.h"
#include "test/integration/support/kubernetes/written_statuses.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {

inline const std::string kClusterObjects =
    SLUICE_SOURCE_DIR "/test/integration/support/kubernetes/cluster_objects.yaml";
inline const std::string kValidObjects = SLUICE_SOURCE_DIR "/test/support/kube/objects/valid";
inline const std::string kGatewayApiPath = "/apis/gateway.networking.k8s.io/v1";

inline constexpr const char* kAcceptedHere = "{.status.parents[0].conditions[?(@.type==\"Accepted\")].status}";

/// An HTTPRoute of namespace demo.
inline std::string routeTo(const std::string& name, const std::string& gateway, const std::string& backend) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: " + name +
         "}\nspec:\n  parentRefs: [{name: " + gateway + "}]\n  hostnames: [" + name +
         ".example.com]\n  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: " + backend + "}]}]\n";
}

/// Returns true for a request that writes anything but a Lease, an Event or the record of the leader.
inline bool isCountedWrite(const std::string& request) {
  return !request.starts_with("GET ") && request.find("/leases") == std::string::npos &&
         request.find("/events") == std::string::npos && request.find("sluice-leader") == std::string::npos;
}

class ControllerTest : public KubernetesTest {
 protected:
  void SetUp() override {
    KubernetesTest::SetUp();
    if (IsSkipped()) return;
    startServer();
  }
  virtual void startServer() {
    server = &sharedApiServer(InstalledKinds::kGatewayApiAndOurs);
    kubectl = std::make_unique<Kubectl>(server->kubeconfig());
  }
  /// Starts a server in place of the shared one, which the test may end and change.
  void startOwnServer(const std::vector<std::string>& options = {}) {
    ownServer_ = ownApiServer(InstalledKinds::kGatewayApiAndOurs, options);
    server = ownServer_.get();
    kubectl = std::make_unique<Kubectl>(server->kubeconfig());
  }

  void applyAll() const { kubectl->apply(readFile(kClusterObjects)); }
  /// Waits until the statuses are those that `sluice validate` prints for these texts.
  void expectStatusesOf(const std::vector<std::string>& texts) const {
    const TempDir folder;
    for (std::size_t i = 0; i < texts.size(); ++i) folder.write(std::to_string(i) + ".yaml", texts[i]);
    // The condition of the GatewayClass tells the release of the CRDs, which files do not have.
    const std::string files = sluice({"validate", "-o", "json", folder.path()}).output;
    StatusByObject expected = statusesIn(std::regex_replace(files, std::regex("Gateway API v1\\.6\\.1\""),
                                                            "Gateway API v1.6.1, experimental channel\""));
    EXPECT_GT(expected.size(), 15u);
    // An API server sorts the members of a map, and so the parts of the message about them come in another order.
    const auto here = [](StatusByObject statuses) {
      statuses.erase("Backend.sluice.dev default/tls-options-of-everyone");
      return statuses;
    };
    expected = here(std::move(expected));
    std::string differing;
    eventually([&] { return (differing = differences(expected, here(statusesAt(*kubectl)))).empty(); });
    EXPECT_EQ(differing, "");
  }
  /// Returns the counted requests from the one with number `from` on.
  static std::vector<std::string> writesIn(const FaultProxy& proxy, std::size_t from = 0) {
    std::vector<std::string> writes = proxy.requests();
    writes.erase(writes.begin(), writes.begin() + static_cast<std::ptrdiff_t>(from));
    std::erase_if(writes, [](const std::string& each) { return !isCountedWrite(each); });
    return writes;
  }
  static std::size_t renewals(const FaultProxy& proxy) {
    const std::vector<std::string> requests = proxy.requests();
    return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [](const std::string& each) {
      return each.starts_with("PATCH ") && each.find("/leases/") != std::string::npos;
    }));
  }
  /// Returns when the leader behind the proxy has renewed its Lease twice more, which takes four seconds: all writes
  /// that were due are done by then.
  static void letItRest(const FaultProxy& proxy) {
    const std::size_t before = renewals(proxy);
    EXPECT_TRUE(eventually([&] { return renewals(proxy) >= before + 2; }));
  }

  KubeApiServer* server = nullptr;
  std::unique_ptr<Kubectl> kubectl;

 private:
  std::unique_ptr<KubeApiServer> ownServer_;
};

}  // namespace sluice::test
