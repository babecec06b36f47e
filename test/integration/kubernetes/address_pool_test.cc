// Tests `sluice run --kubernetes --controller --address-pool`: each Gateway of a real API server listens on an address
// of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/kubernetes/shared_api_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPooledClass =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\n"
    "spec: {controllerName: sluice.dev/egress-gateway}\n";

/// Returns a Gateway with a listener at port 8080, and a route of it that redirects to the Gateway's name. `address` is
/// an element of spec.addresses; without one it has none.
std::string pooledGateway(const std::string& name, const std::string& address = {}) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: default, name: " + name +
         "}\nspec:\n  gatewayClassName: sluice\n" + (address.empty() ? "" : "  addresses: [" + address + "]\n") +
         "  listeners: [{name: web, protocol: HTTP, port: 8080}]\n"
         "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: default, name: of-" +
         name + "}\nspec:\n  parentRefs: [{name: " + name +
         "}]\n  rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: " + name + ".test}}]}]\n";
}

std::string ipAddress(const std::string& value) { return "{type: IPAddress, value: " + value + "}"; }

class AddressPools : public KubernetesTest {
 protected:
  void SetUp() override {
    KubernetesTest::SetUp();
    if (IsSkipped()) return;
    server_ = &sharedApiServer(InstalledKinds::kGatewayApi);
    kubectl_ = std::make_unique<Kubectl>(server_->kubeconfig());
    kubectl_->apply(kPooledClass);
  }
  void TearDown() override {
    if (gateway_ != nullptr) stop();
  }

  void start(const std::string& pool) {
    gateway_ = std::make_unique<ChildProcess>(std::vector<std::string>{
        programPath("sluice"), "run", "--kubernetes", "--kubeconfig", server_->kubeconfig(), "--controller",
        "--address-pool", pool, "--admin", "127.0.0.1:" + std::to_string(admin_), "--health",
        "127.0.0.1:" + std::to_string(health_), "--workers", "1"});
    ASSERT_TRUE(waitForPort(admin_)) << gateway_->errors();
  }
  void stop() {
    gateway_->signal(SIGTERM);
    EXPECT_EQ(gateway_->wait(), 0) << gateway_->errors();
    gateway_.reset();
  }

  /// Returns the part of /status about a Gateway, from its name to the status of the next object.
  std::string statusOf(const std::string& name) const {
    const std::string all = run({"curl", "-sS", "http://127.0.0.1:" + std::to_string(admin_) + "/status"}).output;
    // Objects with faults are listed before.
    const std::size_t at =
        all.find("\"kind\":\"Gateway\",\"namespace\":\"default\",\"name\":\"" + name + "\"", all.find("\"objects\":["));
    if (at == std::string::npos) return {};
    const std::size_t status = all.find("\"status\":{", at);
    return all.substr(at, all.find("\"status\":{", status + 1) - at);
  }
  /// Returns the one address that /status has of a Gateway; empty if there is none, or several.
  std::string addressOf(const std::string& name) const {
    const std::string status = statusOf(name);
    const std::regex one(R"re("addresses":\[\{"type":"IPAddress","value":"([^"]*)"\}\])re");
    std::smatch found;
    return std::regex_search(status, found, one) ? found[1].str() : "";
  }
  bool hasAddress(const std::string& name) const {
    return eventually([&] { return !addressOf(name).empty(); });
  }
  bool says(const std::string& name, const std::string& text) const {
    return eventually([&] { return statusOf(name).find(text) != std::string::npos; });
  }
  /// Returns where the Gateway redirects a request to that address.
  static std::string redirectAt(const std::string& address) {
    return run({"curl", "-sS", "-o", "/dev/null", "-w", "%{redirect_url}", "http://" + address + ":8080/"}).output;
  }
  bool serves(const std::string& name) const {
    return eventually([&] { return redirectAt(addressOf(name)) == "http://" + name + ".test:8080/"; });
  }

  const std::uint16_t admin_ = freePort();
  const std::uint16_t health_ = freePort();
  KubeApiServer* server_ = nullptr;
  std::unique_ptr<Kubectl> kubectl_;
  std::unique_ptr<ChildProcess> gateway_;
};

