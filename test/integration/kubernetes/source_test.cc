// A gateway that has its configuration from a real API server: objects as they come, change, and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class KubeSource : public KubeSourceTest {};

TEST_F(KubeSource, ServesGatewaysRoutesAndBackendsAndTheirChangesWithoutAFailedRequest) {
  startServer();
  startGateway();
  EXPECT_TRUE(sluice->process().waitForLine("\"serving\""));
  kubectl->apply(gateway() + external("far", one.port()) + service("near", two.port()) +
                 route("far", "/far", toExternal("far")) + route("near", "/near", toService("near")) +
                 route("all", "/", toExternal("far")));
  EXPECT_TRUE(answers("/far", "one"));
  EXPECT_TRUE(answers("/near", "two"));
  EXPECT_TRUE(sluice->isReady());

  SteadyTraffic traffic(port);
  kubectl->apply(route("far", "/far", toService("near")));
  EXPECT_TRUE(answers("/far", "two"));
  kubectl->apply(service("near", one.port()));
  EXPECT_TRUE(answers("/near", "one"));
  kubectl->remove(route("far", "/far", toService("near")) + service("near", one.port()));
  EXPECT_TRUE(answers("/near", "500")) << "its Service is gone";
  EXPECT_TRUE(answers("/far", "one")) << "that is the route for everything else";
  kubectl->apply(service("near", two.port()));
  EXPECT_TRUE(answers("/near", "two"));
  traffic.stop();
  EXPECT_EQ(traffic.failed(), 0);
  EXPECT_GT(traffic.answered(), 0);

  // Fields of real objects that the gateway does not read are no mistakes.
  EXPECT_EQ(logged("unknown field"), 0u) << sluice->process().errors();
  EXPECT_EQ(logged("clusterIP"), 0u) << sluice->process().errors();
  kubectl->remove(gateway());
  EXPECT_TRUE(eventually([&] { return ask() == "none"; }));
}

TEST_F(KubeSource, ServesTheOthersWhileOneObjectIsBad) {
  startServer();
  kubectl->apply(gateway() + external("far", one.port()) + route("good", "/good", toExternal("far")) +
                 route("bad", "/bad", toExternal("far"),
                       ", filters: [{type: ExtensionRef, extensionRef: {group: acme.test, kind: Nobody, name: x}}]"));
  startGateway();
  EXPECT_TRUE(answers("/good", "one"));
  EXPECT_TRUE(answers("/bad", "500"));
  kubectl->apply(route("bad", "/bad", toExternal("far")));
  EXPECT_TRUE(answers("/bad", "one"));
}

TEST_F(KubeSource, ServesTheGatewaysThatItIsToldToServe) {
  startServer();
  const std::uint16_t foreign = freePort();
  std::string other = gateway();
  other.replace(other.find("egress"), 6, "other");
  other.replace(other.find(std::to_string(port)), std::to_string(port).size(), std::to_string(foreign));
  kubectl->apply(gateway() + other + external("far", one.port()) + route("all", "/", toExternal("far")));
  startGateway({"--gateway", "demo/egress"});
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_FALSE(BlockingSocket::connect(foreign).ok());
}

TEST_F(KubeSource, ReadsASecretThatIsCreatedAfterTheGatewayThatNamesIt) {
  startServer();
  const CertifiedKey authority = makeAuthority();
  const CertifiedKey identity = issueServer(authority, "secure.test");
  const std::uint16_t tlsPort = freePort();
  kubectl->apply(gateway("    - {name: https, protocol: HTTPS, port: " + std::to_string(tlsPort) +
                         ", tls: {certificateRefs: [{name: listener}]}}\n") +
                 external("far", one.port()) + route("all", "/", toExternal("far")));
  startGateway();
  EXPECT_TRUE(answers("/", "one"));
  const auto secure = [&] {
    return run({"curl", "-sk", "--max-time", "10", "--resolve", "secure.test:" + std::to_string(tlsPort) + ":127.0.0.1",
                "https://secure.test:" + std::to_string(tlsPort) + "/"})
               .output == "one";
  };
  EXPECT_FALSE(secure());
  kubectl->apply(tlsSecretOf("listener", identity, "demo").substr(4));
  EXPECT_TRUE(eventually(secure)) << sluice->process().errors();
  EXPECT_THAT(sluice->process().errors(), Not(HasSubstr("PRIVATE KEY")));
}

