// Tests that the Secrets of Gateways' Pods change with the references to Secrets and with the grants for them, even if
// nothing else changes and most results of the last compilation are kept. CompiledFolder compares each compilation with
// one without caches.
#include "proxy/compile/gateways/gateway_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/compile/compiled_folder.h"
#include "test/compile/gateways/tenant_objects.h"
#include "test/compile/gateways/verified_gateway.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using test::grantIn;
using test::inNamespace;
using test::with;
using testing::ElementsAre;
using testing::Pair;

/// Returns a Backend in `team` with that client certificate.
std::string certifiedBackend(const std::string& name, const std::string& certificate) {
  return inNamespace("team", with(with(test::kBackend, "name: origin", "name: " + name), "spec: {",
                                  "spec: {tls: {mode: Mutual, clientCertificateRef: {name: " + certificate + "}}, "));
}
/// Returns a route in `team` to that Backend.
std::string tenantRoute(const std::string& backend, const std::string& filters = {}) {
  return inNamespace("team", test::routeWithRules("rules: [{" + filters +
                                                  "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, "
                                                  "name: " +
                                                  backend + ", port: 8080}]}]"));
}
std::string plainTeamBackend() {
  return inNamespace(
      "team", with(with(test::kBackend, "name: origin", "name: plain"), "spec: {", "spec: {tls: {mode: Terminate}, "));
}
/// Returns a processor for the Backend `plain`.
std::string backendProcessor(const std::string& use) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: team, name: p}\nspec: "
         "{targetRef: {group: gateway.networking.k8s.io, kind: Backend, name: plain}, processors: [{name: a, type: "
         "'gateway.networking.k8s.io/CredentialInjector:v1', phase: request-headers, " +
         use + "}]}\n";
}

class GatewaySecrets : public testing::Test {
 protected:
  GatewaySecrets() {
    folder_.write("class.yaml", std::string(test::kClass));
    folder_.write("gateway.yaml", inNamespace("team", test::kGateway));
    const std::string pair = test::keyPair("one", test::server());
    folder_.write("one.yaml", inNamespace("team", pair));
    folder_.write("two.yaml", inNamespace("team", with(pair, "name: one", "name: two")));
    folder_.write("token.yaml", inNamespace("vault", test::secret("token", {{"key", "value"}})));
  }
  base::ObjectNames secrets() const { return folder_.secretsOf("team", "egress"); }
  /// Returns the name of the Backend that serves; "500" if none does.
  std::string outcome() const {
    const routing::Rule* rule = folder_.rule("/");
    if (rule == nullptr || rule->failure || rule->backends.at(0).failure) return "500";
    return rule->backends.at(0).backend->name;
  }

  test::CompiledFolder folder_{test::typesWithServers(), "sluice-system"};
};

TEST_F(GatewaySecrets, FollowTheNameOfACertificateThatStaysTheSame) {
  folder_.write("route.yaml", tenantRoute("origin"));
  folder_.write("backend.yaml", certifiedBackend("origin", "one"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "one")));
  folder_.write("backend.yaml", certifiedBackend("origin", "two"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "two")));
}

TEST_F(GatewaySecrets, FollowTheAuthoritiesOfAListenersClients) {
  const std::string authorities = test::secret("ca", {{"ca.crt", test::authority().certificate}});
  folder_.write("ca.yaml", inNamespace("team", authorities));
  folder_.write("vault.yaml", inNamespace("vault", authorities));
  const auto gatewayBy = [](const std::string& ref) {
    return inNamespace("team", test::verifyingGateway("{default: {" + test::validationBy(ref) + "}}",
                                                      test::httpsListener("web", 443)));
  };
  folder_.write("gateway.yaml", gatewayBy("{group: '', kind: Secret, name: ca}"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "ca"), Pair("team", "pair")));
  folder_.write("gateway.yaml", gatewayBy("{group: '', kind: Secret, name: ca, namespace: vault}"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "pair"))) << "no grant permits it";
  folder_.write("grant.yaml", grantIn("vault", test::fromGateways(), "{group: '', kind: Secret}"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "pair"), Pair("vault", "ca")));
}

