#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "config/read/object_kinds.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadSeed(const std::string& spec) {
  return loadText(object("gateway.networking.k8s.io/v1alpha1", "Backend", "b", "spec:\n" + spec));
}

std::vector<std::string> problemsOfTls(const std::string& tls) {
  return rendered(
      loadSeed("  destination: {type: FQDN, fqdn: {hostname: a.b, port: 443}}\n  tls: " + tls + "\n").problems);
}

std::vector<std::string> problemsOfFqdn(const std::string& fqdn) {
  return rendered(loadSeed("  destination: {type: FQDN, fqdn: " + fqdn + "}\n").problems);
}

TEST(SeedBackend, LoadsTheProposalsFirstExampleUnchanged) {
  const Configuration configuration = loadText(R"(
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata:
  name: openai-backend
spec:
  destination:
    type: FQDN
    fqdn:
      hostname: api.openai.com
      port: 443
  tls:
    mode: Terminate
    sni: api.openai.com
    caBundleRef:
      name: vendor-ca
  extensions:
    - name: inject-credentials
      type: gateway.networking.k8s.io/CredentialInjector:v1
      phase: request-headers
      priority: 10
      failOpen: false
      config:
        secretRef:
          name: openai-key
          namespace: platform-secrets
    - name: qos
      type: gateway.networking.k8s.io/QoSController:v1
      phase: backend-request
      priority: 30
      failOpen: true
      config:
        requestsPerMinute: 1000
)");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_EQ(backend.hostname, "api.openai.com");
  EXPECT_EQ(backend.findPort(0)->number, 443);
  EXPECT_EQ(backend.findPort(443), backend.findPort(0));
  EXPECT_EQ(backend.findPort(80), nullptr);
  EXPECT_EQ(backend.tls->mode, TlsMode::kServerAuth);
  EXPECT_EQ(backend.tls->caRefs.at(0).kind, "ConfigMap");
  ASSERT_EQ(backend.extensions.size(), 2u);
  EXPECT_EQ(backend.extensions[0].priority, 10);
  EXPECT_EQ(backend.extensions[1].phase, "backend-request");
  EXPECT_EQ(backend.extensions[1].failOpen, true);
  EXPECT_EQ(backend.extensions[1].config->find("requestsPerMinute")->text, "1000");
  EXPECT_TRUE(backend.unsupported.empty());
}

TEST(SeedBackend, LoadsTheProposalsSecondExampleUnchanged) {
  const Configuration configuration = loadText(R"(
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata:
  name: no-pii-openai
spec:
  destination:
    type: FQDN
    fqdn: {hostname: api.openai.com, port: 443}
  tls:
    mode: Mutual
    sni: api.openai.com
    clientCertificateRef: {name: client-cert}
  extensions:
    - name: pii-detector
      type: acme.example.com/PIIDetector:v1
      phase: request-body
      priority: 20
      failOpen: false
      preAuth: true
      config:
        modelRef: pii-detect-small
        redactionStyle: delete
        confidenceThreshold: 0.7
        maxBodyBytes: 2097152
)");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_EQ(backend.tls->mode, TlsMode::kMutual);
  EXPECT_EQ(backend.tls->clientCertificateRef->kind, "Secret");
  ASSERT_EQ(backend.extensions.size(), 1u);
  const ProcessorUse& use = backend.extensions[0];
  EXPECT_EQ(use.type, "acme.example.com/PIIDetector:v1");
  EXPECT_EQ(use.phase, "request-body");
  EXPECT_EQ(use.priority, 20);
  EXPECT_EQ(use.failOpen, false);
  EXPECT_EQ(use.preAuth, true);
  ASSERT_TRUE(use.config);
  EXPECT_EQ(use.config->unpacked().members.size(), 4u);
  EXPECT_EQ(use.config->find("confidenceThreshold")->text, "0.7");
}

