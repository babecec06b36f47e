// A fixture of a cluster with Pods (test/support/kube/stand_in), in which the controller is installed as its users do,
// and of a server that Pods reach by the name "origin.test".
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/kubernetes/stand_in_cluster.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {

class ClusterTest : public KubernetesTest {
 protected:
  static constexpr const char* kOperators = "sluice-system";  // the namespace of the controller
  static constexpr std::uint16_t kOriginPort = 8000;

  void SetUp() override {
    KubernetesTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string obstacle = PodNetwork::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
    const std::string program = programPath("sluice");
    cluster_ = std::make_unique<StandInCluster>(
        std::vector<std::string>{"sluice:1=" + program, "sluice:2=" + program, "failing:1=/bin/false"});
    origin_ = std::make_unique<ChildProcess>(std::vector<std::string>{
        programPath("sluice-echo"), "--listen", PodNetwork::kAddress + (":" + std::to_string(kOriginPort))});
    EXPECT_TRUE(origin_->waitForLine("listening on ")) << origin_->errors();
  }
  const Kubectl& kubectl() const { return cluster_->kubectl(); }

  /// Returns the settings of the GatewayClass, whose Gateways may reach the network of the Pods.
  static std::string settings(const std::string& provisioning = "{allowImage: true}") {
    return std::string("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ") + kOperators +
           ", name: settings}\ndata:\n  settings.yaml: |\n    workers: 1\n    dns: {hosts: {origin.test: [" +
           PodNetwork::kAddress + "]}}\n    addressGuard: {allow: [" + PodNetwork::kRange +
           "]}\n    accessLog: {path: /dev/null}\n    provisioning: " + provisioning + "\n";
  }
  /// Installs the kinds and the controller.
  void install() const {
    installGatewayApi(kubectl());
    kubectl().apply(sluice({"manifests", "--image", "sluice:1"}).output);
    kubectl().expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
    kubectl().apply(settings());
    EXPECT_TRUE(cluster_->isRolledOut(kOperators, "sluice-controller"));
  }

  std::unique_ptr<StandInCluster> cluster_;
  std::unique_ptr<ChildProcess> origin_;
};

}  // namespace sluice::test
