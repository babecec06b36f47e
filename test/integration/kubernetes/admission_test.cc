// With config/kustomize/admission a real API server refuses payload processors of types that the controller's catalog
// has not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/kustomize_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKnownType = "sluice.dev/HeaderModifier:v1";
constexpr const char* kUnknownType = "acme.example.com/PromptGuard:v1";
constexpr const char* kListOfTypes = "egress-extension-kinds";

/// Returns an object of sluice.dev; `spec` is a map in YAML.
std::string ownObject(const std::string& kind, const std::string& name, const std::string& spec) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: " + kind + "\nmetadata: {namespace: default, name: " + name +
         "}\nspec: {" + spec + "}\n---\n";
}
/// Returns a list of uses of one type each.
std::string listOfUses(const std::vector<std::string>& types) {
  std::string uses;
  for (const std::string& each : types) {
    uses += (uses.empty() ? "{name: u" : ", {name: u") + std::to_string(uses.size()) +
            ", phase: request-headers, type: \"" + each + "\"}";
  }
  return "[" + uses + "]";
}
std::string pipelineOf(const std::vector<std::string>& types, const std::string& name = "pipeline") {
  return ownObject("PayloadProcessingPipeline", name, "processors: " + listOfUses(types));
}
std::string processorOf(const std::vector<std::string>& types) {
  return ownObject(
      "PayloadProcessor", "processor",
      "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}, processors: " + listOfUses(types));
}
std::string backendOf(const std::vector<std::string>& types) {
  return ownObject(
      "Backend", "backend",
      "destination: {type: Fqdn, fqdn: {hostname: api.example.com}, ports: [{number: 443}]}, extensions: " +
          listOfUses(types));
}

class KustomizeAdmission : public KustomizeTest {
 protected:
  void SetUp() override {
    KustomizeTest::SetUp();
    if (IsSkipped()) return;
    kubectl().expect({"apply", "-f", manifests()});
    kubectl().expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
    controller_ = std::make_unique<ClusterProcess>(std::vector<std::string>{"controller", "--image", kTheirImage},
                                                   controllersKubeconfig("sluice-system"));
    kubectl().expect(
        {"wait", "-n", "sluice-system", "--for=create", "--timeout=100s", std::string("configmap/") + kListOfTypes});
  }
  /// Applies config/kustomize/admission and waits until the API server goes by it.
  void beginAdmission() {
    kubectl().expect({"apply", "-k", kKustomize + "admission"});
    EXPECT_TRUE(eventually([this] { return applied(pipelineOf({kUnknownType}, "probe"), true).exitCode != 0; }));
  }
  ProgramOutcome applied(const std::string& text, bool dryRun = false) const {
    return kubectl().run(
        {"apply", dryRun ? "--dry-run=server" : "--dry-run=none", "-f", folder_.write("a.yaml", text)});
  }
  std::string refusalOf(const std::string& text) const {
    const ProgramOutcome outcome = applied(text);
    EXPECT_NE(outcome.exitCode, 0) << text << outcome.output;
    return outcome.errors;
  }
  void expectApplied(const std::string& text) const {
    const ProgramOutcome outcome = applied(text);
    EXPECT_EQ(outcome.exitCode, 0) << text << outcome.errors;
  }

 private:
  TempDir folder_;
  std::unique_ptr<ClusterProcess> controller_;
};

TEST_F(KustomizeAdmission, RefusesTypesThatTheCatalogHasNotAndSaysWhereItIs) {
  beginAdmission();
  const std::string why = "the catalog of payload processors has no type " + std::string(kUnknownType) +
                          "; the ConfigMap sluice-system/egress-extension-kinds lists its types";
  for (const std::string& each :
       {pipelineOf({kKnownType, kUnknownType}), processorOf({kUnknownType}), backendOf({kUnknownType, kKnownType})}) {
    EXPECT_THAT(refusalOf(each), HasSubstr(why));
  }
  EXPECT_THAT(refusalOf(pipelineOf({"sluice.dev/HeaderModifier:v2"})),
              HasSubstr("no type sluice.dev/HeaderModifier:v2;"))
      << "a version counts";
  EXPECT_THAT(refusalOf(pipelineOf({"sluice.dev/Header:v1", kUnknownType})),
              HasSubstr("no type sluice.dev/Header:v1, acme.example.com/PromptGuard:v1;"));
  expectApplied(pipelineOf({kKnownType, "gateway.networking.k8s.io/QoSController:v1"}));
  expectApplied(processorOf({kKnownType}));
  expectApplied(backendOf({kKnownType}));
  expectApplied(ownObject("Backend", "plain",
                          "destination: {type: Fqdn, fqdn: {hostname: a.example.com}, ports: "
                          "[{number: 443}]}"));
  expectApplied(
      ownObject("PayloadProcessingPipeline", "other-spellings",
                "processors: [{name: a, type: ExtProcess, extProcess: {backendRef: {name: guard, port: 9002}}}, "
                "{name: b, backendRefs: [{name: guard, port: 9002}]}]"));
}

TEST_F(KustomizeAdmission, LetsObjectsBeChangedWhoseTypeHasLeftTheCatalog) {
  expectApplied(pipelineOf({kUnknownType}));
  beginAdmission();
  kubectl().expect({"label", "payloadprocessingpipelines.sluice.dev", "pipeline", "team=payments"});
  expectApplied(pipelineOf({kUnknownType, kKnownType}));
  EXPECT_THAT(refusalOf(pipelineOf({kUnknownType, "acme.example.com/Other:v1"})),
              AllOf(HasSubstr("no type acme.example.com/Other:v1;"), Not(HasSubstr(kUnknownType))));
  expectApplied(pipelineOf({kKnownType}));
  EXPECT_THAT(refusalOf(pipelineOf({kUnknownType})), HasSubstr(kUnknownType)) << "it had it no more";
}

TEST_F(KustomizeAdmission, RefusesWhatHasProcessorsWhileThereIsNoList) {
  beginAdmission();
  kubectl().expect({"delete", "configmap", "-n", "sluice-system", kListOfTypes});
  EXPECT_TRUE(eventually([this] { return applied(pipelineOf({kKnownType}), true).exitCode != 0; }));
  EXPECT_THAT(refusalOf(pipelineOf({kKnownType})), HasSubstr("sluice-processor-types"));
}

}  // namespace
}  // namespace sluice::test