TEST_F(GatewaySecrets, FollowTheNamespaceOfACertificateThatStaysTheSame) {
  folder_.write("route.yaml", tenantRoute("origin"));
  folder_.write("backend.yaml", certifiedBackend("origin", "one"));
  folder_.write("cert.yaml", inNamespace("vault", test::keyPair("cert", test::server())));
  folder_.write("grant.yaml", grantIn("vault", "{group: gateway.networking.k8s.io, kind: Backend, namespace: team}",
                                      "{group: '', kind: Secret}"));
  folder_.compile();
  EXPECT_EQ(outcome(), "team/origin");
  folder_.write("backend.yaml",
                with(certifiedBackend("origin", "cert"), "{name: cert}", "{name: cert, namespace: vault}"));
  folder_.compile();
  EXPECT_EQ(outcome(), "500") << "the Pods may not read it there";
}

TEST_F(GatewaySecrets, FollowTheNameOfTheCertificateOfAServerOfProcessors) {
  folder_.write("plain.yaml", plainTeamBackend());
  folder_.write("route.yaml",
                tenantRoute("plain",
                            "filters: [{type: PayloadProcessing, payloadProcessing: [{name: a, type: "
                            "'sluice.dev/ExtProc:v1', phase: request-headers, config: {backendRefs: [{group: "
                            "gateway.networking.k8s.io, kind: Backend, name: server, port: 8080}]}}]}], "));
  folder_.write("server.yaml", certifiedBackend("server", "one"));
  folder_.compile();
  EXPECT_EQ(outcome(), "team/plain");
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "one")));
  folder_.write("server.yaml", certifiedBackend("server", "two"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "two")));
}

TEST_F(GatewaySecrets, FollowTheNameThatAProcessorReadsWhichIsLeftOut) {
  folder_.write("plain.yaml", plainTeamBackend());
  folder_.write("route.yaml", tenantRoute("plain"));
  folder_.write("processor.yaml",
                backendProcessor("failOpen: true, config: {secret: coming, secretRef: {name: coming}}"));
  folder_.compile();
  EXPECT_EQ(outcome(), "team/plain");
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "coming"))) << "or the Pods could not see it come";
  folder_.write("processor.yaml",
                backendProcessor("failOpen: true, config: {secret: other, secretRef: {name: other}}"));
  folder_.compile();
  EXPECT_THAT(secrets(), ElementsAre(Pair("team", "other")));
}

TEST_F(GatewaySecrets, FollowGrantsWithWhichProcessorsStayTheSame) {
  folder_.write("plain.yaml", plainTeamBackend());
  folder_.write("route.yaml", tenantRoute("plain"));
  folder_.write("processor.yaml", backendProcessor("config: {secretRef: {namespace: vault, name: token}}"));
  folder_.compile();
  EXPECT_EQ(outcome(), "team/plain") << "it does not read the Secret";
  folder_.write("grant.yaml", grantIn("vault", "{group: sluice.dev, kind: PayloadProcessor, namespace: team}",
                                      "{group: '', kind: Secret}"));
  folder_.compile();
  EXPECT_EQ(outcome(), "500") << "it may read the Secret, and the Pods may not";
  folder_.write("grant.yaml", "");
  folder_.compile();
  EXPECT_EQ(outcome(), "team/plain");
}

TEST_F(GatewaySecrets, EndWithTheGrantOfABackend) {
  folder_.write(
      "class.yaml",
      with(test::kClass, "sluice.dev/egress-gateway",
           "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: default, name: s}") +
          "---\n" + test::configMap("s", "settings.yaml", "provisioning: {trustedNamespaces: [team]}"));
  folder_.write("cert.yaml", inNamespace("vault", test::keyPair("cert", test::server())));
  folder_.write("route.yaml", tenantRoute("origin"));
  folder_.write("backend.yaml",
                with(certifiedBackend("origin", "cert"), "{name: cert}", "{name: cert, namespace: vault}"));
  folder_.write("grant.yaml", grantIn("vault", "{group: gateway.networking.k8s.io, kind: Backend, namespace: team}",
                                      "{group: '', kind: Secret}"));
  folder_.compile();
  EXPECT_EQ(outcome(), "team/origin");
  EXPECT_THAT(secrets(), ElementsAre(Pair("vault", "cert")));
  folder_.write("grant.yaml", "");
  folder_.compile();
  EXPECT_EQ(outcome(), "500");
  EXPECT_THAT(secrets(), testing::IsEmpty());
}

}  // namespace
}  // namespace sluice::compile
