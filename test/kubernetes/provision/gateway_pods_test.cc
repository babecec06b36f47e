#include "proxy/kubernetes/provision/gateway_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "test/kubernetes/provision/gateway_fixture.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kContainer = "spec|template|spec|containers|0|";
std::string ofContainer(const ProvisionedObject& deployment, const std::string& path) {
  return fieldAt(deployment, kContainer + path);
}
std::string ofPod(const ProvisionedObject& deployment, const std::string& path) {
  return fieldAt(deployment, "spec|template|spec|" + path);
}

TEST(GatewayPods, AreMadeOfTheseObjects) {
  std::vector<std::string> paths;
  for (const ProvisionedObject& each : podsOf(RunGateway(kListenersOfTwoPorts).run())) {
    paths.push_back(each.path());
    EXPECT_EQ(fieldAt(each, "apiVersion"), each.kind->apiVersion());
    EXPECT_EQ(fieldAt(each, "kind"), each.kind->kind);
    EXPECT_EQ(fieldAt(each, "metadata|namespace"), "demo");
    EXPECT_EQ(fieldAt(each, "metadata|ownerReferences"),
              R"([{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","name":"egress","uid":"u-1",)"
              R"("controller":true}])");
    EXPECT_EQ(fieldAt(each, "metadata|labels|app.kubernetes.io/managed-by"), "sluice-controller");
    EXPECT_EQ(fieldAt(each, "metadata|labels|gateway.networking.k8s.io/gateway-name"), "egress");
    EXPECT_EQ(fieldAt(each, "metadata|labels|sluice.dev/gateway-namespace"), "demo");
  }
  EXPECT_THAT(paths, ElementsAre("/api/v1/namespaces/demo/serviceaccounts/egress-sluice",
                                 "/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/egress-sluice",
                                 "/api/v1/namespaces/demo/services/egress-sluice",
                                 "/apis/policy/v1/namespaces/demo/poddisruptionbudgets/egress-sluice",
                                 "/apis/apps/v1/namespaces/demo/deployments/egress-sluice"));
}

TEST(GatewayPods, ServeThatGatewayAtItsPorts) {
  const auto objects = podsOf(RunGateway(kListenersOfTwoPorts).run());
  const ProvisionedObject& service = only(objects, provisioned::kService);
  EXPECT_EQ(fieldAt(service, "spec|ports|0|port"), "80");
  EXPECT_EQ(fieldAt(service, "spec|ports|1|targetPort"), "8080");
  EXPECT_EQ(fieldAt(service, "spec|ports|2"), "") << "two listeners share a port";
  const ProvisionedObject& deployment = only(objects, provisioned::kDeployment);
  EXPECT_EQ(fieldAt(service, "spec|selector"), fieldAt(deployment, "spec|selector|matchLabels"));
  EXPECT_EQ(ofContainer(deployment, "args"),
            R"(["run","--kubernetes","--gateway","demo/egress","--state-dir","/var/lib/sluice/state",)"
            R"("--controller-namespace","sluice-system"])");
  EXPECT_EQ(ofContainer(deployment, "image"), "example.com/sluice:1");
  EXPECT_EQ(ofContainer(deployment, "ports|1|containerPort"), "8080");
  EXPECT_EQ(ofContainer(deployment, "readinessProbe|httpGet|path"), "/readyz");
  EXPECT_EQ(ofContainer(deployment, "livenessProbe|httpGet|path"), "/healthz");
  EXPECT_EQ(fieldAt(only(objects, provisioned::kNetworkPolicy), "spec|ingress|0|ports|2|port"), "9902");
}

TEST(GatewayPods, KnowTheirNameAndTheirZone) {
  const auto objects = podsOf(RunGateway(kListenersOfTwoPorts).run());
  EXPECT_EQ(ofContainer(only(objects, provisioned::kDeployment), "env"),
            R"([{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},)"
            R"({"name":"POD_UID","valueFrom":{"fieldRef":{"fieldPath":"metadata.uid"}}},)"
            R"({"name":"SLUICE_ZONE","valueFrom":{"fieldRef":{"fieldPath":)"
            R"("metadata.labels['topology.kubernetes.io/zone']"}}}])");
}

