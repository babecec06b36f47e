// Applies what config/kustomize and `sluice manifests` have to a real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kKustomize = SLUICE_SOURCE_DIR "/config/kustomize/";
constexpr const char* kTheirImage = "registry.example.com/sluice:1";
constexpr const char* kBothImages =
    R"(registry.example.com/sluice:1 ["controller","--image","registry.example.com/sluice:1"])";
constexpr std::size_t kManifestObjects = 15;

std::vector<std::string> eachLine(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Kustomize : public KubernetesTest {
 protected:
  void SetUp() override {
    KubernetesTest::SetUp();
    if (IsSkipped()) return;
    server_ = std::make_unique<KubeApiServer>(
        std::vector<std::string>{"--authorization-mode", "RBAC", "--token-auth-file",
                                 folder_.write("tokens", "secret,system:serviceaccount:ops:sluice-controller,1\n")});
    kubectl_ = std::make_unique<Kubectl>(server_->kubeconfig());
    installGatewayApi(*kubectl_);
  }
  const Kubectl& kubectl() const { return *kubectl_; }
  /// Returns the path of a file with what `sluice manifests` prints.
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
  /// Returns the path of a kubeconfig of the controller's ServiceAccount in the namespace ops.
  std::string controllersKubeconfig() const {
    std::string text = kubeconfigOf(server_->url(), server_->dataFolder() + "/ca.crt", "{token: secret}");
    const std::string context = "user: test}}]";
    text.replace(text.rfind(context), context.size(), "user: test, namespace: ops}}]");
    return folder_.write("kubeconfig", text);
  }

 private:
  TempDir folder_;
  std::unique_ptr<KubeApiServer> server_;
  std::unique_ptr<Kubectl> kubectl_;
};

TEST_F(Kustomize, TheManifestsOfTheProgramAreAppliedAtOnceAndOnce) {
  const std::string file = manifests();
  EXPECT_THAT(eachLine(kubectl().expect({"apply", "-f", file})),
              AllOf(SizeIs(kManifestObjects), Each(EndsWith(" created"))));
  EXPECT_THAT(eachLine(kubectl().expect({"apply", "-f", file})),
              AllOf(SizeIs(kManifestObjects), Each(EndsWith(" unchanged"))));
  kubectl().expect({"apply", "--server-side", "--force-conflicts", "-f", file});
}

TEST_F(Kustomize, TheManifestsOfTheProgramAreThoseOfTheKustomization) {
  kubectl().expect({"apply", "-k", kKustomize + "default"});
  EXPECT_THAT(eachLine(kubectl().expect({"apply", "-f", manifests()})),
              AllOf(SizeIs(kManifestObjects), Each(EndsWith(" unchanged"))));
}

TEST_F(Kustomize, AnotherNamespaceHasEverythingThatOneHas) {
  kubectl().expect({"apply", "-f", manifests({"--namespace", "ops", "--image", kTheirImage})});
  const std::string everything =
      kubectl().expect({"get", "serviceaccounts,configmaps,deployments,roles,rolebindings", "--all-namespaces", "-o",
                        R"(jsonpath={range .items[*]}{.metadata.namespace}{"\n"}{end})"});
  EXPECT_THAT(eachLine(everything), AllOf(SizeIs(5), Each(std::string("ops"))));
  EXPECT_EQ(kubectl().get("gatewayclass", "", "egress", "{.spec.parametersRef.namespace}"), "ops");
  EXPECT_EQ(kubectl().get("clusterrolebinding", "", "sluice-controller", "{.subjects[*].namespace}"), "ops");
  EXPECT_EQ(kubectl().get("rolebinding", "ops", "sluice-controller", "{.subjects[*].namespace}"), "ops");
  EXPECT_EQ(kubectl().get("namespace", "", "sluice-system", "{.metadata.name}"), "");
  EXPECT_EQ(imagesOfTheController("ops"), kBothImages);
}

TEST_F(Kustomize, AKustomizationOfOnesOwnChangesTheImageOfTheControllerAndOfGateways) {
  const std::string theirs =
      kustomizationOf("resources: [\"" + fromThere("default") + "\"]\ntransformers: [\"" + fromThere("image") +
                      "\"]\nimages: [{name: sluice, newName: registry.example.com/sluice, newTag: \"1\"}]\n");
  kubectl().expect({"apply", "-k", theirs});
  EXPECT_EQ(imagesOfTheController("sluice-system"), kBothImages);
}

TEST_F(Kustomize, TheControllerHasTheRightsThatItNeeds) {
  kubectl().expect({"apply", "-f", manifests({"--namespace", "ops", "--image", kTheirImage})});
  EXPECT_EQ(imagesOfTheController("ops"), kBothImages);
  ClusterProcess controller({"controller", "--image", kTheirImage}, controllersKubeconfig());
  controller.waitUntilItLeads();
  const std::string accepted = R"({.status.conditions[?(@.type=="Accepted")].status})";
  EXPECT_TRUE(kubectl().waitFor("gatewayclass", "", "egress", accepted, "True"));
  EXPECT_TRUE(
      kubectl().waitFor("configmap", "ops", "egress-extension-kinds", "{.metadata.name}", "egress-extension-kinds"));
  kubectl().apply(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: default, name: out}\nspec:\n"
      "  gatewayClassName: egress\n  listeners: [{name: http, protocol: HTTP, port: 10080}]\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: default, name: lost}\nspec:\n"
      "  parentRefs: [{name: out}]\n  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: missing}]}]\n"
      "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: default, name: origin}\n"
      "spec: {destination: {type: Fqdn, fqdn: {hostname: api.example.com, port: 443}}}\n");
  EXPECT_TRUE(kubectl().waitFor("gateway", "default", "out", accepted, "True"));
  EXPECT_TRUE(kubectl().waitFor("httproute", "default", "lost",
                                R"({.status.parents[0].conditions[?(@.type=="ResolvedRefs")].reason})",
                                "BackendNotFound"));
  EXPECT_TRUE(kubectl().waitFor("sbe", "default", "origin",
                                R"({.status.controllers[0].conditions[?(@.type=="Accepted")].status})", "True"));
  EXPECT_TRUE(kubectl().waitFor("deployment", "default", "out-egress", "{.spec.template.spec.containers[*].image}",
                                kTheirImage));
  EXPECT_TRUE(kubectl().waitFor("clusterrolebinding", "", "sluice-gateways", "{.roleRef.name}", "sluice-gateway"));
  EXPECT_TRUE(eventually([this] {
    return !kubectl().expect({"get", "events.events.k8s.io", "--all-namespaces", "-o", "name"}).empty();
  }));
  EXPECT_EQ(controller.process().said("cannot"), 0u) << controller.process().output() << controller.process().errors();
}

TEST_F(Kustomize, EnforcedEgressIsForTheNamespaceThatItIsAppliedTo) {
  kubectl().expect({"create", "namespace", "team-a"});
  const std::vector<std::string> apply = {"apply", "-n", "team-a", "-k", kKustomize + "enforced-egress"};
  EXPECT_THAT(eachLine(kubectl().expect(apply)), AllOf(SizeIs(3), Each(EndsWith(" created"))));
  EXPECT_THAT(eachLine(kubectl().expect(apply)), Each(EndsWith(" unchanged")));
  kubectl().expect({"apply", "-n", "team-a", "-f", kKustomize + "enforced-egress/within-cluster.yaml"});
  const std::string policies = kubectl().expect(
      {"get", "networkpolicies", "--all-namespaces", "-o",
       R"(jsonpath={range .items[*]}{.metadata.namespace} {.spec.policyTypes} {.spec.podSelector}{"\n"}{end})"});
  EXPECT_THAT(eachLine(policies), AllOf(SizeIs(4), Each(std::string(R"(team-a ["Egress"] {})"))));
  EXPECT_EQ(kubectl().get("networkpolicy", "team-a", "deny-direct-egress", "{.spec.egress}"), "");
}

}  // namespace
}  // namespace sluice::test
