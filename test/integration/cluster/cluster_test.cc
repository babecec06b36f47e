// Tests the whole life of a cluster: the controller is installed and runs as Pods, makes Pods for a Gateway, and these
// serve while they are scaled, killed, replaced and deleted. The Pods are processes of this machine
// (test/support/kube/stand_in).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/cluster/cluster_fixture.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/kubernetes/service_clients.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

constexpr const char* kPodsName = "egress-egress";  // the Gateway and its class
constexpr const char* kPodLabels = "gateway.networking.k8s.io/gateway-name=egress";
constexpr std::uint16_t kListenerPort = 80;  // needs a sysctl, because the Pods have no rights
constexpr const char* kPodUid = "{.metadata.uid}";
constexpr const char* kTemplateImage = "{.spec.template.spec.containers[0].image}";
constexpr int kSomeRequests = 100;
constexpr int kRequestsInAnOutage = 1'000;

class KubeCluster : public ClusterTest {
 protected:
  static std::string gateway(const std::string& more = "") {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
           "  gatewayClassName: egress\n  listeners: [{name: http, protocol: HTTP, port: " +
           std::to_string(kListenerPort) + "}]\n" + more + "---\n";
  }
  static std::string routeWith(const std::string& path) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: all}\nspec: "
           "{parentRefs: [{name: egress}], rules: [{matches: [{path: {type: PathPrefix, value: " +
           path + "}}], backendRefs: [{group: sluice.dev, kind: Backend, name: origin}]}]}\n---\n";
  }
  static std::string backend() {
    return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: origin}\nspec:\n"
           "  destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
           std::to_string(kOriginPort) +
           "}}\n  extensions:\n    - {name: key, type: \"gateway.networking.k8s.io/CredentialInjector:v1\", phase: "
           "request-headers, config: {allowPlaintext: true, secretRef: {name: origin-key, key: token}}}\n---\n";
  }
  static std::string secret(const std::string& name) {
    return "apiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: " + name +
           "}\nstringData: {token: token-of-" + name + "}\n---\n";
  }
  static std::string parameters(const std::string& image) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {namespace: demo, name: ours}\nspec: "
           "{replicas: 3, image: '" +
           image + "'}\n---\n";
  }

  std::vector<std::string> podsOfGateway(const char* jsonpath) const {
    return cluster_->ofPods("demo", kPodLabels, jsonpath);
  }
  /// Gives the Pods of the Gateway another image, and waits until the Deployment has it.
  void useImage(const std::string& image) const {
    kubectl().apply(parameters(image));
    EXPECT_TRUE(kubectl().waitFor("deployment", "demo", kPodsName, kTemplateImage, image)) << cluster_->logs();
  }
  testing::AssertionResult areThreeReady() const {
    if (testing::AssertionResult rolledOut = cluster_->isRolledOut("demo", kPodsName); !rolledOut) return rolledOut;
    if (eventually([this] { return clients_->ready().size() == 3; })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "the endpoints that are ready are " << clients_->ready().size();
  }
  /// Returns success if the clients get answers, and no request has failed beyond those that were known.
  testing::AssertionResult areServed() const {
    if (!clients_->goOn(kSomeRequests)) return testing::AssertionFailure() << "no answers\n" << clients_->report();
    if (failures() == known_) return testing::AssertionSuccess();
    return testing::AssertionFailure() << clients_->report() << slow_->report();
  }
  /// Returns how many requests of all clients failed, and at which addresses.
  std::map<std::string, int> failures() const {
    std::map<std::string, int> all = clients_->failures();
    for (const auto& [address, count] : slow_->failures()) all[address] += count;
    return all;
  }

  // The chapters.
  void beginning();
  void whatIsNotGranted();
  void scaling();
  void aKilledProcess();
  void anotherImage();
  void brokenImage(const std::string& image, const std::string& reason);
  void aDeletedPod();
  void aCrashedLeader();
  void anOutage();
  void anotherController();
  void theEnd();

  std::unique_ptr<ServiceClients> clients_;
  std::unique_ptr<ServiceClients> slow_;  // whose requests are still in flight when a Pod is to end
  std::map<std::string, int> known_;      // failures, by address
};