TEST_F(AddressPools, GiveGatewaysWithTheSamePortAddressesThatTheyKeep) {
  kubectl_->apply(pooledGateway("one") + pooledGateway("two"));
  start("127.8.0.0/24");
  for (const char* name : {"one", "two"}) {
    ASSERT_TRUE(hasAddress(name)) << statusOf(name) << gateway_->errors();
    EXPECT_THAT(addressOf(name), StartsWith("127.8.0."));
    EXPECT_TRUE(serves(name)) << redirectAt(addressOf(name));
  }
  const std::string one = addressOf("one");
  const std::string two = addressOf("two");
  EXPECT_NE(one, two);
  EXPECT_NE(run({"curl", "-sS", "http://127.0.0.1:8080/"}).exitCode, 0) << "no Gateway listens on all addresses";

  kubectl_->apply(pooledGateway("three"));
  kubectl_->remove(pooledGateway("one"));
  ASSERT_TRUE(hasAddress("three"));
  EXPECT_TRUE(eventually([&] { return addressOf("one").empty(); }));
  EXPECT_EQ(addressOf("two"), two);
  EXPECT_EQ(redirectAt(two), "http://two.test:8080/");
  EXPECT_EQ(run({"curl", "-sS", "http://" + one + ":8080/"}).exitCode, 7) << "its socket is closed";

  stop();
  start("127.8.0.0/24");
  ASSERT_TRUE(hasAddress("two"));
  EXPECT_EQ(addressOf("two"), two) << "after a restart, too";
}

TEST_F(AddressPools, GoOnWithTheAddressesThatStatusesReport) {
  kubectl_->apply(pooledGateway("one") + pooledGateway("two"));
  const auto report = [this](const char* gateway, const std::string& address) {
    kubectl_->expect({"patch", "gateway", gateway, "--subresource", "status", "--type", "merge", "-p",
                      R"({"status": {"addresses": [{"type": "IPAddress", "value": ")" + address + R"("}]}})"});
  };
  report("one", "127.8.0.201");
  report("two", "127.9.0.1");  // of an earlier pool
  start("127.8.0.0/24");
  ASSERT_TRUE(hasAddress("one")) << gateway_->errors();
  EXPECT_EQ(addressOf("one"), "127.8.0.201");
  EXPECT_TRUE(serves("one"));
  ASSERT_TRUE(hasAddress("two"));
  EXPECT_THAT(addressOf("two"), StartsWith("127.8.0."));
}

TEST_F(AddressPools, AreBesideAddressesThatGatewaysAskFor) {
  kubectl_->apply(pooledGateway("own", ipAddress("127.0.0.77")) + pooledGateway("far", ipAddress("203.0.113.9")) +
                  pooledGateway("named", "{type: Hostname, value: gateway.test}") + pooledGateway("pooled"));
  start("127.8.0.0/24");
  ASSERT_TRUE(hasAddress("own")) << gateway_->errors();
  EXPECT_EQ(addressOf("own"), "127.0.0.77");
  EXPECT_TRUE(serves("own"));
  EXPECT_TRUE(says("far", R"("type":"Programmed","status":"False","reason":"AddressNotUsable")")) << statusOf("far");
  EXPECT_EQ(addressOf("far"), "");
  EXPECT_TRUE(says("named", R"("type":"Accepted","status":"False","reason":"UnsupportedAddress")"))
      << statusOf("named");
  EXPECT_TRUE(serves("pooled"));
}

TEST_F(AddressPools, AssignAnAddressWhereOnlyItsTypeIsGiven) {
  kubectl_->apply(pooledGateway("any", "{type: IPAddress}"));
  start("127.8.0.0/24");
  ASSERT_TRUE(hasAddress("any")) << gateway_->errors();
  EXPECT_THAT(addressOf("any"), StartsWith("127.8.0."));
  EXPECT_TRUE(serves("any"));
}

TEST_F(AddressPools, LeaveGatewaysWithoutAnAddressOnceAllAreGiven) {
  kubectl_->apply(pooledGateway("first"));
  start("127.8.1.7/32");
  ASSERT_TRUE(hasAddress("first")) << gateway_->errors();
  kubectl_->apply(pooledGateway("second"));
  EXPECT_TRUE(says("second", R"("type":"Programmed","status":"False","reason":"AddressNotAssigned")"))
      << statusOf("second");
  EXPECT_TRUE(serves("first"));
  kubectl_->remove(pooledGateway("first"));
  ASSERT_TRUE(hasAddress("second")) << statusOf("second");
  EXPECT_EQ(addressOf("second"), "127.8.1.7");
  EXPECT_TRUE(serves("second"));
}

}  // namespace
}  // namespace sluice::test
