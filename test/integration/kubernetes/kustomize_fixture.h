// The parts that tests of config/kustomize share: an API server with the kinds of Gateway API and RBAC, and the objects
// that a user applies to it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/kubernetes/shared_api_server.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {

inline const std::string kKustomize = SLUICE_SOURCE_DIR "/config/kustomize/";
inline constexpr const char* kTheirImage = "registry.example.com/sluice:1";

class KustomizeTest : public KubernetesTest {
 protected:
  void SetUp() override {
    KubernetesTest::SetUp();
    if (IsSkipped()) return;
    // The token of a controller is the name of its namespace.
    const std::string account = ":sluice-controller,";
    const std::string tokens = "ops,system:serviceaccount:ops" + account + "1\n" +
                               "sluice-system,system:serviceaccount:sluice-system" + account + "2\n";
    server_ = ownApiServer(InstalledKinds::kGatewayApi,
                           {"--authorization-mode", "RBAC", "--token-auth-file", folder_.write("tokens", tokens)});
    kubectl_ = std::make_unique<Kubectl>(server_->kubeconfig());
  }
  const Kubectl& kubectl() const { return *kubectl_; }
  const KubeApiServer& server() const { return *server_; }
  /// Returns the path of a file with the output of `sluice manifests`.
  std::string manifests(std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), "manifests");
    const ProgramOutcome printed = sluice(flags);
    EXPECT_EQ(printed.exitCode, 0) << printed.errors;
    return folder_.write("manifests.yaml", printed.output);
  }
  /// Returns the image of the controller's Pods, and behind it the arguments, of which one is that of Gateways.
  std::string imagesOfTheController(const std::string& nameSpace) const {
    const char* const each = "{.spec.template.spec.containers[*].image} {.spec.template.spec.containers[*].args}";
    return kubectl().get("deployment", nameSpace, "sluice-controller", each);
  }
  /// Makes a folder with this kustomization, and returns its path.
  std::string kustomizationOf(const std::string& text) const {
    std::filesystem::create_directory(folder_.path() + "/theirs");
    folder_.write("theirs/kustomization.yaml", text);
    return folder_.path() + "/theirs";
  }
  /// Returns the path of a folder of config/kustomize as such a kustomization names it, which knows no absolute paths.
  std::string fromThere(const std::string& name) const {
    return std::filesystem::relative(kKustomize + name, std::filesystem::canonical(folder_.path()) / "theirs").string();
  }
  /// Returns the path of a kubeconfig of the controller's ServiceAccount in a namespace, which is ops or sluice-system.
  std::string controllersKubeconfig(const std::string& nameSpace) const {
    std::string text = kubeconfigOf(server_->url(), server_->dataFolder() + "/ca.crt", "{token: " + nameSpace + "}");
    const std::string context = "user: test}}]";
    text.replace(text.rfind(context), context.size(), "user: test, namespace: " + nameSpace + "}}]");
    return folder_.write("kubeconfig", text);
  }

 private:
  TempDir folder_;
  std::unique_ptr<KubeApiServer> server_;
  std::unique_ptr<Kubectl> kubectl_;
};

}  // namespace sluice::test