void KubeCluster::beginning() {
  install();
  kubectl().apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n---\n" + gateway() + routeWith("/") +
                  backend() + secret("origin-key") + secret("other"));
  ASSERT_TRUE(kubectl().waitFor("deployment", "demo", kPodsName, kTemplateImage, "sluice:1")) << cluster_->logs();
  ASSERT_TRUE(cluster_->isRolledOut("demo", kPodsName));
  const std::vector<std::string> addresses = podsOfGateway("{.status.podIP}");
  ASSERT_THAT(addresses, SizeIs(2));
  for (const std::string& address : addresses) {
    BlockingSocket client = BlockingSocket::connectTo(address, kListenerPort);
    const ReceivedResponse answer = askRaw(client, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(answer.status, 200) << answer.body << cluster_->logs();
    EXPECT_THAT(answer.body, HasSubstr("authorization: Bearer token-of-origin-key"));
  }
  const auto may = [this](const std::string& object) {
    const std::string account = std::string("system:serviceaccount:demo:") + kPodsName;
    return kubectl().run({"auth", "can-i", "list", object, "-n", "demo", "--as", account}).exitCode == 0;
  };
  EXPECT_TRUE(may("secret/origin-key"));
  EXPECT_FALSE(may("secret/other"));
}

/// The namespace of the Gateway is not the controller's: a route to a Backend of another one does not let its Pods read
/// what that uses.
void KubeCluster::whatIsNotGranted() {
  const auto grant = [](const std::string& kind, const std::string& to) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: vault, name: " +
           std::string(kind == "Gateway" ? "gateways" : "routes") +
           "}\nspec: {from: [{group: gateway.networking.k8s.io, kind: " + kind + ", namespace: demo}], to: [" + to +
           "]}\n---\n";
  };
  const auto inVault = [](std::string yaml) {
    return yaml.replace(yaml.find("namespace: demo"), 15, "namespace: vault");
  };
  std::string route = routeWith("/theirs");
  route.replace(route.find("name: all"), 9, "name: theirs");
  route.replace(route.find("kind: Backend, name"), 19, "kind: Backend, namespace: vault, name");
  kubectl().apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: vault}\n---\n" + inVault(backend()) +
                  inVault(secret("origin-key")) + grant("HTTPRoute", "{group: sluice.dev, kind: Backend}") + route);
  const std::string address = podsOfGateway("{.status.podIP}").at(0);
  const auto answered = [&](int status) {
    BlockingSocket client = BlockingSocket::connectTo(address, kListenerPort);
    return askRaw(client, "GET /theirs HTTP/1.1\r\nHost: a\r\n\r\n").status == status;
  };
  const auto mayRead = [this] {
    const std::string account = std::string("system:serviceaccount:demo:") + kPodsName;
    return kubectl().run({"auth", "can-i", "list", "secret/origin-key", "-n", "vault", "--as", account}).exitCode == 0;
  };
  EXPECT_TRUE(eventually([&] { return answered(500); })) << cluster_->logs();
  EXPECT_FALSE(mayRead());
  kubectl().apply(grant("Gateway", "{group: '', kind: Secret, name: origin-key}"));
  EXPECT_TRUE(eventually([&] { return answered(200); })) << cluster_->logs();
  EXPECT_TRUE(mayRead());
  kubectl().expect({"delete", "httproute", "-n", "demo", "theirs"});
  EXPECT_TRUE(eventually([&] { return !mayRead(); })) << "no chain leads there any more";
}

