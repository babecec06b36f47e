// A controller with a real API server keeps what a Gateway's Pods are made of, and a gateway gets along with exactly
// the rights that its Pods have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/kubernetes/fault_proxy.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kPods = "egress-test";  // the Gateway and its class
constexpr const char* kReplicas = "{.spec.replicas}";
constexpr const char* kImage = "{.spec.template.spec.containers[0].image}";
constexpr const char* kProvisionedName = "{.metadata.name}";

class KubeProvisioning : public KubeSourceTest {
 protected:
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

TEST_F(KubeProvisioning, KeepsWhatPodsAreMadeOfAsTheGatewayAndItsParametersSay) {
  startServerWithOurKinds();
  provisioning("allowImage: true");
  kubectl->apply(gatewayWith(""));
  startController();
  ASSERT_TRUE(deploymentHas(kReplicas, "2")) << controller->errors();
  const std::string uid = kubectl->get("gateway", "demo", "egress", "{.metadata.uid}");
  for (const char* kind : {"deployment", "service", "serviceaccount", "poddisruptionbudget", "networkpolicy"}) {
    EXPECT_TRUE(kubectl->waitFor(kind, "demo", kPods, "{.metadata.ownerReferences[0].uid}", uid)) << kind;
  }
  EXPECT_EQ(kubectl->get("service", "demo", kPods, "{.spec.ports[0].port}"), std::to_string(port));
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", "{.status.addresses[0].value}", "egress-test.demo.svc"));
  EXPECT_EQ(kubectl->get("gateway", "demo", "egress", "{.status.addresses[0].type}"), "Hostname");

  // Others may add fields of their own.
  kubectl->expect({"annotate", "deployment", "--namespace", "demo", kPods, "note=ours"});
  kubectl->apply(parameters("replicas: 5, resources: {requests: {cpu: 250m}}") + gatewayWith(kOurs));
  EXPECT_TRUE(deploymentHas(kReplicas, "5")) << controller->errors();
  EXPECT_EQ(deployment("{.spec.template.spec.containers[0].resources.requests.cpu}"), "250m");
  EXPECT_EQ(deployment("{.spec.template.metadata.labels.team}"), "payments");
  EXPECT_EQ(deployment("{.metadata.annotations.note}"), "ours");
  kubectl->apply(parameters("autoscaling: {maxReplicas: 4}, image: 'example.com/sluice:2'"));
  EXPECT_TRUE(kubectl->waitFor("hpa", "demo", kPods, "{.spec.maxReplicas}", "4")) << controller->errors();
  EXPECT_TRUE(deploymentHas(kImage, "example.com/sluice:2"));
  kubectl->apply(parameters("image: 'example.com/sluice:2'"));
  EXPECT_TRUE(kubectl->waitFor("hpa", "demo", kPods, kProvisionedName, "")) << "it is kept no more";
  EXPECT_TRUE(deploymentHas(kReplicas, "2"));
}

TEST_F(KubeProvisioning, LeavesNothingOfAGatewayThatWasDeletedAndNothingUndone) {
  startServerWithOurKinds();
  kubectl->apply(gatewayWith(""));
  startController();
  ASSERT_TRUE(deploymentHas(kReplicas, "2")) << controller->errors();
  stopController();
  kubectl->expect({"delete", "service", "--namespace", "demo", kPods});
  kubectl->expect(
      {"patch", "deployment", "--namespace", "demo", kPods, "--type=merge", "-p", R"({"spec":{"replicas":9}})"});
  startController();
  EXPECT_TRUE(kubectl->waitFor("service", "demo", kPods, kProvisionedName, kPods)) << controller->errors();
  EXPECT_TRUE(deploymentHas(kReplicas, "2")) << controller->errors();

  // Parameters that are missing change nothing of what runs.
  kubectl->apply(gatewayWith(kOurs));
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", "{.status.conditions[?(@.type==\"Accepted\")].reason}",
                               "InvalidParameters"));
  EXPECT_EQ(deployment(kReplicas), "2");
  stopController();

  kubectl->expect({"delete", "gateway", "--namespace", "demo", "egress"});
  startController();
  for (const char* kind : {"deployment", "service", "serviceaccount", "poddisruptionbudget", "networkpolicy"}) {
    EXPECT_TRUE(kubectl->waitFor(kind, "demo", kPods, kProvisionedName, "")) << kind << controller->errors();
  }
  for (const char* kind : {"role", "rolebinding"}) {
    EXPECT_TRUE(kubectl->waitFor(kind, "demo", "demo.egress-test", kProvisionedName, "")) << kind;
  }
  EXPECT_TRUE(kubectl->waitFor("clusterrolebinding", "", "sluice-gateway.demo.egress-test", kProvisionedName, ""));
}

TEST_F(KubeProvisioning, SaysWhatTheApiServerRefusesAndTakesOverNothing) {
  startServerWithOurKinds();
  // Somebody has a Service of that name.
  kubectl->apply("apiVersion: v1\nkind: Service\nmetadata: {namespace: demo, name: " + std::string(kPods) +
                 "}\nspec: {selector: {app: theirs}, ports: [{name: web, port: " + std::to_string(port) +
                 ", targetPort: 1}]}\n");
  kubectl->apply(gatewayWith(""));
  startController();
  const std::string condition = R"({.status.conditions[?(@.type=="sluice.dev/Provisioned")])";
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", condition + ".status}", "False")) << controller->errors();
  EXPECT_THAT(kubectl->get("gateway", "demo", "egress", condition + ".message}"),
              AllOf(HasSubstr("Service"), HasSubstr("was not made for this Gateway")));
  EXPECT_EQ(kubectl->get("service", "demo", kPods, "{.spec.selector.app}"), "theirs");
  EXPECT_TRUE(deploymentHas(kReplicas, "2")) << "the other objects are there";
  EXPECT_TRUE(eventually([&] {
    return kubectl->expect({"get", "events.events.k8s.io", "-n", "demo", "-o", "json"}).find("\"NotProvisioned\"") !=
           std::string::npos;
  })) << controller->errors();
  kubectl->expect({"delete", "service", "--namespace", "demo", kPods});
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", condition + ".status}", "True")) << controller->errors();
}

