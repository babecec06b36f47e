// Tests one gateway and one controller with a real API server, from the first `kubectl apply` until after the server's
// outage, as their user sees them: the served configuration, and the statuses of its objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>

#include "test/integration/kubernetes/source_fixture.h"
#include "test/integration/support/kubernetes/cluster_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kModelsKey = "key-of-the-story";
constexpr const char* kModelsKeyArrives = "\"authorization: Bearer key-of-the-story\"";

/// Returns the jsonpath of a member of a condition of an HTTPRoute's only parent.
std::string ofParent(const std::string& type, const std::string& member) {
  return "{.status.parents[0].conditions[?(@.type==\"" + type + "\")]." + member + "}";
}

std::string indentedBy4(const std::string& text) {
  std::string result = "    ";
  for (const char each : text) result += each == '\n' ? "\n    " : std::string(1, each);
  return result;
}

class KubeStory : public KubeSourceTest {
 protected:
  /// The Backend, with TLS of its own authority and the credential.
  std::string backend() const {
    return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: models}\nspec:\n"
           "  destination:\n    type: Fqdn\n    fqdn: {hostname: origin.test}\n    ports:\n      - number: " +
           std::to_string(origin.port()) +
           "\n        protocol: HTTP\n        tls: {mode: Simple, sni: origin.test, caBundleRef: [{name: origin-ca}]}\n"
           "  extensions:\n    - name: key\n      type: gateway.networking.k8s.io/CredentialInjector:v1\n"
           "      phase: request-headers\n      config: {secretRef: {name: models-key}}\n---\n"
           "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: origin-ca}\ndata:\n  ca.crt: |\n" +
           indentedBy4(authority.certificate) +
           "\n---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: models-key}\nstringData: {token: " +
           kModelsKey + "}\n---\n";
  }
  std::string models(const std::string& path = "/v1", const std::string& moreRules = "") const {
    return route("models", path, kBackend, moreRules);
  }
  std::string kept() const { return route("kept", "/kept", kBackend); }

  bool has(const std::string& name, const std::string& type, const std::string& status) const {
    return kubectl->waitFor("httproute", "demo", name, ofParent(type, "status"), status);
  }
  /// Waits until the newest generation of a route is judged, and served by the gateway.
  testing::AssertionResult isServed(const std::string& name) const {
    const std::string generation = kubectl->get("httproute", "demo", name, "{.metadata.generation}");
    if (kubectl->waitFor("httproute", "demo", name, ofParent("sluice.dev/Programmed", "observedGeneration"),
                         generation) &&
        has(name, "sluice.dev/Programmed", "True") && has(name, "Accepted", "True") &&
        has(name, "ResolvedRefs", "True")) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << kubectl->expect({"get", "httproute", name, "-n", "demo", "-o", "yaml"});
  }
  /// Waits until the origin has got a request for this path, with the key, through TLS.
  testing::AssertionResult reachesOrigin(const std::string& path) const {
    std::string answer;
    const auto arrives = [&] {
      answer = ask(path);
      return answer.find(kModelsKeyArrives) != std::string::npos && echoed(answer, "sni") == "origin.test";
    };
    if (eventually(arrives)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << path << ": " << answer << "\n" << sluice->process().errors();
  }
  std::string attachedRoutes() const {
    return kubectl->get("gateway", "demo", "egress", "{.status.listeners[0].attachedRoutes}");
  }

  // The chapters.
  void beginning();
  void badChanges();
  void recovery();
  void deletion();
  void outage();

  static constexpr const char* kBackend = "{group: sluice.dev, kind: Backend, name: models}";
  const TempDir state;
  const CertifiedKey authority = makeAuthority();
  EchoOrigin origin{issueServer(authority, "origin.test")};
  std::unique_ptr<ClusterProcess> controller;
};

void KubeStory::beginning() {
  startOwnServer({}, InstalledKinds::kGatewayApiAndOurs);
  controller = std::make_unique<ClusterProcess>(std::vector<std::string>{"controller"}, server->kubeconfig());
  startGateway({"--gateway", "demo/egress", "--state-dir", state.path()});
  kubectl->apply(gateway() + models() + kept() + backend());

  EXPECT_TRUE(isServed("models"));
  EXPECT_TRUE(isServed("kept"));
  kubectl->expect({"wait", "--for=condition=Accepted", "--timeout=100s", "gatewayclass/test"});
  kubectl->expect({"wait", "--for=condition=Programmed", "--timeout=100s", "-n", "demo", "gateway/egress"});
  EXPECT_EQ(kubectl->get("gateway", "demo", "egress", "{.status.addresses[*].value}"), "127.0.0.1");
  EXPECT_TRUE(eventually([&] { return attachedRoutes() == "2"; })) << attachedRoutes();
  EXPECT_TRUE(kubectl->waitFor("backends.sluice.dev", "demo", "models",
                               "{.status.controllers[0].conditions[?(@.type==\"Accepted\")].status}", "True"));
  EXPECT_TRUE(reachesOrigin("/v1/chat"));
  EXPECT_EQ(ask("/elsewhere"), "404");
}

