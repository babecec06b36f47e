// config/kustomize/quickstart is a way out that answers once the controller of config/kustomize/default runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/kustomize_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kQuickstartNamespace = "egress-quickstart";

class KustomizeQuickstart : public KustomizeTest {
 protected:
  /// Waits until a condition of an object is true; `at` is where its conditions are.
  void expectTrue(const std::string& kind, const std::string& name, const std::string& at, const std::string& type) {
    const std::string path = "{.status." + at + "conditions[?(@.type==\"" + type + "\")].status}";
    EXPECT_TRUE(kubectl().waitFor(kind, kQuickstartNamespace, name, path, "True")) << kind << " " << type;
  }
};

TEST_F(KustomizeQuickstart, HasAllThatTheInstalledControllerNeedsToServeIt) {
  kubectl().expect({"apply", "-f", manifests({"--image", kTheirImage})});
  kubectl().expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
  ClusterProcess controller({"controller", "--image", kTheirImage}, controllersKubeconfig("sluice-system"));
  kubectl().expect({"apply", "-k", kKustomize + "quickstart"});
  expectTrue("gateway", "egress", "", "Accepted");
  expectTrue("httproute", "everything", "parents[0].", "Accepted");
  expectTrue("httproute", "everything", "parents[0].", "ResolvedRefs");
  expectTrue("backends.sluice.dev", "example", "controllers[0].", "Accepted");
  EXPECT_TRUE(kubectl().waitFor("deployment", kQuickstartNamespace, "egress-egress",
                                "{.spec.template.spec.containers[*].image}", kTheirImage));
  EXPECT_TRUE(kubectl().waitFor("gateway", kQuickstartNamespace, "egress",
                                "{.status.conditions[?(@.type==\"Programmed\")].reason}", "NoResources"));
  // This server has no controller of Deployments.
  kubectl().expect({"patch", "deployment", "-n", kQuickstartNamespace, "egress-egress", "--subresource=status",
                    "--type=merge", "-p",
                    R"({"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"availableReplicas":2}})"});
  expectTrue("gateway", "egress", "", "Programmed");
  expectTrue("gateway", "egress", "", "sluice.dev/Available");
  EXPECT_TRUE(kubectl().waitFor("service", kQuickstartNamespace, "egress-egress", "{.spec.ports[*].port}", "80"));
  EXPECT_EQ(controller.process().said("cannot"), 0u) << controller.process().errors();
}

TEST(QuickstartOfKustomize, IsValidAndHasTheCertificateVerified) {
  const ProgramOutcome valid = sluice({"validate", kKustomize + "default", kKustomize + "quickstart"});
  EXPECT_EQ(valid.exitCode, 0) << valid.output << valid.errors;
  const ProgramOutcome got = sluice({"explain", "--config", kKustomize + "default", "--config",
                                     kKustomize + "quickstart", "--url", "http://egress-egress.egress-quickstart/"});
  EXPECT_EQ(got.exitCode, 0) << got.errors;
  EXPECT_THAT(got.output, AllOf(HasSubstr("goes to   example.com, port 443,"),
                                HasSubstr("SNI example.com, verified for example.com\n")));
}

}  // namespace
}  // namespace sluice::test
