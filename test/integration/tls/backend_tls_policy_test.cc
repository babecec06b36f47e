// Tests TLS towards Services and Backends, which BackendTLSPolicies ask for: which certificates the gateway trusts, and
// that it never uses plain text instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kByConfigMap = "hostname: shop.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]";

std::string secureShop(std::uint16_t port, const std::string& more = {}) {
  return "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: shop}\nspec: {ports: [{name: web, port: "
         "443" +
         more +
         "}]}\n---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: shop-1, "
         "labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " +
         std::to_string(port) +
         "}]\nendpoints: [{addresses: [127.0.0.1]}]\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
         "metadata: {namespace: test, name: all}\nspec: {parentRefs: [{name: egress}], rules: [{backendRefs: [{name: "
         "shop, port: 443}]}]}\n";
}
std::string entryOf(const std::string& key, const std::string& pem) {
  std::istringstream lines(pem);
  std::string text = "  " + key + ": |\n";
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}
std::string authorityOf(const CertifiedKey& root) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: ca}\ndata:\n" +
         entryOf("ca.crt", root.certificate);
}
std::string shopPolicy(const std::string& validation, const std::string& more = {}) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {namespace: test, name: "
         "secure}\nspec: {targetRefs: [{group: '', kind: Service, name: shop}], validation: {" +
         validation + "}" + more + "}\n";
}
GatewaySpec shopSpec(const std::string& documents) {
  GatewaySpec spec;
  spec.routes = documents;
  return spec;
}
std::string statusPage(const GatewayProcess& gateway) { return gateway.adminGet("/status"); }

/// An origin without TLS. It counts the connections that begin with a handshake, and answers requests in plain text.
class PlainOrigin {
 public:
  std::uint16_t port() const { return origin_.port(); }
  int hellos() const { return hellos_; }
  int requests() const { return requests_; }
  int connections() const { return origin_.connections(); }

 private:
  void serve(BlockingSocket& socket) {
    constexpr const char* kHandshake = "\x16";  // TLSPlaintext.type (RFC 8446 section 5.1)
    for (;;) {
      const std::string first = socket.readExactly(1);
      if (first == kHandshake) ++hellos_;
      if (first.empty() || first == kHandshake) return;
      socket.readUntil("\r\n\r\n");
      ++requests_;
      socket.send(saying("plain"));
    }
  }

  std::atomic<int> hellos_ = 0;
  std::atomic<int> requests_ = 0;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin&) { serve(socket); }};
};

/// nginx with a certificate, which answers with the names by which it was reached. It has the clients' authority too,
/// if it asks them for certificates.
class SecureNginx {
 public:
  explicit SecureNginx(const CertifiedKey& identity, const CertifiedKey* clients = nullptr) {
    folder_.write("origin.crt", identity.certificate);
    if (clients != nullptr) folder_.write("clients.crt", clients->certificate);
    folder_.write("origin.key", identity.key);
    const std::string configuration = folder_.write(
        "nginx.conf",
        "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n  access_log off;\n  "
        "client_body_temp_path b;\n  proxy_temp_path p;\n  fastcgi_temp_path f;\n  uwsgi_temp_path u;\n  "
        "scgi_temp_path s;\n  server {\n    listen 127.0.0.1:" +
            std::to_string(port_) +
            " ssl http2;\n    ssl_protocols TLSv1.2 TLSv1.3;\n    ssl_certificate origin.crt;\n    ssl_certificate_key "
            "origin.key;\n" +
            (clients != nullptr ? "    ssl_client_certificate clients.crt;\n    ssl_verify_client on;\n" : "") +
            "    location / { "
            "return "
            "200 \"$scheme $server_protocol $ssl_protocol sni=$ssl_server_name host=$host client=$ssl_client_s_dn\"; "
            "}\n  }\n}\n");
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"nginx", "-p", folder_.path(), "-c", configuration, "-e", "stderr"});
    if (!waitForPort(port_)) ADD_FAILURE() << process_->errors();
  }
  std::uint16_t port() const { return port_; }

 private:
  TempDir folder_;
  std::uint16_t port_ = freePort();
  std::unique_ptr<ChildProcess> process_;
};

class ServiceTls : public testing::Test {
 protected:
  /// Returns a certificate for these names, whose issuer is root_.
  CertifiedKey carrying(const std::vector<std::string>& names, const std::vector<std::string>& uris) const {
    CertificateSpec spec;
    spec.dnsNames = names;
    spec.uris = uris;
    spec.extendedKeyUsage = "serverAuth";
    return issue(root_, spec);
  }
  std::string trusted() const { return authorityOf(root_); }

