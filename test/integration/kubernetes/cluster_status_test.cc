// Tests `sluice status --kubernetes` before a real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/kubernetes/fault_proxy.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class StatusOfCluster : public KubernetesTest {
 protected:
  static ProgramOutcome statusBy(const std::string& kubeconfig, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"status", "--kubernetes", "--kubeconfig", kubeconfig};
    command.insert(command.end(), more.begin(), more.end());
    return sluice(command);
  }
};

constexpr const char* kGatewayOfCluster =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\n"
    "spec: {controllerName: sluice.dev/egress-gateway}\n---\n"
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: default, name: egress}\n"
    "spec:\n  gatewayClassName: egress\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n"
    "  listeners: [{name: http, protocol: HTTP, port: 8080}]\n---\n"
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: default, name: web}\n"
    "spec:\n  parentRefs: [{name: egress}]\n"
    "  rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: example.com}}]}]\n";

/// Returns the Lease of a replica, as of now.
std::string leaseOfReplica(const std::string& name, const std::string& state) {
  const std::time_t now = std::time(nullptr);
  char text[64] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000000Z", std::gmtime(&now));
  return "---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  namespace: default\n"
         "  name: sluice-replica-" +
         name + "\n  labels: {sluice.dev/replica-of: sluice}\n  annotations:\n    sluice.dev/report: '{\"replica\":\"" +
         name +
         "\",\"replicaOf\":\"sluice\",\"gateway\":\"\",\"desired\":\"0123456789ab\",\"served\":\"0123456789ab\","
         "\"state\":\"" +
         state + "\",\"failedInAll\":0,\"failed\":[]}'\nspec: {holderIdentity: " + name +
         ", leaseDurationSeconds: 600, renewTime: \"" + text + "\"}\n";
}

/// Writes the statuses as the controller does: the objects are of its first generation, and all is well.
void writeStatuses(const Kubectl& kubectl) {
  const std::string accepted =
      R"("conditions":[{"type":"Accepted","status":"True","reason":"Accepted","message":"","observedGeneration":1,)"
      R"("lastTransitionTime":"2026-01-31T23:59:59Z"}])";
  const auto write = [&](const std::string& kind, const std::string& name, const std::string& status) {
    kubectl.expect(
        {"patch", kind, name, "--subresource=status", "--type=merge", "-p", "{\"status\":{" + status + "}}"});
  };
  write("gatewayclass", "egress", accepted);
  write("gateway", "egress", R"("addresses":[{"type":"IPAddress","value":"127.0.0.1"}],)" + accepted);
  write("httproute", "web",
        R"("parents":[{"controllerName":"sluice.dev/egress-gateway","parentRef":{"name":"egress"},)" + accepted + "}]");
}

TEST_F(StatusOfCluster, ShowsGatewaysReplicasAndRoutesAsTheirStatusesAndReportsAre) {
  const KubeApiServer server;
  const Kubectl kubectl(server.kubeconfig());
  const ProgramOutcome nothing = statusBy(server.kubeconfig());
  EXPECT_EQ(nothing.exitCode, 1);
  EXPECT_EQ(nothing.output, server.url() + ": there are faults\n\nno Gateway has a GatewayClass of sluice\n")
      << "without any CRD; " << nothing.errors;

  installGatewayApi(kubectl);
  kubectl.apply(kGatewayOfCluster + leaseOfReplica("one", "InSync") + leaseOfReplica("two", "Rollback"));
  const ProgramOutcome unseen = statusBy(server.kubeconfig());
  EXPECT_EQ(unseen.exitCode, 1) << unseen.output;
  EXPECT_THAT(unseen.output, HasSubstr("it has no status: no controller has looked at it"));

  writeStatuses(kubectl);
  const ProgramOutcome bad = statusBy(server.kubeconfig());
  EXPECT_EQ(bad.exitCode, 1) << bad.output;
  EXPECT_THAT(bad.output, HasSubstr("1 of 2     SomeReplicasFailing: 1 of 2 replicas fail: default/two"));
  EXPECT_LT(bad.output.find("\ndefault/two"), bad.output.find("\ndefault/one"));

  kubectl.apply(leaseOfReplica("two", "InSync"));
  const ProgramOutcome good = statusBy(server.kubeconfig());
  EXPECT_EQ(good.exitCode, 0) << good.output << good.errors;
  EXPECT_THAT(good.output, HasSubstr(": all is well\n"));
  EXPECT_THAT(good.output, HasSubstr("default/egress   egress   127.0.0.1   1        2 of 2     ok\n"));
  EXPECT_THAT(good.output, HasSubstr("HTTPRoute   default     web    ok\n"));
  EXPECT_THAT(statusBy(server.kubeconfig(), {"-o", "json"}).output, HasSubstr("\"faults\":false,\"gateways\":[{"));
}

TEST_F(StatusOfCluster, ShowsMoreObjectsThanAPageHas) {
  const KubeApiServer server;
  const Kubectl kubectl(server.kubeconfig());
  installGatewayApi(kubectl);
  std::string leases;
  for (int i = 0; i < 230; ++i) leases += leaseOfReplica("r" + std::to_string(i), "InSync");
  kubectl.apply(kGatewayOfCluster + leases);
  const ProgramOutcome got = statusBy(server.kubeconfig());
  EXPECT_THAT(got.output, HasSubstr("default/r0 "));
  EXPECT_THAT(got.output, HasSubstr("default/r229 "));
}

