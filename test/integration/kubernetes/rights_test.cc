// Tests which objects the Pods of Gateways may read and write in a real cluster, and that a tenant cannot abuse these
// rights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/provisioning_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(KubeRights, AreThoseThatPodsNeedAndNoOthers) {
  startServerWithPods();
  kubectl->apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: vault}\n---\n" +
                 secretWithItsName("vault", "not-granted") +
                 "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: demo, name: "
                 "greedy}\nspec:\n  processors:\n" +
                 injector("not-granted", "vault"));
  startController();
  ASSERT_TRUE(kubectl->waitFor("deployment", "demo", kPods, kProvisionedName, kPods)) << controller->errors();
  EXPECT_TRUE(eventually([&] { return may("list", "secret/named"); })) << controller->errors();
  EXPECT_FALSE(may("list", "secret/other"));
  EXPECT_FALSE(may("list", "secrets"));
  EXPECT_FALSE(may("list", "secret/not-granted", "vault")) << "nobody has granted it";
  EXPECT_FALSE(may("create", "pods"));
  EXPECT_TRUE(may("create", "egressrevisions.sluice.dev"));
  for (const char* verb : {"update", "patch", "delete"}) EXPECT_FALSE(may(verb, "egressrevisions.sluice.dev")) << verb;
  EXPECT_NE(kubectl
                ->run({"auth", "can-i", "patch", "egressrevisions.sluice.dev", "--subresource", "status", "--namespace",
                       "demo", "--as", "system:serviceaccount:demo:egress-test"})
                .exitCode,
            0)
      << "without a status of the controller none counts";
  EXPECT_TRUE(may("list", "configmap/settings"));
  EXPECT_TRUE(may("list", "configmap/own"));
  EXPECT_EQ(deployment("{.spec.template.spec.terminationGracePeriodSeconds}"), "14") << "by its own drainTimeout";

  startGatewayAsPod();
  ASSERT_TRUE(addsValueOf("named"));
  EXPECT_THAT(one.heads().back(), HasSubstr("x-demo-id: ")) << "by its own settings";
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "all",
                               R"({.status.parents[0].conditions[?(@.type=="sluice.dev/Programmed")].status})", "True"))
      << "it may report what it serves";
}

TEST_F(KubeRights, AreThoseOfARevisionThatIsBroughtBack) {
  startServerWithPods();
  startController();
  startGatewayAsPod();
  ASSERT_TRUE(addsValueOf("named"));
  ASSERT_TRUE(hasRevisionIn("Served")) << controller->errors();
  kubectl->apply(originWith("other"));
  ASSERT_TRUE(addsValueOf("other"));
  EXPECT_TRUE(mayNotSoon("list", "secret/named"));
  ASSERT_TRUE(hasRevisionIn("Superseded")) << controller->errors();

  ASSERT_EQ(rollBack().exitCode, 0);
  EXPECT_TRUE(addsValueOf("named"));
  EXPECT_TRUE(may("list", "secret/other")) << "the newest objects still name it";
  ASSERT_EQ(rollBack({"--undo"}).exitCode, 0);
  EXPECT_TRUE(addsValueOf("other"));
  EXPECT_TRUE(mayNotSoon("list", "secret/named")) << controller->errors();
}

TEST_F(KubeRights, AreThoseOfTheRevisionFromWhichNewPodsStart) {
  startServerWithPods();
  startController();
  startGatewayAsPod();
  ASSERT_TRUE(addsValueOf("named"));
  ASSERT_TRUE(hasRevisionIn("Served")) << controller->errors();
  settings("drainTimeout: never");
  ASSERT_TRUE(hasRevisionIn("Tainted")) << controller->errors();
  kubectl->apply(originWith("other"));
  sluice.reset();
  startGatewayAsPod();
  EXPECT_TRUE(addsValueOf("named"));
  EXPECT_TRUE(may("list", "secret/named")) << "the newest objects do not name it any more";
  settings("");
  EXPECT_TRUE(addsValueOf("other"));
  EXPECT_TRUE(mayNotSoon("list", "secret/named")) << controller->errors();
}

/// A tenant, who may write Gateways, their parameters, routes and ConfigMaps in the namespace `tenant` and nothing
/// else, and a platform that lets his routes use a Backend of `vault`.
class KubeTenant : public KubeRights {
 protected:
  static constexpr const char* kPodOfTenant = "system:serviceaccount:tenant:egress-test";

