// A fixture of a controller that provisions Gateways in a real API server, and of gateways with the rights of the Pods.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {

class KubeProvisioning : public KubeSourceTest {
 protected:
  static constexpr const char* kPods = "egress-test";  // the Gateway and its class
  static constexpr const char* kReplicas = "{.spec.replicas}";
  static constexpr const char* kImage = "{.spec.template.spec.containers[0].image}";
  static constexpr const char* kProvisionedName = "{.metadata.name}";

  void startServerWithOurKinds() {
    startServer(InstalledKinds::kGatewayApiAndOurs);
    applyRole();
  }
  void applyRole() const {
    kubectl->expect({"apply", "--server-side", "-f", SLUICE_SOURCE_DIR "/config/kustomize/default/gateway-role.yaml"});
  }
  void startController() {
    controller = std::make_unique<ChildProcess>(std::vector<std::string>{
        programPath("sluice"), "controller", "--image", "example.com/sluice:1", "--kubeconfig", server->kubeconfig(),
        "--admin", "127.0.0.1:" + std::to_string(freePort()), "--health", "127.0.0.1:" + std::to_string(freePort())});
    EXPECT_TRUE(controller->waitForLine("this controller leads")) << controller->errors();
  }
  void stopController() {
    if (controller == nullptr) return;
    controller->signal(SIGTERM);
    EXPECT_EQ(controller->wait(), 0) << controller->errors();
    controller.reset();
  }
  void TearDown() override { stopController(); }

  std::string deployment(const char* path) const { return kubectl->get("deployment", "demo", kPods, path); }
  bool deploymentHas(const char* path, const std::string& value) const {
    return kubectl->waitFor("deployment", "demo", kPods, path, value);
  }
  static std::string parameters(const std::string& spec) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {namespace: demo, name: ours}\nspec: "
           "{" +
           spec + "}\n---\n";
  }
  void provisioning(const std::string& rest) const { settings("provisioning: {" + rest + "}"); }
  /// Adds to the settings of the class.
  void settings(const std::string& more) const {
    kubectl->expect({"patch", "configmap", "--namespace", "demo", "settings", "--type=merge", "-p",
                     R"({"data":{"settings.yaml":"workers: 1\ndns: {hosts: {origin.test: [127.0.0.1]}}\naddressGuard: )"
                     R"({allow: [127.0.0.0/8]}\naccessLog: {path: /dev/null}\n)" +
                         more + R"(\n"}})"});
  }
  std::string accepted(const char* what) const {
    return kubectl->get("gateway", "demo", "egress",
                        (std::string("{.status.conditions[?(@.type==\"Accepted\")].") + what + "}").c_str());
  }
  /// The Gateway at all addresses of its Pods, with these parameters.
  std::string gatewayWith(const std::string& more) const {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
           "  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(port) + "}]\n" + more + "---\n";
  }
  static constexpr const char* kOurs =
      "  infrastructure: {labels: {team: payments}, parametersRef: {group: sluice.dev, kind: GatewayParameters, name: "
      "ours}}\n";

  std::unique_ptr<ChildProcess> controller;
};

/// A Gateway with the rights of its Pods and no others. Its route goes to a Backend that adds the value of a Secret.
class KubeRights : public KubeProvisioning {
 protected:
  /// Starts an API server that knows the Pods by a token.
  void startServerWithPods() {
    startOwnServer({"--authorization-mode", "RBAC", "--token-auth-file",
                    folder.write("tokens", "pod-token,system:serviceaccount:demo:egress-test,1\n")},
                   InstalledKinds::kGatewayApiAndOurs);
    applyRole();
    kubectl->apply(
        secretWithItsName("demo", "named") + secretWithItsName("demo", "other") +
        gatewayWith("  infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: own}}\n") +
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: own}\ndata:\n  gateway-parameters.yaml: "
        "'settings: {drainTimeout: 9s, requestId: {header: x-demo-id}}'\n---\n" +
        originWith("named") + route("all", "/", "{group: sluice.dev, kind: Backend, name: origin}"));
  }
  static std::string secretWithItsName(const std::string& nameSpace, const std::string& name) {
    return "apiVersion: v1\nkind: Secret\nmetadata: {namespace: " + nameSpace + ", name: " + name +
           "}\nstringData: {key: value-of-" + name + "}\n---\n";
  }
  static std::string injector(const std::string& secret, const std::string& nameSpace) {
    return "    - {name: add, type: \"gateway.networking.k8s.io/CredentialInjector:v1\", phase: request-headers, "
           "config: "
           "{allowPlaintext: true, secretRef: {name: " +
           secret + ", key: key, namespace: " + nameSpace + "}}}\n";
  }
  std::string originWith(const std::string& secret) const {
    return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: origin}\nspec:\n  "
           "destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
           std::to_string(one.port()) + "}}\n  extensions:\n" + injector(secret, "demo") + "---\n";
  }
  bool may(const std::string& verb, const std::string& object, const std::string& nameSpace = "demo") const {
    return kubectl
               ->run({"auth", "can-i", verb, object, "--namespace", nameSpace, "--as",
                      "system:serviceaccount:demo:egress-test"})
               .exitCode == 0;
  }
  bool mayNotSoon(const std::string& verb, const std::string& object) const {
    return eventually([&] { return !may(verb, object); });
  }
  void startGatewayAsPod() {
    std::string kubeconfig = kubeconfigOf(server->url(), server->dataFolder() + "/ca.crt", "{token: pod-token}");
    kubeconfig.replace(kubeconfig.rfind("user: test}"), 11, "user: test, namespace: demo}");
    startGateway({"--gateway", "demo/egress"}, folder.write("kubeconfig", kubeconfig),
                 {"POD_NAME=" + std::string(kPods) + "-5d9c7b8f6-x2x4z", "POD_UID=u-1"});
  }
  /// Waits until requests reach the origin with the value of that Secret.
  testing::AssertionResult addsValueOf(const std::string& secret) {
    const std::string field = "authorization: Bearer value-of-" + secret + "\r\n";
    const auto adds = [&] { return ask("/") == "one" && one.heads().back().find(field) != std::string::npos; };
    if (eventually(adds)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << secret << "\n" << sluice->process().errors() << "\n" << controller->errors();
  }
  bool hasRevisionIn(const std::string& state) const {
    return eventually([&] {
      return kubectl->expect({"get", "egressrevisions", "--namespace", "demo"}).find(" " + state + " ") !=
             std::string::npos;
    });
  }
  ProgramOutcome rollBack(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {"revisions",   "rollback",     "--gateway",
                                        "demo/egress", "--kubeconfig", server->kubeconfig()};
    command.insert(command.end(), more.begin(), more.end());
    return test::sluice(command);
  }

  const TempDir folder;
};

}  // namespace sluice::test