TEST(SeedBackend, AcceptsEverySpellingOfTlsModes) {
  const std::pair<const char*, TlsMode> spellings[] = {{"Terminate", TlsMode::kServerAuth},
                                                       {"SIMPLE", TlsMode::kServerAuth},
                                                       {"Simple", TlsMode::kServerAuth},
                                                       {"ServerOnly", TlsMode::kServerAuth},
                                                       {"none", TlsMode::kNone},
                                                       {"Passthrough", TlsMode::kPassthrough},
                                                       {"MUTUAL", TlsMode::kMutual},
                                                       {"ClientAndServer", TlsMode::kMutual}};
  for (const auto& [word, mode] : spellings) {
    const std::string client = mode == TlsMode::kMutual ? ", clientCertificateRef: {name: c}" : "";
    const Configuration configuration =
        loadSeed("  destination: {type: FQDN, fqdn: {hostname: a.b, port: 443}}\n  tls: {mode: " + std::string(word) +
                 client + "}\n");
    ASSERT_THAT(rendered(configuration.problems), IsEmpty()) << word;
    EXPECT_EQ(configuration.model.all<Backend>().at(0).tls->mode, mode) << word;
  }
  EXPECT_THAT(problemsOfTls("{mode: TLS}"), ElementsAre(HasSubstr("mode: must be None, Terminate, Simple")));
}

TEST(SeedBackend, AcceptsAClientCertificateForMutualOnly) {
  EXPECT_THAT(problemsOfTls("{mode: Mutual}"),
              ElementsAre(EndsWith("clientCertificateRef: is required when mode is Mutual")));
  EXPECT_THAT(problemsOfTls("{mode: Terminate, clientCertificateRef: {name: c}}"),
              ElementsAre(EndsWith("clientCertificateRef: must be given only when mode is Mutual")));
}