void KubeCluster::scaling() {
  kubectl().apply(
      parameters("sluice:1") +
      gateway("  infrastructure: {parametersRef: {group: sluice.dev, kind: GatewayParameters, name: ours}}\n"));
  EXPECT_TRUE(kubectl().waitFor("deployment", "demo", kPodsName, "{.spec.replicas}", "3")) << cluster_->logs();
  EXPECT_TRUE(areThreeReady());
  EXPECT_TRUE(areServed());
  EXPECT_TRUE(eventually([&] {
    return kubectl()
               .expect({"get", "egressrevisions", "-n", "demo", "-o", "jsonpath={.items[*].status.served}"})
               .find("3/3") != std::string::npos;
  })) << cluster_->logs();
}

void KubeCluster::aKilledProcess() {
  const std::string pod = podsOfGateway("{.metadata.name}").at(0);
  const std::string address = kubectl().get("pod", "demo", pod, "{.status.podIP}");
  cluster_->killProcessOf("demo", pod);
  constexpr const char* kRestartedAndReady =
      "{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].ready}";
  EXPECT_TRUE(kubectl().waitFor("pod", "demo", pod, kRestartedAndReady, "1 true")) << cluster_->logs();
  EXPECT_TRUE(areThreeReady());
  known_ = failures();
  for (const auto& [at, count] : known_) EXPECT_EQ(at, address) << clients_->report() << slow_->report();
  EXPECT_TRUE(areServed());
}

void KubeCluster::anotherImage() {
  const std::vector<std::string> before = podsOfGateway(kPodUid);
  useImage("sluice:2");
  EXPECT_TRUE(areThreeReady());
  for (const std::string& image : podsOfGateway("{.spec.containers[0].image}"))
    EXPECT_THAT(image, HasSubstr("sluice:"));
  EXPECT_TRUE(eventually([&] {
    const std::vector<std::string> now = podsOfGateway(kPodUid);
    return std::find_first_of(now.begin(), now.end(), before.begin(), before.end()) == now.end();
  })) << "the old Pods have ended";
  EXPECT_TRUE(areServed());
}

void KubeCluster::brokenImage(const std::string& image, const std::string& reason) {
  const std::vector<std::string> before = podsOfGateway(kPodUid);
  useImage(image);
  EXPECT_TRUE(eventually([&] {
    const auto reasons = podsOfGateway("{.status.containerStatuses[0].state.waiting.reason}");
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
  }));
  EXPECT_THAT(podsOfGateway(kPodUid), IsSupersetOf(before));
  EXPECT_THAT(clients_->ready(), SizeIs(3));
  EXPECT_TRUE(areServed());
  useImage("sluice:2");
  EXPECT_TRUE(areThreeReady());
  EXPECT_TRUE(eventually([&] { return podsOfGateway(kPodUid).size() == 3; }));
  EXPECT_THAT(podsOfGateway(kPodUid), UnorderedElementsAreArray(before));
}

void KubeCluster::aDeletedPod() {
  const std::vector<std::string> before = podsOfGateway("{.metadata.name}");
  kubectl().expect({"delete", "pod", "-n", "demo", before.at(0)});
  EXPECT_TRUE(areThreeReady());
  EXPECT_THAT(podsOfGateway("{.metadata.name}"), Not(Contains(before.at(0))));
  EXPECT_TRUE(areServed());
}

void KubeCluster::aCrashedLeader() {
  const std::string identity = kubectl().get("lease", kOperators, "sluice-controller", "{.spec.holderIdentity}");
  cluster_->killProcessOf(kOperators, identity.substr(0, identity.find('_')));
  EXPECT_TRUE(areServed());
}

void KubeCluster::anOutage() {
  cluster_->withoutServer([this] { EXPECT_TRUE(clients_->goOn(kRequestsInAnOutage)); });
  EXPECT_TRUE(areThreeReady());
  EXPECT_TRUE(areServed());
}