  void startServerWithTenant() {
    startOwnServer({"--authorization-mode", "RBAC", "--token-auth-file",
                    folder.write("tokens", std::string("tenant-pod-token,") + kPodOfTenant + ",2\n")},
                   InstalledKinds::kGatewayApiAndOurs);
    applyRole();
    settings("sessionPersistence: {secretRef: {namespace: vault, name: of-class}}");
    kubectl->apply(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: tenant}\n---\n"
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: vault}\n---\n" +
        secretWithItsName("vault", "named") +
        "apiVersion: v1\nkind: Secret\nmetadata: {namespace: vault, name: of-class}\nstringData: {key: " +
        std::string(32, 'k') + "}\n---\n" + backendOfVault() +
        grant("HTTPRoute", "{group: sluice.dev, kind: Backend}") +
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {namespace: tenant, name: tenant}\nrules:\n"
        "  - {apiGroups: [gateway.networking.k8s.io], resources: [gateways, httproutes], verbs: ['*']}\n"
        "  - {apiGroups: [sluice.dev], resources: [gatewayparameters], verbs: ['*']}\n"
        "  - {apiGroups: [''], resources: [configmaps], verbs: ['*']}\n"
        "  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: ['*']}\n"
        "  - {apiGroups: [sluice.dev], resources: [egressrevisions], verbs: [create]}\n---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {namespace: tenant, name: tenant}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}\n"
        "subjects: [{kind: User, name: mallory}]\n");
  }
  std::string backendOfVault() const {
    return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: vault, name: origin}\nspec:\n  "
           "destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
           std::to_string(one.port()) + "}}\n  extensions:\n" + injector("named", "vault") + "---\n";
  }
  static std::string grant(const std::string& kind, const std::string& to) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: vault, name: to-" +
           std::string(kind == "Gateway" ? "gateways" : "routes") +
           "}\nspec: {from: [{group: gateway.networking.k8s.io, kind: " + kind + ", namespace: tenant}], to: [" + to +
           "]}\n---\n";
  }
  void asTenant(const std::string& yaml) const {
    kubectl->expect(
        {"apply", "--server-side", "--force-conflicts", "--as", "mallory", "-f", folder.write("of-tenant.yaml", yaml)});
  }
  std::string gatewayOfTenant(const std::string& more, const std::string& ofListener = {}) const {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: tenant, name: "
           "egress}\nspec:\n"
           "  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(port) + ofListener + "}]\n" + more + "---\n";
  }
  static std::string routeOfTenant() {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: tenant, name: all}\nspec: "
           "{parentRefs: [{name: egress}], rules: [{backendRefs: [{group: sluice.dev, kind: Backend, namespace: vault, "
           "name: origin}]}]}\n";
  }
  /// Writes the reports of a replica of the Gateway of another tenant, but in the tenant's own namespace.
  void speakForAnother() const {
    asTenant(
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  namespace: tenant\n  name: sluice-replica-pod\n"
        "  labels: {sluice.dev/replica-of: demo.egress}\n  annotations:\n    sluice.dev/report: "
        "'{\"replica\":\"pod\",\"replicaOf\":\"demo.egress\",\"gateway\":\"demo/egress\",\"state\":\"Rollback\","
        "\"desired\":\"x\",\"served\":\"y\",\"problem\":\"call "
        "555\",\"failedInAll\":1,\"failed\":[{\"kind\":\"Gateway\","
        "\"namespace\":\"demo\",\"name\":\"egress\",\"revision\":\"r\",\"reason\":\"Invalid\",\"message\":\"call "
        "555\"}]}'\n"
        "spec: {holderIdentity: pod, leaseDurationSeconds: 600}\n");
    kubectl->expect(
        {"create", "--as", "mallory", "-f",
         folder.write(
             "revision.yaml",
             "apiVersion: sluice.dev/v1alpha1\nkind: EgressRevision\nmetadata: {namespace: tenant, name: "
             "egress-abcdef012345}\nspec: {revision: abcdef012345, gatewayRef: {group: "
             "gateway.networking.k8s.io, kind: Gateway, name: egress}, data: H4sIAAAAAAAAAwMAAAAAAAAAAAA=}\n")});
  }
  bool podMay(const std::string& object, const std::string& nameSpace) const {
    return kubectl->run({"auth", "can-i", "list", object, "--namespace", nameSpace, "--as", kPodOfTenant}).exitCode ==
           0;
  }
  std::string ofTenant(const char* kind, const char* name, const std::string& path) const {
    return kubectl->get(kind, "tenant", name, path);
  }
};