TEST_F(KubeProvisioning, MakesNothingThatItsClassForbids) {
  startServerWithOurKinds();
  kubectl->apply(
      parameters("image: 'example.com/theirs:1', tolerations: [{operator: Exists}], service: {type: NodePort}") +
      gatewayWith(kOurs));
  startController();
  ASSERT_TRUE(eventually([&] { return accepted("reason") == "InvalidParameters"; })) << controller->errors();
  EXPECT_EQ(accepted("status"), "False");
  EXPECT_THAT(accepted("message"),
              AllOf(HasSubstr("GatewayParameters demo/ours: spec.image"), HasSubstr("spec.tolerations"),
                    HasSubstr("spec.service.type"), HasSubstr("provisioning.allowImage")));
  for (const char* kind : {"deployment", "service", "serviceaccount", "networkpolicy"}) {
    EXPECT_EQ(kubectl->get(kind, "demo", kPods, kProvisionedName), "") << kind;
  }
  EXPECT_EQ(kubectl->get("clusterrolebinding", "", "sluice-gateway.demo.egress-test", kProvisionedName), "");

  provisioning("allowImage: true, allowScheduling: true, allowServiceType: true");
  EXPECT_TRUE(deploymentHas(kImage, "example.com/theirs:1")) << controller->errors();
  EXPECT_EQ(kubectl->get("service", "demo", kPods, "{.spec.type}"), "NodePort");

  // What runs stays as it is when it is forbidden again.
  provisioning("");
  ASSERT_TRUE(eventually([&] { return accepted("status") == "False"; })) << controller->errors();
  kubectl->apply(parameters("replicas: 7, image: 'example.com/theirs:2'"));
  EXPECT_TRUE(eventually([&] { return accepted("message").find("tolerations") == std::string::npos; }));
  EXPECT_EQ(deployment(kImage), "example.com/theirs:1");
  EXPECT_EQ(deployment(kReplicas), "2");

  kubectl->apply(parameters("replicas: 7"));
  EXPECT_TRUE(deploymentHas(kReplicas, "7")) << controller->errors();
  EXPECT_EQ(deployment(kImage), "example.com/sluice:1");
}

TEST_F(KubeProvisioning, GivesNoRightsToAnAccountThatItHasNotMade) {
  startServerWithOurKinds();
  kubectl->apply("apiVersion: v1\nkind: ServiceAccount\nmetadata: {namespace: demo, name: " + std::string(kPods) +
                 "}\n");
  kubectl->apply(gatewayWith(""));
  startController();
  const std::string condition = R"({.status.conditions[?(@.type=="sluice.dev/Provisioned")])";
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", condition + ".status}", "False")) << controller->errors();
  EXPECT_THAT(kubectl->get("gateway", "demo", "egress", condition + ".message}"), HasSubstr("ServiceAccount "));
  EXPECT_EQ(kubectl->get("serviceaccount", "demo", kPods, "{.metadata.labels}"), "") << "it is left as it was";
  EXPECT_EQ(deployment(kProvisionedName), "");
  EXPECT_EQ(kubectl->get("rolebinding", "demo", "demo.egress-test", kProvisionedName), "");
  EXPECT_EQ(kubectl->get("clusterrolebinding", "", "sluice-gateway.demo.egress-test", kProvisionedName), "");
  kubectl->expect({"delete", "serviceaccount", "--namespace", "demo", kPods});
  EXPECT_TRUE(deploymentHas(kReplicas, "2")) << controller->errors();
}

