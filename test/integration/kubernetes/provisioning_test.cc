// Tests that a controller with a real API server makes and maintains the objects of which a Gateway's Pods consist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/integration/kubernetes/provisioning_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"
#include "test/integration/support/kubernetes/fault_proxy.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

  // Missing parameters do not change the running Pods.
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
  // Another client has created a Service of that name.
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

  // The running Pods stay as they are when provisioning is forbidden again.
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

TEST_F(KubeProvisioning, GivesAGatewayTheAddressesOfItsLoadBalancer) {
  startServerWithOurKinds();
  provisioning("allowServiceType: true");
  kubectl->apply(parameters("service: {type: LoadBalancer}") + gatewayWith(kOurs));
  startController();
  const auto hasAddresses = [this](const std::string& values) {
    return kubectl->waitFor("gateway", "demo", "egress", "{.status.addresses[*].value}", values);
  };
  const char* inCluster = "egress-test.demo.svc";
  EXPECT_TRUE(hasAddresses(inCluster)) << "the load balancer has none yet" << controller->errors();
  EXPECT_EQ(kubectl->get("service", "demo", kPods, "{.spec.type}"), "LoadBalancer");
  kubectl->expect({"patch", "service", "--namespace", "demo", kPods, "--subresource=status", "--type=merge", "-p",
                   R"({"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.7"},{"hostname":"lb.example.com"}]}}})"});
  EXPECT_TRUE(hasAddresses("192.0.2.7 lb.example.com")) << controller->errors();
  EXPECT_EQ(kubectl->get("gateway", "demo", "egress", "{.status.addresses[*].type}"), "IPAddress Hostname");
  stopController();
  startController();
  kubectl->expect({"patch", "service", "--namespace", "demo", kPods, "--subresource=status", "--type=merge", "-p",
                   R"({"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.8"}]}}})"});
  EXPECT_TRUE(hasAddresses("192.0.2.8")) << controller->errors();
  kubectl->apply(parameters("service: {type: ClusterIP}"));
  EXPECT_TRUE(hasAddresses(inCluster)) << controller->errors();
}

TEST_F(KubeProvisioning, LeavesTheNumberOfPodsToAnAutoscaler) {
  startServerWithOurKinds();
  kubectl->apply(parameters("replicas: 5") + gatewayWith(kOurs));
  startController();
  ASSERT_TRUE(deploymentHas(kReplicas, "5")) << controller->errors();
  kubectl->apply(parameters("autoscaling: {maxReplicas: 9}, logLevel: debug"));
  const char* level = "{.spec.template.spec.containers[0].args[-1:]}";
  EXPECT_TRUE(deploymentHas(level, "debug")) << controller->errors();
  EXPECT_EQ(deployment(kReplicas), "5") << "as before";
  EXPECT_EQ(deployment("{.spec.template.spec.containers[0].resources.requests.cpu}"), "100m");
  EXPECT_TRUE(kubectl->waitFor("hpa", "demo", kPods, "{.spec.maxReplicas}", "9")) << controller->errors();

  // The autoscaler chooses another number.
  kubectl->expect({"patch", "deployment", "--namespace", "demo", kPods, "--field-manager=kube-controller-manager",
                   "--type=merge", "-p", R"({"spec":{"replicas":7}})"});
  kubectl->apply(parameters("autoscaling: {maxReplicas: 9}, logLevel: warn"));
  EXPECT_TRUE(deploymentHas(level, "warn")) << controller->errors();
  EXPECT_EQ(deployment(kReplicas), "7");
  stopController();
  startController();
  kubectl->apply(parameters("autoscaling: {maxReplicas: 9}, logLevel: error"));
  EXPECT_TRUE(deploymentHas(level, "error")) << controller->errors();
  EXPECT_EQ(deployment(kReplicas), "7") << "for the next leader, too";
  kubectl->apply(parameters("replicas: 3"));
  EXPECT_TRUE(deploymentHas(kReplicas, "3")) << controller->errors();
}

TEST_F(KubeProvisioning, MakesRightsThatGoWithTheInstallation) {
  startServerWithOurKinds();
  kubectl->apply(gatewayWith(""));
  startController();
  const auto isOwnedByTheRole = [this] {
    const std::string role = kubectl->get("clusterrole", "", "sluice-gateway", "{.metadata.uid}");
    return kubectl->waitFor("clusterrolebinding", "", "sluice-gateway.demo.egress-test",
                            "{.metadata.ownerReferences[*].uid}", role);
  };
  EXPECT_TRUE(isOwnedByTheRole()) << controller->errors();
  kubectl->expect({"delete", "clusterrole", "sluice-gateway"});
  applyRole();
  EXPECT_TRUE(isOwnedByTheRole()) << controller->errors();
}

TEST_F(KubeProvisioning, IsDoneHoweverMuchOthersHaveUnderItsLabel) {
  startServerWithOurKinds();
  // Of each kind there are more objects than the controller keeps of an answer in memory, and they cannot be deleted.
  for (const char* kind :
       {"apiVersion: v1\nkind: ServiceAccount", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role"}) {
    std::string objects;
    for (int i = 0; i < 20; ++i) {
      objects += std::string(kind) + "\nmetadata:\n  namespace: demo\n  name: large-" + std::to_string(i) +
                 "\n  labels: {app.kubernetes.io/managed-by: sluice-controller}\n  finalizers: [tenant.test/stays]\n" +
                 "  annotations: {large: " + std::string(std::size_t{250} << 10, 'x') + "}\n---\n";
    }
    kubectl->apply(objects);
  }
  kubectl->apply(gatewayWith(""));
  startController();
  const std::string condition = R"({.status.conditions[?(@.type=="sluice.dev/Provisioned")])";
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", condition + ".status}", "True")) << controller->errors();
  EXPECT_TRUE(deploymentHas(kReplicas, "2"));
  stopController();
  // The next leader recognises the objects as its own, too.
  startController();
  kubectl->expect({"delete", "role", "--namespace", "demo", "demo.egress-test"});
  kubectl->expect(
      {"patch", "deployment", "--namespace", "demo", kPods, "--type=merge", "-p", R"({"spec":{"replicas":9}})"});
  stopController();
  startController();
  EXPECT_TRUE(kubectl->waitFor("role", "demo", "demo.egress-test", kProvisionedName, "demo.egress-test"))
      << controller->errors();
  EXPECT_TRUE(deploymentHas(kReplicas, "2")) << controller->errors();
  // A leader writes no status of objects that it has not read yet.
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", condition + ".status}", "True")) << controller->errors();
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
  // Another client changes the Deployment; only the leader restores it.
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

}  // namespace
}  // namespace sluice::test