  CertifiedKey root_ = makeAuthority();
};

TEST_F(ServiceTls, HasTheHostnameAsItsSniAndTheAuthorityOfTheClient) {
  const SecureNginx origin(issueServer(root_, "shop.test"));
  const GatewayProcess gateway(shopSpec(secureShop(origin.port()) + trusted() + shopPolicy(kByConfigMap)));
  const std::string answer = ask(gateway, "/", {"-H", "Host: client.test"});
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_THAT(answer, HasSubstr("https HTTP/2.0 TLSv1.3 sni=shop.test host=client.test"));
  EXPECT_THAT(statusPage(gateway),
              HasSubstr(R"("ancestors":[{"ancestorRef":{"group":"gateway.networking.k8s.io","kind":"Gateway",)"
                        R"("namespace":"test","name":"egress"},"controllerName":"sluice.dev/egress-gateway",)"
                        R"("conditions":[{"type":"Accepted","status":"True")"));
}

TEST_F(ServiceTls, SpeaksHttp11IfTheAppProtocolSaysSo) {
  const SecureNginx origin(issueServer(root_, "shop.test"));
  const GatewayProcess gateway(
      shopSpec(secureShop(origin.port(), ", appProtocol: http") + trusted() + shopPolicy(kByConfigMap)));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("https HTTP/1.1 TLSv1.3"));
}

TEST_F(ServiceTls, SpeaksHttp2OfItsEndpointsByAlpn) {
  const EchoOrigin origin(issueServer(root_, "shop.test"), {"--h2-only"});
  const GatewayProcess gateway(
      shopSpec(secureShop(origin.port(), ", appProtocol: kubernetes.io/h2c") + trusted() + shopPolicy(kByConfigMap)));
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_EQ(echoed(answer, "sni"), "shop.test") << answer;
}

TEST_F(ServiceTls, RefusesAnotherAuthority) {
  const SecureNginx origin(issueServer(makeAuthority("Somebody"), "shop.test"));
  const GatewayProcess gateway(shopSpec(secureShop(origin.port()) + trusted() + shopPolicy(kByConfigMap)));
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr(" 502 "));
  EXPECT_THAT(answer, HasSubstr("tls_certificate_error"));
}

TEST_F(ServiceTls, RefusesAnotherHostname) {
  const SecureNginx origin(issueServer(root_, "other.test"));
  const GatewayProcess gateway(shopSpec(secureShop(origin.port()) + trusted() + shopPolicy(kByConfigMap)));
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr(" 502 "));
  EXPECT_THAT(answer, HasSubstr("hostname mismatch"));
}

TEST_F(ServiceTls, AcceptsTheUriOfTheCertificateInsteadOfTheHostname) {
  const EchoOrigin origin(carrying({}, {"spiffe://cluster.local/ns/shop/sa/web"}));
  GatewayProcess gateway(shopSpec(secureShop(origin.port()) + trusted() +
                                  shopPolicy(std::string(kByConfigMap) +
                                             ", subjectAltNames: [{type: Hostname, hostname: other.test}, {type: URI, "
                                             "uri: 'spiffe://cluster.local/ns/shop/sa/web'}]")));
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_EQ(echoed(answer, "sni"), "shop.test") << answer;
  for (const std::string wrong : {"spiffe://cluster.local/ns/shop/sa/we", "spiffe://cluster.local/ns/shop/sa/web2",
                                  "spiffe://Cluster.local/ns/shop/sa/web"}) {
    gateway.reload(
        shopSpec(secureShop(origin.port()) + trusted() +
                 shopPolicy(std::string(kByConfigMap) + ", subjectAltNames: [{type: URI, uri: '" + wrong + "'}]")));
    const std::string refused = ask(gateway, "/");
    EXPECT_THAT(refused, HasSubstr(" 502 ")) << wrong;
    EXPECT_THAT(refused, HasSubstr("tls_certificate_error")) << wrong;
  }
}

TEST_F(ServiceTls, DoesNotAcceptTheHostnameBesideSubjectAltNames) {
  const EchoOrigin origin(carrying({"shop.test"}, {}));
  const GatewayProcess gateway(
      shopSpec(secureShop(origin.port()) + trusted() +
               shopPolicy(std::string(kByConfigMap) + ", subjectAltNames: [{type: Hostname, hostname: other.test}]")));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("tls_certificate_error"));
}