TEST_F(KubeProvisioning, IsDoneByOneOfTwoVersionsOfTheController) {
  startServerWithOurKinds();
  kubectl->apply(gatewayWith(""));
  FaultProxy oldProxy(*server);
  FaultProxy newProxy(*server);
  ClusterProcess older({"controller", "--image", "example.com/sluice:1"}, oldProxy.kubeconfig());
  older.waitUntilItLeads();
  ASSERT_TRUE(deploymentHas(kImage, "example.com/sluice:1")) << older.process().errors();
  ClusterProcess newer({"controller", "--image", "example.com/sluice:2"}, newProxy.kubeconfig());
  ASSERT_TRUE(newProxy.waitForRequests("/leases/sluice-controller", 2));
  const auto writes = [](const FaultProxy& proxy) {
    const std::vector<std::string> requests = proxy.requests();
    return std::count_if(requests.begin(), requests.end(), [](const std::string& each) {
      return each.starts_with("PATCH ") && each.find("fieldManager=sluice-controller") != std::string::npos;
    });
  };
  // Somebody changes the Deployment; only the one that leads puts it right.
  kubectl->expect(
      {"patch", "deployment", "--namespace", "demo", kPods, "--type=merge", "-p", R"({"spec":{"replicas":7}})"});
  kubectl->apply(parameters("replicas: 3") + gatewayWith(kOurs));
  ASSERT_TRUE(deploymentHas(kReplicas, "3"));
  EXPECT_EQ(writes(newProxy), 0);
  older.stop();
  const auto writesOfOld = writes(oldProxy);
  newer.waitUntilItLeads();
  EXPECT_TRUE(deploymentHas(kImage, "example.com/sluice:2")) << newer.process().errors();
  EXPECT_EQ(writes(oldProxy), writesOfOld);
}

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
  EXPECT_EQ(deployment("{.spec.template.spec.terminationGracePeriodSeconds}"), "19") << "by its own drainTimeout";

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
        "  - {apiGroups: [''], resources: [configmaps], verbs: ['*']}\n---\n"
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
  std::string gatewayOfTenant(const std::string& more) const {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: tenant, name: "
           "egress}\nspec:\n"
           "  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(port) + "}]\n" + more + "---\n";
  }
  static std::string routeOfTenant() {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: tenant, name: all}\nspec: "
           "{parentRefs: [{name: egress}], rules: [{backendRefs: [{group: sluice.dev, kind: Backend, namespace: vault, "
           "name: origin}]}]}\n";
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
  startController();
  // He does not choose what runs.
  const std::string accepted = R"({.status.conditions[?(@.type=="Accepted")].reason})";
  ASSERT_TRUE(kubectl->waitFor("gateway", "tenant", "egress", accepted, "InvalidParameters")) << controller->errors();
  EXPECT_EQ(ofTenant("deployment", kPods, kProvisionedName), "");
  EXPECT_EQ(ofTenant("serviceaccount", kPods, kProvisionedName), "");
  const ProgramOutcome upgrade =
      test::sluice({"check", "upgrade", "--kubeconfig", server->kubeconfig(), "--namespace", "default"});
  EXPECT_EQ(upgrade.exitCode, 1);
  EXPECT_THAT(upgrade.output, AllOf(HasSubstr("Gateway tenant/egress would lose Secret vault/named"),
                                    HasSubstr("ConfigMap tenant/own"), HasSubstr("spec.image")));
  // What runs does not read what he has a route to.
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
  // Who owns the Secret may let him.
  kubectl->apply(grant("Gateway", "{group: '', kind: Secret, name: named}"));
  EXPECT_TRUE(addsValueOf("named"));
  EXPECT_TRUE(podMay("secret/named", "vault"));
  EXPECT_FALSE(podMay("secret/of-class", "vault"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "tenant", "all", resolved + ".status}", "True"));
}

}  // namespace
}  // namespace sluice::test