TEST_F(KubeTenant, HasNoWayToWhatOthersHave) {
  startServerWithTenant();
  asTenant(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: tenant, name: own}\ndata: {gateway-parameters.yaml: "
      "'{image: example.com/reads-secrets:1}'}\n---\n" +
      gatewayOfTenant("  infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: own}}\n") +
      routeOfTenant());
  kubectl->apply(gatewayWith(""));  // of another tenant
  speakForAnother();
  startController();
  // The tenant does not choose the image of the Pods.
  const std::string accepted = R"({.status.conditions[?(@.type=="Accepted")].reason})";
  ASSERT_TRUE(kubectl->waitFor("gateway", "tenant", "egress", accepted, "InvalidParameters")) << controller->errors();
  EXPECT_EQ(ofTenant("deployment", kPods, kProvisionedName), "");
  EXPECT_EQ(ofTenant("serviceaccount", kPods, kProvisionedName), "");
  const ProgramOutcome upgrade =
      test::sluice({"check", "upgrade", "--kubeconfig", server->kubeconfig(), "--namespace", "default"});
  EXPECT_EQ(upgrade.exitCode, 1);
  EXPECT_THAT(upgrade.output, AllOf(HasSubstr("Gateway tenant/egress would lose Secret vault/named"),
                                    HasSubstr("ConfigMap tenant/own"), HasSubstr("spec.image")));
  // The Pods do not read the Secret of the Backend to which the tenant has a route.
  asTenant(gatewayOfTenant(""));
  ASSERT_TRUE(kubectl->waitFor("deployment", "tenant", kPods, kImage, "example.com/sluice:1")) << controller->errors();
  ASSERT_TRUE(eventually([&] { return podMay("secret/egress-test-keys", "tenant"); })) << controller->errors();
  EXPECT_FALSE(podMay("secret/named", "vault"));
  EXPECT_FALSE(podMay("secret/of-class", "vault")) << "it has a key that was derived from it";
  EXPECT_NE(ofTenant("secret", "egress-test-keys", "{.data.session}"), "");
  const std::string resolved = R"({.status.parents[0].conditions[?(@.type=="ResolvedRefs")])";
  EXPECT_TRUE(kubectl->waitFor("httproute", "tenant", "all", resolved + ".reason}", "RefNotPermitted"));
  EXPECT_THAT(ofTenant("httproute", "all", resolved + ".message}"),
              AllOf(HasSubstr("ReferenceGrant in namespace vault"), HasSubstr("kind: Gateway, namespace: tenant")));

  std::string kubeconfig = kubeconfigOf(server->url(), server->dataFolder() + "/ca.crt", "{token: tenant-pod-token}");
  kubeconfig.replace(kubeconfig.rfind("user: test}"), 11, "user: test, namespace: tenant}");
  startGateway({"--gateway", "tenant/egress", "--controller-namespace", "default", "--class-keys", "egress-test-keys"},
               folder.write("kubeconfig", kubeconfig));
  EXPECT_TRUE(answers("/", "500"));
  EXPECT_TRUE(one.heads().empty());
  // The owner of the Secret may grant that.
  kubectl->apply(grant("Gateway", "{group: '', kind: Secret, name: named}"));
  EXPECT_TRUE(addsValueOf("named"));
  EXPECT_TRUE(podMay("secret/named", "vault"));
  EXPECT_FALSE(podMay("secret/of-class", "vault"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "tenant", "all", resolved + ".status}", "True"));
  // The tenant's reports about the Gateway of another tenant, and about a revision that the tenant has made, are not
  // trusted.
  EXPECT_THAT(kubectl->get("gateway", "demo", "egress", "{.status.conditions}"), Not(HasSubstr("555")));
  EXPECT_EQ(ofTenant("egressrevision", "egress-abcdef012345", "{.status}"), "");
}

TEST_F(KubeTenant, KeepsNoRightThatIsWithdrawnWhileItsSchemaRefusesHisGateway) {
  startServerWithTenant();
  kubectl->apply(grant("Gateway", "{group: '', kind: Secret, name: named}"));
  asTenant(gatewayOfTenant("") + routeOfTenant());
  startController();
  ASSERT_TRUE(eventually([&] { return podMay("secret/named", "vault"); })) << controller->errors();
  stopController();
  asTenant(gatewayOfTenant("", ", hostname: 1.2.3.4"));
  startController();
  const std::string accepted = R"({.status.conditions[?(@.type=="Accepted")].reason})";
  ASSERT_TRUE(kubectl->waitFor("gateway", "tenant", "egress", accepted, "Invalid")) << controller->errors();
  EXPECT_TRUE(podMay("secret/named", "vault")) << "its Pods serve on what it was before";
  EXPECT_EQ(ofTenant("deployment", kPods, kImage), "example.com/sluice:1");
  kubectl->remove(grant("Gateway", "{group: '', kind: Secret, name: named}"));
  EXPECT_TRUE(eventually([&] { return !podMay("secret/named", "vault"); })) << controller->errors();
}

TEST_F(KubeTenant, PutsNothingIntoTheRolesOfOthers) {
  startServerWithTenant();
  const auto routeWith = [](const std::string& name, const std::string& parents) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: tenant, name: " + name +
           "}\nspec: {" + parents +
           "rules: [{backendRefs: [{group: '', kind: ConfigMap, name: own, port: 80}]}]}\n---\n";
  };
  asTenant(routeWith("without-parents", "") +
           routeWith("not-admitted", "parentRefs: [{name: egress, namespace: demo}], ") +
           "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: tenant, name: own}\n");
  kubectl->apply(gatewayWith(""));  // of another tenant
  startController();
  const std::string provisioned = R"({.status.conditions[?(@.type=="sluice.dev/Provisioned")].status})";
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", provisioned, "True")) << controller->errors();
  EXPECT_EQ(ofTenant("role", "demo.egress-test", kProvisionedName), "");
  EXPECT_EQ(ofTenant("rolebinding", "demo.egress-test", kProvisionedName), "");
}

}  // namespace
}  // namespace sluice::test