void KubeCluster::anotherController() {
  const std::vector<std::string> before = podsOfGateway(kPodUid);
  kubectl().expect({"set", "image", "-n", kOperators, "deployment/sluice-controller", "controller=sluice:2"});
  EXPECT_TRUE(cluster_->isRolledOut(kOperators, "sluice-controller"));
  EXPECT_TRUE(eventually([&] { return cluster_->ofPods(kOperators, "", "{.metadata.name}").size() == 2; }));

  slow_->stop();

  // The new controllers have taken over when they write statuses of new objects.
  kubectl().apply(routeWith("/story"));
  for (const char* type : {"Accepted", "sluice.dev/Programmed"}) {
    const std::string condition = std::string("{.status.parents[0].conditions[?(@.type==\"") + type + "\")].";
    EXPECT_TRUE(kubectl().waitFor("httproute", "demo", "all", condition + "observedGeneration}", "2")) << type;
    EXPECT_TRUE(kubectl().waitFor("httproute", "demo", "all", condition + "status}", "True")) << cluster_->logs();
  }
  EXPECT_THAT(podsOfGateway(kPodUid), UnorderedElementsAreArray(before));
  EXPECT_TRUE(areServed());
}

void KubeCluster::theEnd() {
  clients_->stop();
  kubectl().expect({"delete", "gateway", "-n", "demo", "egress"});
  std::string left;
  const auto isEmpty = [&] {
    left = kubectl().expect(
        {"get", "deployments,pods,services,endpointslices,serviceaccounts,roles,rolebindings,pdb,netpol,hpa,leases,ser",
         "-n", "demo", "-o", "name"});
    return left.empty();
  };
  EXPECT_TRUE(eventually(isEmpty)) << left << cluster_->logs();
  EXPECT_TRUE(kubectl().waitFor("clusterrolebinding", "", "sluice-gateway.demo.egress-egress", "{.metadata.name}", ""));
  EXPECT_EQ(StandInCluster::networks(), 2u) << "those of the controllers";
}

TEST_F(KubeCluster, ServesWithoutALostRequestFromTheInstallationToTheDeletionOfTheGateway) {
  beginning();
  if (HasFatalFailure()) return;
  whatIsNotGranted();
  clients_ = std::make_unique<ServiceClients>(cluster_->kubeconfig(), "demo", kPodsName, kListenerPort, "/story");
  slow_ = std::make_unique<ServiceClients>(cluster_->kubeconfig(), "demo", kPodsName, kListenerPort, "/delay-ms/1000");
  scaling();
  aKilledProcess();
  anotherImage();
  brokenImage("sluice:unknown", "ImagePullBackOff");
  brokenImage("failing:1", "CrashLoopBackOff");
  aDeletedPod();
  aCrashedLeader();
  anOutage();
  anotherController();
  theEnd();
  EXPECT_THAT(cluster_->logs(), AllOf(Not(HasSubstr("token-of-")), Not(HasSubstr("cannot be stored"))));
}

TEST_F(KubeCluster, KeepsNoRightsOfGatewaysAfterTheInstallationWasDeleted) {
  install();
  kubectl().apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n---\n" + gateway());
  ASSERT_TRUE(kubectl().waitFor("deployment", "demo", kPodsName, kTemplateImage, "sluice:1")) << cluster_->logs();
  const auto bindings = [this] { return kubectl().expect({"get", "clusterrolebindings", "-o", "name"}); };
  EXPECT_THAT(bindings(), HasSubstr("/sluice-gateway.demo.egress-egress\n"));
  kubectl().remove(sluice({"manifests", "--image", "sluice:1"}).output);
  EXPECT_TRUE(eventually([&] { return bindings().find("sluice") == std::string::npos; }))
      << bindings() << cluster_->logs();
  EXPECT_TRUE(kubectl().waitFor("deployment", "demo", kPodsName, kTemplateImage, "sluice:1"))
      << "the Pods stay with their Gateway";
  kubectl().remove(gateway());
  EXPECT_TRUE(eventually([this] { return podsOfGateway(kPodUid).empty(); })) << cluster_->logs();
}

}  // namespace
}  // namespace sluice::test