TEST_F(ServiceTls, FollowsItsAuthoritiesWithoutARestart) {
  const CertifiedKey next = makeAuthority("Next");
  const SecureNginx before(issueServer(root_, "shop.test"));
  const SecureNginx after(issueServer(next, "shop.test"));
  GatewayProcess gateway(shopSpec(secureShop(before.port()) + trusted() + shopPolicy(kByConfigMap)));
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  gateway.reload(shopSpec(secureShop(before.port()) + authorityOf(next) + shopPolicy(kByConfigMap)));
  EXPECT_EQ(statusOf(gateway, "/"), "502") << "no connection of the old trust is used";
  gateway.reload(shopSpec(secureShop(after.port()) + authorityOf(next) + shopPolicy(kByConfigMap)));
  EXPECT_EQ(statusOf(gateway, "/"), "200");
}

TEST_F(ServiceTls, EndsWithThePolicyAndBeginsWithIt) {
  const PlainOrigin origin;
  const std::string shop = secureShop(origin.port()) + trusted();
  GatewayProcess gateway(shopSpec(shop));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("plain"));
  gateway.reload(shopSpec(shop + shopPolicy(kByConfigMap)));
  const int requests = origin.requests();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(statusOf(gateway, "/"), "502");
  EXPECT_EQ(origin.requests(), requests) << "a connection in plain text is not used any more";
  EXPECT_GE(origin.hellos(), 1);
  gateway.reload(shopSpec(shop));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("plain"));
}

TEST_F(ServiceTls, IsNeverReplacedByPlainText) {
  const PlainOrigin origin;
  const std::string shop = secureShop(origin.port());
  for (const auto& [policy, reason] :
       {std::pair(shopPolicy(kByConfigMap), "InvalidCACertificateRef"),
        std::pair(shopPolicy("hostname: shop.test, caCertificateRefs: [{group: '', kind: Pod, name: ca}]"),
                  "InvalidKind"),
        std::pair(shopPolicy("hostname: shop.test, wellKnownCACertificates: acme.test/own"), "Invalid"),
        std::pair(shopPolicy("hostname: shop.test"), "Invalid"),
        std::pair(
            shopPolicy("hostname: shop.test, wellKnownCACertificates: System", ", options: {sluice.dev/other: a}"),
            "Invalid")}) {
    SCOPED_TRACE(policy);
    const GatewayProcess gateway(shopSpec(shop + policy));
    EXPECT_EQ(statusOf(gateway, "/"), "500");
    EXPECT_THAT(statusPage(gateway), HasSubstr("\"reason\":\"" + std::string(reason) + "\""));
  }
  EXPECT_EQ(origin.connections(), 0);
}

/// A Backend for an origin that origin.test leads to, which has the certificate of policy.test if any.
struct TargetedBackend {
  const char* group;
  const char* apiVersion;
  const char* kind;
  std::string spec;  // PORT is replaced by the port

  std::string with(std::uint16_t port, const std::string& documents, const std::string& more = {}) const {
    TargetedBackend placed = *this;
    placed.spec.replace(spec.find("PORT"), 4, std::to_string(port));
    return placed.text(documents, more);
  }
  std::string text(const std::string& documents, const std::string& more = {}) const {
    const std::string object = std::string("{group: ") + group + ", kind: " + kind + ", name: api}";
    return "apiVersion: " + std::string(apiVersion) + "\nkind: " + kind +
           "\nmetadata: {namespace: test, name: api}\nspec: {" + spec + more +
           "}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: "
           "all}\nspec: {parentRefs: [{name: egress}], rules: [{backendRefs: [" +
           object + "]}]}\n" + documents;
  }
  std::string policy(const std::string& validation, const std::string& section = {}) const {
    return std::string(
               "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {namespace: test, "
               "name: secure}\nspec: {targetRefs: [{group: ") +
           group + ", kind: " + kind + ", name: api" + (section.empty() ? "" : ", sectionName: '" + section + "'") +
           "}], validation: {" + validation + "}}\n";
  }
};

const TargetedBackend kEnvoysBackend{"gateway.envoyproxy.io", "gateway.envoyproxy.io/v1alpha1", "Backend",
                                     "endpoints: [{fqdn: {hostname: origin.test, port: PORT}}]"};