TEST(SeedBackend, NormalisesItsHostname) {
  const Configuration configuration =
      loadSeed("  destination: {type: fqdn, fqdn: {hostname: API.Example.COM., port: 80}}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_EQ(configuration.model.all<Backend>().at(0).hostname, "api.example.com");
}

TEST(SeedBackend, RefusesAddressesAndServicesOfTheCluster) {
  for (const char* hostname : {"10.0.0.1", "'::1'", "x.svc.cluster.local", "Cluster.Local", "x.y.svc", "'*.x.svc'",
                               "'*.10.0.0.1'", "'*.*.a.b'", "'*'", "127.1"}) {
    EXPECT_EQ(problemsOfFqdn("{hostname: " + std::string(hostname) + ", port: 80}").size(), 1u) << hostname;
  }
}

TEST(SeedBackend, RequiresItsDestination) {
  EXPECT_THAT(rendered(loadSeed("  {}\n").problems), ElementsAre(EndsWith("spec.destination: is required")));
  EXPECT_THAT(problemsOfFqdn("{}"),
              ElementsAre(EndsWith("fqdn.hostname: is required"), EndsWith("fqdn.port: is required")));
  EXPECT_THAT(rendered(loadSeed("  destination: {type: FQDN}\n").problems),
              ElementsAre(EndsWith("fqdn: is required when type is Fqdn")));
  EXPECT_THAT(rendered(loadSeed("  destination: {type: Elsewhere, fqdn: {hostname: a.b, port: 1}}\n").problems),
              ElementsAre(HasSubstr("type: must be Fqdn, Ip, KubernetesService or Service")));
}

TEST(SeedBackend, ChecksExtensions) {
  const auto problems = [](const std::string& use) {
    return rendered(
        loadSeed("  destination: {type: FQDN, fqdn: {hostname: a.b, port: 443}}\n  extensions: [" + use + "]\n")
            .problems);
  };
  EXPECT_THAT(problems("{name: a, type: a.b/K:v1, phase: connect, rawConfig: {x: 1}, timeout: 1s}"), IsEmpty());
  EXPECT_THAT(problems("{name: a, type: K, phase: never}"),
              ElementsAre(HasSubstr("type: must be a processor type"),
                          HasSubstr("phase: must be request-headers, request-body, connect")));
  EXPECT_THAT(problems("{name: a, type: a.b/K:v1, phase: connect, config: {}, rawConfig: {}}"),
              ElementsAre(HasSubstr("together with config")));
  EXPECT_THAT(problems("{name: a, type: a.b/K:v1, phase: connect, config: text}"),
              ElementsAre(EndsWith("config: must be a map")));
  EXPECT_THAT(problems("{name: a, type: a.b/K:v1, phase: connect}, {name: a, type: a.b/K:v1, phase: connect}"),
              ElementsAre(EndsWith("spec.extensions[1].name: repeats \"a\"")));
  EXPECT_THAT(problems("{name: a, type: a.b/K:v1, phase: connect, failOpen: 'no'}"),
              ElementsAre(EndsWith("failOpen: must be true or false, but is a string")));
}

Configuration loadX(const std::string& rest) {
  return loadText(
      object("gateway.networking.x-k8s.io/v1alpha1", "XBackend", "b",
             "spec:\n  type: ExternalHostname\n  externalHostname: {hostname: a.b}\n  port: {port: 443}\n" + rest));
}

TEST(XBackend, ReadsItsProtocols) {
  const std::pair<const char*, BackendProtocol> protocols[] = {{"HTTP", BackendProtocol::kAuto},
                                                               {"HTTP2", BackendProtocol::kHttp2},
                                                               {"HTTP11", BackendProtocol::kHttp11},
                                                               {"H2C", BackendProtocol::kHttp2}};
  for (const auto& [word, protocol] : protocols) {
    const Configuration configuration = loadX("  protocol: " + std::string(word) + "\n");
    ASSERT_THAT(rendered(configuration.problems), IsEmpty()) << word;
    EXPECT_EQ(configuration.model.all<Backend>().at(0).ports.at(0).protocol, protocol) << word;
  }
  const Backend mcp = loadX("  protocol: MCP\n").model.all<Backend>().at(0);
  EXPECT_EQ(mcp.ports.at(0).protocol, BackendProtocol::kOther);
  EXPECT_EQ(mcp.ports.at(0).protocolName, "MCP");
  EXPECT_EQ(mcp.ports.at(0).protocolPath, "spec.protocol");
  EXPECT_THAT(rendered(loadX("  protocol: H2C\n  tls: {mode: ServerOnly}\n").problems),
              ElementsAre(HasSubstr("H2C is HTTP/2 without TLS")));
}

TEST(XBackend, ReadsItsTls) {
  const Configuration configuration = loadX(R"(  tls:
    mode: ClientAndServer
    clientCertificateRef: {name: c}
    validation:
      hostname: sni.test
      caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]
      subjectAltNames: [{type: Hostname, hostname: san.test}]
)");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_EQ(findObjectKind(backend.meta.group, backend.meta.kind)->status, StatusShape::kParents);
  EXPECT_EQ(backend.tls->mode, TlsMode::kMutual);
  EXPECT_EQ(backend.tls->serverName, "sni.test");
  EXPECT_EQ(backend.tls->caRefs.at(0).name, "ca");
  EXPECT_THAT(backend.tls->subjectAltNames, ElementsAre("san.test"));
}

TEST(XBackend, ChecksValidation) {
  const auto problems = [](const std::string& validation) {
    return rendered(loadX("  tls: {mode: ServerOnly, validation: " + validation + "}\n").problems);
  };
  EXPECT_THAT(problems("{hostname: a.b, wellKnownCACertificates: System}"), IsEmpty());
  EXPECT_THAT(problems("{hostname: a.b}"),
              ElementsAre(HasSubstr("or wellKnownCACertificates is required, and not both")));
  EXPECT_THAT(problems("{wellKnownCACertificates: System}"), ElementsAre(EndsWith("validation.hostname: is required")));
  EXPECT_THAT(problems("{hostname: a.b, wellKnownCACertificates: System, subjectAltNames: [{type: URI}]}"),
              ElementsAre(HasSubstr("must be Hostname with a hostname, or URI with a uri")));
  const Configuration uri = loadX(
      "  tls: {mode: ServerOnly, validation: {hostname: a.b, wellKnownCACertificates: System, subjectAltNames: [{type: "
      "URI, uri: 'spiffe://a'}]}}\n");
  EXPECT_THAT(uri.model.all<Backend>().at(0).unsupported, IsEmpty());
  EXPECT_THAT(uri.model.all<Backend>().at(0).tls->subjectAltNames, ElementsAre("spiffe://a"));
}

}  // namespace
}  // namespace sluice::config
