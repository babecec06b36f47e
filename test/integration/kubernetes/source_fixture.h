// A fixture of gateways that get their configuration from a real API server: the objects that the tests share, and
// their requests.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/kubernetes/shared_api_server.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {

/// Sends one request after the other from a thread of its own, and counts the answers other than 200.
class SteadyTraffic {
 public:
  explicit SteadyTraffic(std::uint16_t port, std::string request = kGet)
      : thread_([this, port, request = std::move(request)] { ask(port, request); }) {}
  ~SteadyTraffic() { stop(); }
  SteadyTraffic(const SteadyTraffic&) = delete;
  SteadyTraffic& operator=(const SteadyTraffic&) = delete;
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int failed() const { return failed_; }
  int answered() const { return answered_; }

 private:
  void ask(std::uint16_t port, const std::string& request) {
    while (!stopping_) {
      const bool good = askRaw(port, request).status == 200;
      ++(good ? answered_ : failed_);
      letTimePass(std::chrono::milliseconds(3));  // leaves the machine to the processes under test
    }
  }

  std::atomic<bool> stopping_ = false;
  std::atomic<int> answered_ = 0;
  std::atomic<int> failed_ = 0;
  std::thread thread_;
};

class KubeSourceTest : public KubernetesTest {
 protected:
  /// Provides the API server, which other tests use too, with the objects that all tests have: namespace demo, a class
  /// with settings that allow loopback.
  void startServer(InstalledKinds kinds = InstalledKinds::kGatewayApi) {
    server = &sharedApiServer(kinds);
    kubectl = std::make_unique<Kubectl>(server->kubeconfig());
    applyNamespaceAndClass();
  }
  /// Does the same with a server of the test's own, which the test may end and change.
  void startOwnServer(const std::vector<std::string>& options = {},
                      InstalledKinds kinds = InstalledKinds::kGatewayApi) {
    ownServer_ = ownApiServer(kinds, options);
    server = ownServer_.get();
    kubectl = std::make_unique<Kubectl>(server->kubeconfig());
    applyNamespaceAndClass();
  }
  /// Does the same with these CustomResourceDefinitions and no others.
  void startServerWithCrds(const std::string& crds) {
    ownServer_ = std::make_unique<KubeApiServer>();
    server = ownServer_.get();
    kubectl = std::make_unique<Kubectl>(server->kubeconfig());
    kubectl->apply(crds);
    kubectl->expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
    applyNamespaceAndClass();
  }
  void applyNamespaceAndClass() const {
    kubectl->apply(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n---\n"
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\nspec: {controllerName: "
        "sluice.dev/egress-gateway, parametersRef: {group: \"\", kind: ConfigMap, namespace: demo, name: settings}}\n"
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: settings}\ndata:\n  settings.yaml: |\n"
        "    workers: 1\n    dns: {hosts: {origin.test: [127.0.0.1]}}\n    addressGuard: {allow: [127.0.0.0/8]}\n"
        "    accessLog: {path: \"/dev/null\"}\n");
  }
  std::string gateway(const std::string& listeners = "") const {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
           "  gatewayClassName: test\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n  listeners:\n"
           "    - {name: http, protocol: HTTP, port: " +
           std::to_string(port) + "}\n" + listeners + "---\n";
  }
  static std::string route(const std::string& name, const std::string& path, const std::string& backend,
                           const std::string& more = "") {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: " + name +
           "}\nspec: {parentRefs: [{name: egress}], rules: [{matches: [{path: {type: PathPrefix, value: " + path +
           "}}], backendRefs: [" + backend + "]" + more + "}]}\n---\n";
  }
  /// An XBackend at a port of this machine, by a name that the settings map to it.
  static std::string external(const std::string& name, std::uint16_t at) {
    return "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {namespace: demo, name: " +
           name + "}\nspec: {type: ExternalHostname, port: {port: " + std::to_string(at) +
           "}, protocol: HTTP, externalHostname: {hostname: origin.test}}\n---\n";
  }
  static std::string toExternal(const std::string& name) {
    return "{group: gateway.networking.x-k8s.io, kind: XBackend, name: " + name + "}";
  }
  static std::string service(const std::string& name, std::uint16_t at) {
    return "apiVersion: v1\nkind: Service\nmetadata: {namespace: demo, name: " + name +
           "}\nspec: {selector: {app: x}, sessionAffinity: ClientIP, ports: [{name: web, port: 80, targetPort: web}]}\n"
           "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: demo, name: " +
           name + "-1, labels: {kubernetes.io/service-name: " + name +
           "}}\naddressType: IPv4\nports: [{name: web, port: " + std::to_string(at) +
           "}]\nendpoints: [{addresses: [127.0.0.1], conditions: {ready: true, serving: true, terminating: false}, "
           "nodeName: n-1, zone: z, targetRef: {kind: Pod, namespace: demo, name: p}}]\n---\n";
  }
  static std::string toService(const std::string& name) { return "{name: " + name + ", port: 80}"; }

  /// Starts a gateway that has no files, with the administrator's kubeconfig or another one.
  void startGateway(const std::vector<std::string>& more = {}, const std::string& kubeconfig = "",
                    const std::vector<std::string>& environment = {}) {
    GatewaySpec spec;
    spec.files = false;
    spec.waitFor = Started::kLive;
    spec.options = {"--kubernetes", "--kubeconfig", kubeconfig.empty() ? server->kubeconfig() : kubeconfig};
    spec.options.insert(spec.options.end(), more.begin(), more.end());
    spec.environment = environment;
    sluice = std::make_unique<GatewayProcess>(spec);
  }
  /// Returns the answer of the gateway's listener: a body if the status is 200, else the status; "none" if it does not
  /// listen.
  std::string ask(const std::string& path = "/") const {
    BlockingSocket client = BlockingSocket::connect(port);
    if (!client.ok()) return "none";
    const ReceivedResponse answer = askRaw(client, "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return answer.status == 200 ? answer.body : std::to_string(answer.status);
  }
  testing::AssertionResult answers(const std::string& path, const std::string& expected,
                                   std::chrono::milliseconds patience = kPatience) const {
    std::string last;
    const auto holds = [&] {
      last = ask(path);
      return last == expected;
    };
    if (eventually(holds, patience)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << path << " is answered with " << last << "\n" << sluice->process().errors();
  }
  /// Returns how often the gateway's log has this.
  std::size_t logged(const std::string& text) const { return sluice->process().said(text); }

  KubeApiServer* server = nullptr;
  std::unique_ptr<Kubectl> kubectl;
  RawOrigin one{RawOrigin::answering(saying("one"))};
  RawOrigin two{RawOrigin::answering(saying("two"))};
  const std::uint16_t port = freePort();

 private:
  std::unique_ptr<KubeApiServer> ownServer_;

 protected:
  std::unique_ptr<GatewayProcess> sluice;  // ends first
};

}  // namespace sluice::test