const TargetedBackend kTargetedBackends[] = {
    kEnvoysBackend,
    {"sluice.dev", "sluice.dev/v1alpha1", "Backend",
     "destination: {type: Fqdn, fqdn: {hostname: origin.test, port: PORT}}"},
    {"gateway.networking.k8s.io", "gateway.networking.k8s.io/v1alpha1", "Backend",
     "destination: {type: FQDN, fqdn: {hostname: origin.test, port: PORT}}"},
    {"gateway.networking.x-k8s.io", "gateway.networking.x-k8s.io/v1alpha1", "XBackend",
     "type: ExternalHostname, externalHostname: {hostname: origin.test}, port: {port: PORT}"}};
constexpr const char* kOfPolicy = "hostname: policy.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]";

class BackendTlsByPolicy : public ServiceTls {
 protected:
  /// Returns a configuration in which origin.test leads to this machine.
  static GatewaySpec specOf(std::uint16_t port, const std::string& documents) {
    GatewaySpec spec = shopSpec(documents);
    spec.backends = {{.port = port}};
    return spec;
  }
};

TEST_F(BackendTlsByPolicy, IsGivenToEverySpelling) {
  const SecureNginx origin(issueServer(root_, "policy.test"));
  for (const TargetedBackend& each : kTargetedBackends) {
    SCOPED_TRACE(each.apiVersion);
    const std::string section = std::to_string(origin.port());
    const GatewayProcess gateway(
        specOf(origin.port(), each.with(origin.port(), trusted() + each.policy(kOfPolicy, section))));
    const std::string answer = ask(gateway, "/", {"-H", "Host: client.test"});
    EXPECT_THAT(answer, HasSubstr(" 200 "));
    EXPECT_THAT(answer, HasSubstr("https HTTP/2.0 TLSv1.3 sni=policy.test host=origin.test"));
    EXPECT_THAT(statusPage(gateway),
                HasSubstr(R"("ancestors":[{"ancestorRef":{"group":"gateway.networking.k8s.io","kind":"Gateway",)"
                          R"("namespace":"test","name":"egress"},"controllerName":"sluice.dev/egress-gateway",)"
                          R"("conditions":[{"type":"Accepted","status":"True")"));
  }
}

TEST_F(BackendTlsByPolicy, ComesBeforeThatOfTheBackend) {
  const SecureNginx origin(issueServer(root_, "policy.test"));
  const GatewayProcess gateway(
      specOf(origin.port(), kEnvoysBackend.with(origin.port(), trusted() + kEnvoysBackend.policy(kOfPolicy),
                                                ", tls: {sni: other.test, wellKnownCACertificates: System}")));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("sni=policy.test"));
}

TEST_F(BackendTlsByPolicy, GoesWithTheClientCertificateOfTheBackend) {
  const CertifiedKey client = issueClient(root_, "tenant-one");
  const SecureNginx origin(issueServer(root_, "policy.test"), &root_);
  const std::string secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: id}\nstringData:\n" +
                             entryOf("tls.crt", client.certificate) + entryOf("tls.key", client.key);
  const std::string documents = trusted() + secret + kEnvoysBackend.policy(kOfPolicy);
  GatewayProcess gateway(specOf(
      origin.port(), kEnvoysBackend.with(origin.port(), documents, ", tls: {clientCertificateRef: {name: id}}")));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("client=CN=tenant-one"));
  gateway.reload(specOf(origin.port(), kEnvoysBackend.with(origin.port(), documents)));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("No required SSL certificate was sent"));
}

TEST_F(BackendTlsByPolicy, TakesTheNamesThatItListsInsteadOfTheHostname) {
  const EchoOrigin origin(carrying({"third.test"}, {}));
  const auto listing = [&](const std::string& name) {
    return specOf(
        origin.port(),
        kEnvoysBackend.with(origin.port(),
                            trusted() + kEnvoysBackend.policy(std::string(kOfPolicy) +
                                                              ", subjectAltNames: [{type: Hostname, hostname: " + name +
                                                              "}, {type: Hostname, hostname: b.test}]")));
  };
  GatewayProcess gateway(listing("third.test"));
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr(" 200 "));
  EXPECT_EQ(echoed(answer, "sni"), "policy.test") << answer;
  gateway.reload(listing("a.test"));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("tls_certificate_error"));
}