TEST(GatewayPods, ListTheirHealthPortOnceIfAListenerAsksForIt) {
  const auto objects = podsOf(
      RunGateway(", listeners: [{name: a, port: 80, protocol: HTTP}, {name: b, port: 9902, protocol: HTTP}]").run());
  EXPECT_EQ(fieldAt(only(objects, provisioned::kService), "spec|ports|1"), "");
  const ProvisionedObject& deployment = only(objects, provisioned::kDeployment);
  EXPECT_EQ(ofContainer(deployment, "ports|1|name"), "health");
  EXPECT_EQ(ofContainer(deployment, "ports|2"), "") << "the API server applies no list with the same port twice";
}

TEST(GatewayPods, HaveNoPrivilegesAndEndInTheirTime) {
  const auto objects = podsOf(RunGateway(kListenersOfTwoPorts).run());
  const ProvisionedObject& deployment = only(objects, provisioned::kDeployment);
  EXPECT_EQ(ofPod(deployment, "securityContext|runAsNonRoot"), "true");
  EXPECT_EQ(ofPod(deployment, "securityContext|seccompProfile|type"), "RuntimeDefault");
  EXPECT_EQ(ofPod(deployment, "securityContext|sysctls|0|name"), "net.ipv4.ip_unprivileged_port_start");
  EXPECT_EQ(ofContainer(deployment, "securityContext"),
            R"({"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,"capabilities":{"drop":["ALL"]}})");
  EXPECT_EQ(ofPod(deployment, "volumes|0|emptyDir|medium"), "Memory");
  EXPECT_EQ(ofPod(deployment, "terminationGracePeriodSeconds"), "30") << "25 to drain, 5 to spare";
  EXPECT_EQ(fieldAt(deployment, "spec|strategy|rollingUpdate|maxUnavailable"), "0");
  const RunGateway high(", listeners: [{name: a, port: 8080, protocol: HTTP}]");
  EXPECT_EQ(ofPod(only(podsOf(high.run()), provisioned::kDeployment), "securityContext|sysctls"), "");
}

TEST(GatewayPods, AreAsItsParametersSay) {
  RunGateway gateway(kListenersOfTwoPorts);
  EXPECT_EQ(fieldAt(only(podsOf(gateway.run()), provisioned::kDeployment), "spec|replicas"), "2");
  gateway.parameters.replicas = 7;
  gateway.parameters.image = "example.com/other:2";
  gateway.parameters.logLevel = "debug";
  gateway.parameters.serviceType = "LoadBalancer";
  gateway.parameters.resources = *content::parseJson(R"({"limits":{"memory":"1Gi"}})", {.bytes = 100});
  const auto objects = podsOf(gateway.run());
  const ProvisionedObject& deployment = only(objects, provisioned::kDeployment);
  EXPECT_EQ(fieldAt(deployment, "spec|replicas"), "7");
  EXPECT_EQ(ofContainer(deployment, "image"), "example.com/other:2");
  EXPECT_THAT(ofContainer(deployment, "args"), HasSubstr(R"("--log-level","debug"])"));
  EXPECT_EQ(ofContainer(deployment, "resources|limits|memory"), "1Gi");
  EXPECT_EQ(fieldAt(only(objects, provisioned::kService), "spec|type"), "LoadBalancer");
}

TEST(GatewayPods, RequestWhatAnAutoscalerNeeds) {
  RunGateway gateway(kListenersOfTwoPorts);
  const auto resourcesFor = [&gateway](const std::string& given) {
    gateway.parameters.resources = given.empty() ? content::Value() : *content::parseJson(given, {.bytes = 1000});
    return ofContainer(only(podsOf(gateway.run()), provisioned::kDeployment), "resources");
  };
  EXPECT_EQ(resourcesFor(""), R"({"requests":{"cpu":"100m","memory":"128Mi"}})");
  EXPECT_EQ(resourcesFor(R"({"requests":{"cpu":"2"}})"), R"({"requests":{"cpu":"2","memory":"128Mi"}})");
  EXPECT_EQ(resourcesFor(R"({"limits":{"memory":"64Mi"},"claims":[{"name":"x"}]})"),
            R"({"limits":{"memory":"64Mi"},"claims":[{"name":"x"}],"requests":{"cpu":"100m"}})")
      << "a limit is a request, too";
  EXPECT_EQ(resourcesFor(R"({"limits":{"cpu":"1","memory":"64Mi"}})"),
            R"({"limits":{"cpu":"1","memory":"64Mi"},"requests":{}})");
  EXPECT_EQ(resourcesFor(R"({"requests":"2"})"), R"({"requests":"2"})") << "the API server refuses it";
}