TEST_F(StatusOfCluster, ShowsObjectsHoweverLargeTheyAre) {
  const KubeApiServer server;
  const Kubectl kubectl(server.kubeconfig());
  installGatewayApi(kubectl);
  std::string leases;
  for (int i = 0; i < 20; ++i) {
    std::string lease = leaseOfReplica("r" + std::to_string(i), "InSync");
    const std::string annotations = "annotations:\n";
    lease.insert(lease.find(annotations) + annotations.size(),
                 "    large: " + std::string(std::size_t{250} << 10, 'x') + "\n");
    leases += lease;
  }
  kubectl.apply(kGatewayOfCluster + leases);
  const ProgramOutcome got = statusBy(server.kubeconfig());
  EXPECT_THAT(got.output, HasSubstr("default/r0 ")) << got.errors;
  EXPECT_THAT(got.output, HasSubstr("default/r19 "));
}

TEST_F(StatusOfCluster, SaysWhatTheServerRefuses) {
  const TempDir folder;
  const std::string tokens = folder.write("tokens", "secret,somebody,1\n");
  const KubeApiServer server({"--authorization-mode", "RBAC", "--token-auth-file", tokens});
  const Kubectl administrator(server.kubeconfig());
  installGatewayApi(administrator);
  administrator.apply(kGatewayOfCluster + leaseOfReplica("one", "InSync"));
  const std::string kubeconfig =
      folder.write("kubeconfig", kubeconfigOf(server.url(), server.dataFolder() + "/ca.crt", "{token: secret}"));
  const ProgramOutcome refused = statusBy(kubeconfig);
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors,
              HasSubstr("the API server at " + server.url() +
                        " refuses to list /apis/gateway.networking.k8s.io/v1/gatewayclasses: HTTP status 403: "));
  // Leases of one namespace are enough.
  administrator.expect({"create", "clusterrole", "viewer", "--verb=list",
                        "--resource=gatewayclasses.gateway.networking.k8s.io,gateways.gateway.networking.k8s.io,"
                        "httproutes.gateway.networking.k8s.io,grpcroutes.gateway.networking.k8s.io"});
  administrator.apply(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: others}\n"
      "rules: [{apiGroups: [ainetworking.prototype.x-k8s.io], resources: [egressgateways], verbs: [list]}]\n");
  administrator.expect({"create", "clusterrolebinding", "viewer", "--clusterrole=viewer", "--user=somebody"});
  administrator.expect({"create", "clusterrolebinding", "others", "--clusterrole=others", "--user=somebody"});
  administrator.expect({"create", "role", "viewer", "--verb=list", "--resource=leases.coordination.k8s.io"});
  administrator.expect({"create", "rolebinding", "viewer", "--role=viewer", "--user=somebody"});
  EXPECT_TRUE(eventually([&] { return statusBy(kubeconfig).output.find("\ndefault/one ") != std::string::npos; }))
      << statusBy(kubeconfig).errors;
}

TEST_F(StatusOfCluster, IsForAPersonWithAPluginInAListOfKubeconfigs) {
  const TempDir folder;
  const std::string tokens = folder.write("tokens", "secret-token,somebody,1,system:masters\n");
  const KubeApiServer server({"--authorization-mode", "RBAC", "--token-auth-file", tokens});
  installGatewayApi(Kubectl(server.kubeconfig()));
  const std::string script = folder.write(
      "plugin.sh",
      "echo 'a message for the person' >&2\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": "
      "\"ExecCredential\", \"status\": {\"token\": \"secret-token\"}}'\n");
  const std::string plugged = folder.write(
      "kubeconfig", kubeconfigOf(server.url(), server.dataFolder() + "/ca.crt",
                                 "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['" + script +
                                     "'], interactiveMode: Never}}"));
  const ProgramOutcome got = run(
      {"env", "KUBECONFIG=" + folder.path() + "/absent:" + plugged, programPath("sluice"), "status", "--kubernetes"});
  EXPECT_THAT(got.errors, HasSubstr("a message for the person\n"));
  EXPECT_THAT(got.errors, testing::Not(HasSubstr("API server")));
  EXPECT_THAT(got.output + got.errors, testing::Not(HasSubstr("secret-token")));
  EXPECT_EQ(got.output, statusBy(server.kubeconfig()).output);
  const ProgramOutcome process =
      sluice({"run", "--kubernetes", "--kubeconfig", plugged, "--admin", "127.0.0.1:1", "--health", "127.0.0.1:1"});
  EXPECT_EQ(process.exitCode, 1);
  EXPECT_THAT(process.errors, HasSubstr("credential plugins are for commands that a person runs"));
}

TEST_F(StatusOfCluster, SaysThatTheServerIsAwayOrSilent) {
  KubeApiServer server;
  FaultProxy proxy(server);
  proxy.stall();
  const ProgramOutcome silent = statusBy(proxy.kubeconfig());
  EXPECT_EQ(silent.exitCode, 1);
  EXPECT_EQ(silent.output, "");
  EXPECT_THAT(silent.errors,
              testing::AnyOf(HasSubstr("the API server at " + proxy.url() + " has not answered within 10 seconds"),
                             HasSubstr("the API server at " + proxy.url() + " cannot be reached: ")));
  server.stop();
  const ProgramOutcome away = statusBy(server.kubeconfig());
  EXPECT_EQ(away.exitCode, 1);
  EXPECT_THAT(away.errors, HasSubstr("the API server at " + server.url() + " cannot be reached: "));
  EXPECT_THAT(sluice({"status", "--kubernetes", "--admin", "127.0.0.1:1"}).errors, HasSubstr("--admin"));
  const ProgramOutcome nowhere = statusBy("/nowhere/kubeconfig");
  EXPECT_EQ(nowhere.exitCode, 1);
  EXPECT_THAT(nowhere.errors, HasSubstr("/nowhere/kubeconfig"));
}

}  // namespace
}  // namespace sluice::test
