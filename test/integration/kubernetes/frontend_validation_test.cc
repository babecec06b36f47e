// Tests spec.tls.frontend of a Gateway of a real API server: conditions of its listeners, and authorities of clients
// that are in force as soon as they change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {
namespace {

class KubeFrontendValidation : public KubeSourceTest {
 protected:
  void startWith(const std::string& refs) {
    startServer();
    kubectl->apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: keys}\n---\n" + gatewayWanting(refs) +
                   external("far", one.port()) + route("all", "/", toExternal("far")) +
                   tlsSecretOf("listener", issueServer(server_, "localhost"), "demo").substr(4));
    startGateway({"--controller"});
  }
  /// Returns the Gateway with an HTTPS listener whose clients are verified by these authorities.
  std::string gatewayWanting(const std::string& refs, const std::string& mode = "AllowValidOnly") const {
    const std::string listener = "    - {name: secure, protocol: HTTPS, port: " + std::to_string(secure_) +
                                 ", tls: {mode: Terminate, certificateRefs: [{name: listener}]}}\n" +
                                 "  tls: {frontend: {default: {validation: {mode: " + mode + ", caCertificateRefs: [" +
                                 refs + "]}}}}\n";
    return gateway(listener);
  }
  static std::string inConfigMap(const std::string& name, const std::string& more = "") {
    return "{group: '', kind: ConfigMap, name: " + name + more + "}";
  }
  static std::string authorities(const CertifiedKey& root, const std::string& nameSpace = "demo") {
    return configMapOf("clients", {{"ca.crt", root.certificate}}, nameSpace).substr(4) + "---\n";
  }
  /// Returns the status of a request by a client; 0 if there was no handshake.
  int ask(const std::optional<CertifiedKey>& client) const {
    const TlsDoor door(secure_, server_.certificate, client);
    return askRaw(door.port()).status;
  }
  bool becomes(const std::optional<CertifiedKey>& client, int status) const {
    return eventually([&] { return ask(client) == status; });
  }
  /// Waits until a condition of the listener has that status and reason.
  testing::AssertionResult has(const std::string& type, const std::string& expected) const {
    const std::string path =
        "{.status.listeners[?(@.name==\"secure\")].conditions[?(@.type==\"" + type + "\")]['status','reason']}";
    if (kubectl->waitFor("gateway", "demo", "egress", path, expected)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << kubectl->get("gateway", "demo", "egress", "{.status}");
  }
  bool isInsecure(const std::string& expected) const {
    return kubectl->waitFor("gateway", "demo", "egress",
                            "{.status.conditions[?(@.type==\"InsecureFrontendValidationMode\")]['status','reason']}",
                            expected);
  }

  const CertifiedKey server_ = makeAuthority("Server Authority");
  const CertifiedKey root_ = makeAuthority("Client Authority");
  const CertifiedKey client_ = clientOf(root_, {spiffeId("shop", "cart")});
  const std::uint16_t secure_ = freePort();
};

TEST_F(KubeFrontendValidation, IsByTheAuthoritiesOfNow) {
  startWith(inConfigMap("clients"));
  EXPECT_TRUE(has("ResolvedRefs", "False InvalidCACertificateRef")) << "the ConfigMap is missing";
  EXPECT_TRUE(has("Accepted", "False NoValidCACertificate"));
  EXPECT_EQ(ask(client_), 0);
  EXPECT_TRUE(answers("/", "one")) << "the other listener is served";
  kubectl->apply(authorities(root_));
  EXPECT_TRUE(becomes(client_, 200));
  EXPECT_TRUE(has("ResolvedRefs", "True ResolvedRefs"));
  EXPECT_TRUE(has("Accepted", "True Accepted"));
  EXPECT_EQ(ask(std::nullopt), 0);

  const CertifiedKey other = makeAuthority("Other Authority");
  kubectl->apply(authorities(other));
  EXPECT_TRUE(becomes(client_, 0));
  EXPECT_EQ(ask(clientOf(other, {spiffeId("shop", "cart")})), 200);
  kubectl->apply(authorities(root_));
  EXPECT_TRUE(becomes(client_, 200));
}

TEST_F(KubeFrontendValidation, NeedsAConfigMapOrSecretThatItMayRead) {
  startWith("{group: '', kind: Service, name: clients}");
  EXPECT_TRUE(has("ResolvedRefs", "False InvalidCACertificateKind"));
  EXPECT_TRUE(has("Accepted", "False NoValidCACertificate"));
  kubectl->apply(authorities(root_, "keys") + gatewayWanting(inConfigMap("clients", ", namespace: keys")));
  EXPECT_TRUE(has("ResolvedRefs", "False RefNotPermitted"));
  EXPECT_TRUE(has("Accepted", "False NoValidCACertificate"));
  EXPECT_EQ(ask(client_), 0);
  kubectl->apply(
      "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {namespace: keys, name: all}\n"
      "spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo}], to: [{group: '', kind: "
      "ConfigMap}]}\n");
  EXPECT_TRUE(has("ResolvedRefs", "True ResolvedRefs"));
  EXPECT_TRUE(becomes(client_, 200));
}

TEST_F(KubeFrontendValidation, TellsOfTheInsecureModeAsLongAsItIsThere) {
  startWith(inConfigMap("clients"));
  kubectl->apply(authorities(root_) + gatewayWanting(inConfigMap("clients"), "AllowInsecureFallback"));
  EXPECT_TRUE(isInsecure("True ConfigurationChanged"));
  EXPECT_TRUE(becomes(std::nullopt, 200));
  EXPECT_EQ(ask(client_), 200);
  kubectl->apply(gatewayWanting(inConfigMap("clients")));
  EXPECT_TRUE(isInsecure(""));
  EXPECT_TRUE(becomes(std::nullopt, 0));
  EXPECT_EQ(ask(client_), 200);
}

}  // namespace
}  // namespace sluice::test
