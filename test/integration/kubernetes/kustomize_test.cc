// Applies the manifests of config/kustomize and of `sluice manifests` to a real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/kubernetes/kustomize_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kBothImages =
    R"(registry.example.com/sluice:1 ["controller","--image","registry.example.com/sluice:1"])";
constexpr std::size_t kOtherManifests = 10;  // besides the CustomResourceDefinitions

std::size_t manifestObjects() {
  std::size_t count = kOtherManifests;
  for (const auto& file : std::filesystem::directory_iterator(kKustomize + "crds")) {
    if (file.path().filename() != "kustomization.yaml") ++count;
  }
  return count;
}

std::vector<std::string> eachLine(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Kustomize : public KustomizeTest {};

TEST_F(Kustomize, TheManifestsOfTheProgramAreAppliedAtOnceAndOnce) {
  const std::string file = manifests();
  EXPECT_THAT(eachLine(kubectl().expect({"apply", "-f", file})),
              AllOf(SizeIs(manifestObjects()), Each(EndsWith(" created"))));
  EXPECT_THAT(eachLine(kubectl().expect({"apply", "-f", file})),
              AllOf(SizeIs(manifestObjects()), Each(EndsWith(" unchanged"))));
  kubectl().expect({"apply", "--server-side", "--force-conflicts", "-f", file});
}

TEST_F(Kustomize, TheManifestsOfTheProgramAreThoseOfTheKustomization) {
  kubectl().expect({"apply", "-k", kKustomize + "default"});
  EXPECT_THAT(eachLine(kubectl().expect({"apply", "-f", manifests()})),
              AllOf(SizeIs(manifestObjects()), Each(EndsWith(" unchanged"))));
}

TEST_F(Kustomize, WhatAnEarlierVersionHasInstalledIsUpgradedInPlace) {
  const TempDir folder;
  const std::string landed = folder.path() + "/landed.yaml";
  const std::string packed = SLUICE_SOURCE_DIR "/test/support/kube/landed.yaml.gz";
  ASSERT_EQ(run({"sh", "-c", "gunzip -c " + packed + " > " + landed}).exitCode, 0);
  kubectl().expect({"apply", "-f", landed});
  kubectl().expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
  const std::string valid = SLUICE_SOURCE_DIR "/test/support/kube/objects/valid/";
  // The earlier version does not know all fields of today.
  kubectl().expect(
      {"apply", "--validate=ignore", "-f", valid + "gatewayparameters.yaml", "-f", valid + "trafficpolicies.yaml"});
  const std::vector<std::string> objects = {"get", "gatewayparameters,trafficpolicies", "-o", "name"};
  const std::string before = kubectl().expect(objects);
  EXPECT_NE(before, "");
  kubectl().expect({"apply", "-f", manifests()});
  EXPECT_EQ(kubectl().expect(objects), before);
  // A downgrade works in the same way.
  kubectl().expect({"apply", "-f", landed});
  EXPECT_EQ(kubectl().expect(objects), before);
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
  ClusterProcess controller({"controller", "--image", kTheirImage}, controllersKubeconfig("ops"));
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
  EXPECT_TRUE(kubectl().waitFor("clusterrolebinding", "", "sluice-gateway.default.out-egress", "{.roleRef.name}",
                                "sluice-gateway"));
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