TEST_F(KubeSource, SaysWhichSecretIsForbiddenAndReadsItOnceItIsPermitted) {
  const TempDir folder;
  const std::string tokens = folder.write("tokens", "secret-token,system:serviceaccount:demo:gateway,1\n");
  startOwnServer({"--authorization-mode", "RBAC", "--token-auth-file", tokens});
  const CertifiedKey authority = makeAuthority();
  const std::uint16_t tlsPort = freePort();
  kubectl->apply(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: gateway}\nrules:\n"
      "- {apiGroups: [gateway.networking.k8s.io, gateway.networking.x-k8s.io, discovery.k8s.io], resources: ['*'], "
      "verbs: [list, watch]}\n- {apiGroups: [''], resources: [namespaces, services], verbs: [list, watch]}\n---\n"
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: settings, namespace: demo}\nrules:\n"
      "- {apiGroups: [''], resources: [configmaps], resourceNames: [settings], verbs: [list, watch]}\n");
  kubectl->expect(
      {"create", "clusterrolebinding", "gateway", "--clusterrole=gateway", "--serviceaccount=demo:gateway"});
  kubectl->expect(
      {"create", "rolebinding", "settings", "--namespace=demo", "--role=settings", "--serviceaccount=demo:gateway"});
  kubectl->apply(gateway("    - {name: https, protocol: HTTPS, port: " + std::to_string(tlsPort) +
                         ", tls: {certificateRefs: [{name: listener}]}}\n") +
                 external("far", one.port()) + route("all", "/", toExternal("far")));
  kubectl->apply(tlsSecretOf("listener", issueServer(authority, "secure.test"), "demo").substr(4));
  startGateway({}, folder.write("kubeconfig", kubeconfigOf(server->url(), server->dataFolder() + "/ca.crt",
                                                           "{token: secret-token}")));
  EXPECT_TRUE(answers("/", "one")) << "what needs no Secret is served";
  EXPECT_THAT(sluice->adminGet("/status"), HasSubstr("does not let it be read"));
  EXPECT_TRUE(sluice->process().waitForLine("Secret demo/listener"));
  const auto secure = [&] {
    return run({"curl", "-sk", "--max-time", "10", "--resolve", "secure.test:" + std::to_string(tlsPort) + ":127.0.0.1",
                "https://secure.test:" + std::to_string(tlsPort) + "/"})
               .output == "one";
  };
  EXPECT_FALSE(secure());
  kubectl->expect({"create", "role", "listener", "--namespace=demo", "--verb=list,watch", "--resource=secrets",
                   "--resource-name=listener"});
  kubectl->expect(
      {"create", "rolebinding", "listener", "--namespace=demo", "--role=listener", "--serviceaccount=demo:gateway"});
  EXPECT_TRUE(eventually(secure)) << sluice->process().errors();
  EXPECT_THAT(sluice->adminGet("/status"), Not(HasSubstr("does not let it be read")));
  EXPECT_EQ(logged("secret-token"), 0u);
}

TEST_F(KubeSource, PrefersTheServersObjectsToThoseOfFilesBesideThem) {
  startServer();
  const TempDir files;
  files.write("beside.yaml", gateway() + external("far", two.port()) + external("filed", two.port()) +
                                 route("all", "/", toExternal("far")) + route("filed", "/filed", toExternal("filed")));
  kubectl->apply(gateway() + external("far", one.port()));
  startGateway({"--config", files.path()});
  EXPECT_TRUE(answers("/filed", "two"));
  EXPECT_TRUE(answers("/", "one")) << "the server has that Backend";
  kubectl->remove(external("far", one.port()));
  EXPECT_TRUE(answers("/", "two"));
}

TEST_F(KubeSource, ReadsKindsWhoseDefinitionsAreDeletedAndInstalledAgain) {
  startOwnServer();
  const std::string objects = external("far", one.port()) + route("all", "/", toExternal("far"));
  kubectl->apply(gateway() + objects);
  startGateway();
  EXPECT_TRUE(answers("/", "one"));
  kubectl->expect({"delete", "crd", "httproutes.gateway.networking.k8s.io"});
  EXPECT_TRUE(answers("/", "404"));
  EXPECT_TRUE(sluice->process().waitForLine("HTTPRoute.gateway.networking.k8s.io"));
  installGatewayApi(*kubectl);
  kubectl->apply(objects);
  EXPECT_TRUE(answers("/", "one"));
  EXPECT_TRUE(sluice->process().waitForLine("these kinds are installed now"));
}

TEST_F(KubeSource, FollowsMoreObjectsThanOneConnectionHasStreams) {
  startServer();
  constexpr std::size_t kNamed = 200;
  std::string objects = gateway() + external("far", one.port()) + route("all", "/", toExternal("far"));
  for (std::size_t i = 0; i < kNamed / 8; ++i) {
    std::string refs;
    for (std::size_t k = 0; k < 8; ++k) {
      refs +=
          std::string(k == 0 ? "" : ", ") + "{group: '', kind: ConfigMap, name: ca-" + std::to_string(i * 8 + k) + "}";
    }
    objects +=
        "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {namespace: demo, name: b-" +
        std::to_string(i) +
        "}\nspec: {type: ExternalHostname, port: {port: 443}, protocol: HTTP, externalHostname: {hostname: "
        "origin.test}, tls: {mode: ServerOnly, validation: {hostname: origin.test, caCertificateRefs: [" +
        refs + "]}}}\n---\n";
  }
  kubectl->apply(objects);
  startGateway();
  EXPECT_TRUE(answers("/", "one"));
  const auto watched = [&] {
    const std::string series = "apiserver_longrunning_requests{";
    const std::string text = kubectl->expect({"get", "--raw", "/metrics"});
    for (std::size_t at = text.find(series); at != std::string::npos; at = text.find(series, at + 1)) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      if (line.find("resource=\"configmaps\"") == std::string::npos) continue;
      if (std::stoul(line.substr(line.rfind(' ') + 1)) >= kNamed) return true;
    }
    return false;
  };
  EXPECT_TRUE(eventually(watched));
  kubectl->apply(route("all", "/", toExternal("far")) + external("far", two.port()));
  EXPECT_TRUE(answers("/", "two"));
}

}  // namespace
}  // namespace sluice::test
