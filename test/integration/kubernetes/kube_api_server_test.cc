// Tests the features of the tests' own Kubernetes API server on which other tests rely.
#include "test/integration/support/kubernetes/kube_api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class KubeApi : public KubernetesTest {};

constexpr const char* kConfigMap =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: colours}\ndata: {sky: blue}\n";

TEST_F(KubeApi, KeepsItsObjectsAndItsPortWhenItIsStartedAnew) {
  KubeApiServer server;
  const Kubectl kubectl(server.kubeconfig());
  kubectl.apply(kConfigMap);
  server.stop();
  server.restart();
  EXPECT_EQ(kubectl.get("configmap", "default", "colours", "{.data.sky}"), "blue");
  server.kill();
  EXPECT_NE(kubectl.run({"get", "configmaps", "--request-timeout", "5s"}).exitCode, 0);
  server.restart();
  EXPECT_EQ(kubectl.get("configmap", "default", "colours", "{.data.sky}"), "blue");
  kubectl.remove(kConfigMap);
  EXPECT_EQ(kubectl.get("configmap", "default", "colours", "{.data.sky}"), "");
}

TEST_F(KubeApi, ServesGatewayApiAndRefusesWhatItsSchemaDoes) {
  const KubeApiServer server;
  const Kubectl kubectl(server.kubeconfig());
  installGatewayApi(kubectl);
  const std::string gateway =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: default, name: egress}\nspec:\n"
      "  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: ";
  kubectl.apply(gateway + "8080}]\n");
  EXPECT_TRUE(kubectl.waitFor("gateway", "default", "egress", "{.spec.listeners[0].port}", "8080"));
  const TempDir folder;
  const ProgramOutcome refused = kubectl.run({"apply", "-f", folder.write("gateway.yaml", gateway + "70000}]\n")});
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.errors, HasSubstr("should be less than or equal to 65535"));
}

TEST_F(KubeApi, AllowsAServiceAccountWhatItsRoleNames) {
  const TempDir folder;
  const std::string tokens = folder.write("tokens", "secret,system:serviceaccount:default:gateway,1\n");
  const KubeApiServer server({"--authorization-mode", "RBAC", "--token-auth-file", tokens});
  const Kubectl administrator(server.kubeconfig());
  administrator.apply(kConfigMap);
  const Kubectl gateway(
      folder.write("kubeconfig", kubeconfigOf(server.url(), server.dataFolder() + "/ca.crt", "{token: secret}")));
  EXPECT_THAT(gateway.run({"get", "configmaps"}).errors, HasSubstr("cannot list resource \"configmaps\""));
  administrator.expect({"create", "role", "reader", "--verb=get,list", "--resource=configmaps"});
  administrator.expect({"create", "rolebinding", "reader", "--role=reader", "--serviceaccount=default:gateway"});
  EXPECT_TRUE(eventually([&] { return gateway.run({"get", "configmaps"}).exitCode == 0; }));
  EXPECT_EQ(gateway.get("configmap", "default", "colours", "{.data.sky}"), "blue");
}

}  // namespace
}  // namespace sluice::test