void KubeStory::badChanges() {
  // The API server itself refuses an object that the schema forbids, and nothing changes.
  const TempDir folder;
  const ProgramOutcome refused = kubectl->run(
      {"apply", "--server-side", "-f", folder.write("bad.yaml", models("/v1", ", timeouts: {request: tomorrow}"))});
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.errors, HasSubstr("timeouts.request"));
  EXPECT_TRUE(isServed("models"));

  // An error that only the gateway can find affects its rule only, and the object's status shows it.
  kubectl->apply(models("/v1",
                        "}, {matches: [{path: {type: PathPrefix, value: /new}}], backendRefs: [{group: "
                        "sluice.dev, kind: Backend, name: nowhere}]"));
  EXPECT_TRUE(answers("/new", "500"));
  EXPECT_TRUE(has("models", "ResolvedRefs", "False"));
  EXPECT_EQ(kubectl->get("httproute", "demo", "models", ofParent("ResolvedRefs", "reason")), "BackendNotFound");
  EXPECT_THAT(kubectl->get("httproute", "demo", "models", ofParent("ResolvedRefs", "message")), HasSubstr("nowhere"));
  EXPECT_EQ(kubectl->get("httproute", "demo", "models", ofParent("ResolvedRefs", "observedGeneration")), "2");
  EXPECT_TRUE(isServed("kept"));
  EXPECT_TRUE(reachesOrigin("/v1/chat"));
}

void KubeStory::recovery() {
  kubectl->apply(models(
      "/v1", std::string("}, {matches: [{path: {type: PathPrefix, value: /new}}], backendRefs: [") + kBackend + "]"));
  EXPECT_TRUE(reachesOrigin("/new"));
  EXPECT_TRUE(isServed("models"));
}

void KubeStory::deletion() {
  const std::string before = kubectl->get("httproute", "demo", "kept", "{.metadata.resourceVersion}{.status}");
  EXPECT_THAT(before, HasSubstr("\"Accepted\""));
  kubectl->expect({"delete", "httproute", "models", "-n", "demo"});
  EXPECT_TRUE(answers("/v1/chat", "404"));
  EXPECT_EQ(ask("/new"), "404");
  EXPECT_TRUE(eventually([&] { return attachedRoutes() == "1"; })) << attachedRoutes();
  EXPECT_EQ(kubectl->get("httproute", "demo", "kept", "{.metadata.resourceVersion}{.status}"), before);
  kubectl->expect({"wait", "--for=condition=Programmed", "--timeout=100s", "-n", "demo", "gateway/egress"});
  EXPECT_TRUE(reachesOrigin("/kept"));
}

void KubeStory::outage() {
  server->kill();
  // In the end it stores what it serves, while a process that is killed may have stored that a minute ago.
  sluice->process().signal(SIGTERM);
  EXPECT_EQ(sluice->process().wait(), 0);
  sluice->startAgain();
  EXPECT_TRUE(reachesOrigin("/kept"));
  EXPECT_EQ(ask("/v1/chat"), "404") << "it was deleted before";

  server->restart();
  kubectl->apply(models("/v2"));
  EXPECT_TRUE(reachesOrigin("/v2/chat"));
  EXPECT_TRUE(isServed("models"));
  EXPECT_TRUE(isServed("kept"));
  EXPECT_TRUE(eventually([&] { return attachedRoutes() == "2"; })) << attachedRoutes();
}

TEST_F(KubeStory, GoesFromTheFirstApplyThroughABadChangeADeletionAndAnOutage) {
  beginning();
  SteadyTraffic kept(port, "GET /kept HTTP/1.1\r\nHost: a\r\n\r\n");
  {
    SteadyTraffic changing(port, "GET /v1/chat HTTP/1.1\r\nHost: a\r\n\r\n");
    badChanges();
    recovery();
    changing.stop();
    EXPECT_EQ(changing.failed(), 0);
    EXPECT_GT(changing.answered(), 0);
  }
  deletion();
  kept.stop();
  EXPECT_EQ(kept.failed(), 0);
  EXPECT_GT(kept.answered(), 0);
  outage();
  EXPECT_EQ(logged(kModelsKey), 0u);
  EXPECT_EQ(controller->process().said(kModelsKey), 0u);
}

}  // namespace
}  // namespace sluice::test