TEST(GatewayPods, AreCountedByTheAutoscalerAlone) {
  RunGateway gateway(kListenersOfTwoPorts);
  gateway.parameters.autoscaling = config::Autoscaling{3, 9, 50};
  const auto objects = podsOf(gateway.run());
  EXPECT_EQ(fieldAt(only(objects, provisioned::kDeployment), "spec|replicas"), "");
  for (const ProvisionedObject& each : objects) {
    EXPECT_EQ(each.isCountedByOthers, each.kind == &provisioned::kDeployment) << each.path();
  }
  const ProvisionedObject& autoscaler = only(objects, provisioned::kAutoscaler);
  EXPECT_EQ(fieldAt(autoscaler, "spec|scaleTargetRef|name"), "egress-sluice");
  EXPECT_EQ(fieldAt(autoscaler, "spec|maxReplicas"), "9");
  EXPECT_EQ(fieldAt(autoscaler, "spec|metrics|0|resource|target|averageUtilization"), "50");
}

TEST(GatewayPods, CarryWhatInfrastructureSaysButNotInPlaceOfOurs) {
  const RunGateway gateway(std::string(", infrastructure: {labels: {team: a, app.kubernetes.io/name: b}, annotations: "
                                       "{note: c, cloud.example/role: d}}") +
                           kListenersOfTwoPorts);
  const std::string both = R"({"cloud.example/role":"d","note":"c"})";
  for (const ProvisionedObject& each : podsOf(gateway.run())) {
    EXPECT_EQ(fieldAt(each, "metadata|labels|team"), "a");
    EXPECT_EQ(fieldAt(each, "metadata|labels|app.kubernetes.io/name"), "sluice");
    const bool isAccount = each.kind == &provisioned::kServiceAccount;
    EXPECT_EQ(fieldAt(each, "metadata|annotations"), isAccount ? R"({"note":"c"})" : both)
        << "a cloud may read which of its identities an account has";
  }
  GatewayToRun allowed = gateway.run();
  allowed.serviceAccountAnnotations = true;
  EXPECT_EQ(fieldAt(only(podsOf(allowed), provisioned::kServiceAccount), "metadata|annotations"), both);
  const auto objects = podsOf(gateway.run());
  const ProvisionedObject& deployment = only(objects, provisioned::kDeployment);
  EXPECT_EQ(fieldAt(deployment, "spec|template|metadata|labels|team"), "a");
  EXPECT_EQ(fieldAt(deployment, "spec|template|metadata|annotations"), both);
}

TEST(GatewayPods, HaveNamesThatServicesMayHaveAndNobodyElseHas) {
  const std::string ordinary = nameOfPods(RunGateway(kListenersOfTwoPorts).gateway());
  EXPECT_EQ(ordinary, "egress-sluice");
  std::set<std::string> names = {ordinary};
  const std::string longName(200, 'x');
  for (const std::string& name :
       {std::string("a.b"), std::string("a-b"), std::string("1st"), longName, longName + "y"}) {
    const std::string made = nameOfPods(RunGateway(kListenersOfTwoPorts, name).gateway());
    EXPECT_LE(made.size(), 63U);
    EXPECT_EQ(made.find('.'), std::string::npos);
    EXPECT_TRUE(made.front() >= 'a' && made.front() <= 'z') << made;
    EXPECT_TRUE(names.insert(made).second) << made;
  }
  const RunGateway other(kListenersOfTwoPorts, "egress", "EgressGateway", "ainetworking.prototype.x-k8s.io/v0alpha0");
  EXPECT_TRUE(names.insert(nameOfPods(other.gateway())).second);
}

}  // namespace
}  // namespace sluice::kubernetes