TEST_F(BackendTlsByPolicy, ConcernsOnlyTheEndpointsWithItsPort) {
  const SecureNginx secure(issueServer(root_, "policy.test"));
  const PlainOrigin plain;
  const std::string more = "{fqdn: {hostname: origin.test, port: " + std::to_string(plain.port()) + "}}, ";
  TargetedBackend both = kEnvoysBackend;
  both.spec.insert(both.spec.find("{fqdn"), more);
  const std::string section = std::to_string(secure.port());
  GatewayProcess gateway(specOf(secure.port(), both.with(secure.port(), trusted() + both.policy(kOfPolicy, section))));
  const auto isOverTls = [&] { return ask(gateway, "/").find("sni=policy.test") != std::string::npos; };
  int overTls = 0;
  for (int i = 0; i < 200 && (overTls == 0 || plain.requests() == 0); ++i) overTls += isOverTls() ? 1 : 0;
  EXPECT_GT(overTls, 0);
  EXPECT_GT(plain.requests(), 0);
  EXPECT_EQ(plain.hellos(), 0);
}

TEST_F(BackendTlsByPolicy, ComesBeforeThatOfTheServiceThatTheBackendLeadsTo) {
  const SecureNginx origin(issueServer(root_, "policy.test"));
  const TargetedBackend leading{
      "sluice.dev", "sluice.dev/v1alpha1", "Backend",
      "destination: {type: KubernetesService, service: {name: shop}, ports: [{number: 443, protocol: HTTP}]}"};
  const std::string shop = secureShop(origin.port());
  const std::string service = "---\n" + shop.substr(0, shop.rfind("---\n"));
  std::string ofService = shopPolicy(kByConfigMap);
  ofService.replace(ofService.find("secure"), 6, "of-service");
  const GatewayProcess gateway(shopSpec(leading.text(service + trusted() + ofService + leading.policy(kOfPolicy))));
  EXPECT_THAT(ask(gateway, "/", {"-H", "Host: client.test"}), HasSubstr("sni=policy.test host=client.test"));
}

TEST_F(BackendTlsByPolicy, RefusesAnotherAuthorityAndAnotherHostname) {
  const SecureNginx other(issueServer(makeAuthority("Somebody"), "policy.test"));
  const SecureNginx misnamed(issueServer(root_, "origin.test"));
  for (const std::uint16_t port : {other.port(), misnamed.port()}) {
    const GatewayProcess gateway(specOf(port, kEnvoysBackend.with(port, trusted() + kEnvoysBackend.policy(kOfPolicy))));
    EXPECT_THAT(ask(gateway, "/"), HasSubstr("tls_certificate_error"));
  }
}

TEST_F(BackendTlsByPolicy, FollowsItsAuthoritiesWithoutARestart) {
  const CertifiedKey next = makeAuthority("Next");
  const SecureNginx origin(issueServer(root_, "policy.test"));
  const auto trusting = [&](const CertifiedKey& authority) {
    return specOf(origin.port(),
                  kEnvoysBackend.with(origin.port(), authorityOf(authority) + kEnvoysBackend.policy(kOfPolicy)));
  };
  GatewayProcess gateway(trusting(root_));
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  gateway.reload(trusting(next));
  EXPECT_EQ(statusOf(gateway, "/"), "502") << "no connection of the old trust is used";
  gateway.reload(trusting(root_));
  EXPECT_EQ(statusOf(gateway, "/"), "200");
}

TEST_F(BackendTlsByPolicy, EndsWithThePolicyAndIsNeverReplacedByPlainText) {
  const PlainOrigin origin;
  const auto targeted = [&](const std::string& documents, const std::string& more = {}) {
    return specOf(origin.port(), kEnvoysBackend.with(origin.port(), documents, more));
  };
  GatewayProcess gateway(targeted(""));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("plain"));
  const int requests = origin.requests();
  gateway.reload(targeted(trusted() + kEnvoysBackend.policy(kOfPolicy)));
  EXPECT_EQ(statusOf(gateway, "/"), "502");
  EXPECT_EQ(origin.hellos(), 1);
  gateway.reload(targeted(kEnvoysBackend.policy(kOfPolicy)));
  EXPECT_EQ(statusOf(gateway, "/"), "500") << "the ConfigMap is gone";
  gateway.reload(targeted(trusted() + kEnvoysBackend.policy(kOfPolicy), ", tls: {insecureSkipVerify: true}"));
  EXPECT_EQ(statusOf(gateway, "/"), "500");
  EXPECT_THAT(statusPage(gateway), HasSubstr("contradicts BackendTLSPolicy test/secure"));
  EXPECT_EQ(origin.requests(), requests);
  gateway.reload(targeted(""));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("plain"));
}

}  // namespace
}  // namespace sluice::test
