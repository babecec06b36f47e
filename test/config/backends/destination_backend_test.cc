// Tests the later form of Backend: the proposal's, its prototype's and this project's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/read/object_kinds.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct DestinationSpelling {
  const char* apiVersion;
  const char* kind;
};
constexpr DestinationSpelling kProposal{"gateway.networking.k8s.io/v1alpha1", "Backend"};
constexpr DestinationSpelling kOwn{"sluice.dev/v1alpha1", "Backend"};
constexpr DestinationSpelling kPrototype{"ainetworking.prototype.x-k8s.io/v0alpha0", "Backend"};
constexpr DestinationSpelling kDestination{"ainetworking.prototype.x-k8s.io/v0alpha0", "XBackendDestination"};
constexpr DestinationSpelling kAll[] = {kProposal, kOwn, kPrototype, kDestination};

Configuration loadBackend(const DestinationSpelling& spelling, const std::string& spec) {
  return loadText(object(spelling.apiVersion, spelling.kind, "b", "spec: " + spec + "\n"));
}
Configuration loadPorts(const DestinationSpelling& spelling, const std::string& ports, const std::string& rest = "") {
  return loadBackend(spelling,
                     "{destination: {type: Fqdn, fqdn: {hostname: a.test}, ports: [" + ports + "]}" + rest + "}");
}
Configuration loadTls(const DestinationSpelling& spelling, const std::string& tls) {
  return loadPorts(spelling, "{number: 443, protocol: HTTP, tls: " + tls + "}");
}
std::vector<std::string> problemsIn(const Configuration& configuration) { return rendered(configuration.problems); }

TEST(DestinationBackend, MakesTheSameModelInEverySpelling) {
  for (const DestinationSpelling& spelling : kAll) {
    const Configuration configuration = loadBackend(spelling, R"(
  destination:
    type: Fqdn
    fqdn: {hostname: API.Example.com}
    ports:
      - number: 443
        protocol: HTTP2
        tls:
          mode: Mutual
          sni: SNI.example.com.
          caBundleRef: [{group: '', kind: ConfigMap, name: one}, {group: '', kind: Secret, name: two, namespace: pki}]
          clientCertificateRef: {name: me, namespace: pki}
          insecureSkipVerify: true
          subjectAltNames: [one.example.com, '*.two.example.com']
      - {number: 80, protocol: HTTP}
  extensions: [{name: guard, type: 'acme.test/Guard:v1', rawConfig: {level: 3}}])");
    ASSERT_THAT(problemsIn(configuration), IsEmpty()) << spelling.apiVersion;
    const Backend& backend = configuration.model.all<Backend>().at(0);
    EXPECT_EQ(backend.meta.group, std::string(spelling.apiVersion).substr(0, backend.meta.group.size()));
    EXPECT_EQ(backend.meta.kind, spelling.kind);
    EXPECT_EQ(findObjectKind(backend.meta.group, backend.meta.kind)->status, StatusShape::kControllers);
    EXPECT_EQ(backend.hostname, "api.example.com");
    EXPECT_FALSE(backend.tls);
    ASSERT_EQ(backend.ports.size(), 2u);
    EXPECT_EQ(backend.ports[0].protocol, BackendProtocol::kHttp2);
    const BackendTls& tls = *backend.ports[0].tls;
    EXPECT_EQ(tls.mode, TlsMode::kMutual);
    EXPECT_EQ(tls.serverName, "sni.example.com");
    EXPECT_EQ(tls.path, "spec.destination.ports[0].tls");
    ASSERT_EQ(tls.caRefs.size(), 2u);
    EXPECT_EQ(tls.caRefs[1].kind, "Secret");
    EXPECT_EQ(tls.caRefs[1].nameSpace, "pki");
    EXPECT_EQ(tls.clientCertificateRef->nameSpace, "pki");
    EXPECT_TRUE(tls.insecureSkipVerify);
    EXPECT_THAT(tls.subjectAltNames, ElementsAre("one.example.com", "*.two.example.com"));
    EXPECT_EQ(backend.ports[1].protocol, BackendProtocol::kAuto);
    EXPECT_EQ(backend.findPort(80), &backend.ports[1]);
    EXPECT_EQ(backend.findPort(0), nullptr) << "which of the two?";
    EXPECT_EQ(backend.extensions.at(0).config->find("level")->text, "3");
    EXPECT_EQ(backend.extensions.at(0).phase, "");
  }
}

TEST(DestinationBackend, ReadsProtocolTlsAsTlsOrigination) {
  for (const DestinationSpelling& spelling : kAll) {
    const Configuration implied = loadPorts(spelling, "{number: 443, protocol: TLS}");
    ASSERT_THAT(problemsIn(implied), IsEmpty());
    EXPECT_EQ(implied.model.all<Backend>().at(0).ports.at(0).tls->mode, TlsMode::kServerAuth);
    EXPECT_EQ(implied.model.all<Backend>().at(0).ports.at(0).protocol, BackendProtocol::kAuto);
    EXPECT_THAT(problemsIn(loadPorts(spelling, "{number: 443, protocol: TLS, tls: {mode: None}}")),
                ElementsAre(HasSubstr("must not be TLS when the mode of tls is None")));
  }
  const Configuration shared = loadPorts(kOwn, "{number: 443, protocol: TLS}", ", tls: {mode: Simple, sni: x.test}");
  ASSERT_THAT(problemsIn(shared), IsEmpty());
  EXPECT_FALSE(shared.model.all<Backend>().at(0).ports.at(0).tls) << "that of the Backend";
}

TEST(DestinationBackend, RemembersUnsupportedProtocolsForTheirPorts) {
  for (const std::string protocol : {"TCP", "MCP"}) {
    const Configuration configuration =
        loadPorts(kPrototype, "{number: 80, protocol: " + protocol +
                                  ", protocolOptions: {mcp: {version: '2025-06-18', path: /mcp}}}");
    ASSERT_THAT(problemsIn(configuration), IsEmpty());
    const BackendPort& port = configuration.model.all<Backend>().at(0).ports.at(0);
    EXPECT_EQ(port.protocol, BackendProtocol::kOther);
    EXPECT_EQ(port.protocolName, protocol);
  }
  EXPECT_THAT(problemsIn(loadPorts(kOwn, "{number: 80, protocol: MCP, protocolOptions: {}}")),
              ElementsAre(EndsWith("protocolOptions.mcp: is required")));
  EXPECT_THAT(problemsIn(loadPorts(kOwn, "{number: 80, protocol: http}")), ElementsAre(HasSubstr("protocol: must be")));
}

TEST(DestinationBackend, ChecksItsPorts) {
  for (const DestinationSpelling& spelling : kAll) {
    EXPECT_THAT(problemsIn(loadPorts(spelling, "{number: 80, protocol: HTTP}, {number: 80, protocol: HTTP2}")),
                ElementsAre(EndsWith("ports[1].number: repeats 80")));
    EXPECT_THAT(problemsIn(loadPorts(spelling, "{number: 0, protocol: HTTP}")),
                ElementsAre(HasSubstr("ports[0].number")));
    EXPECT_THAT(problemsIn(loadPorts(spelling, "{number: 65536, protocol: HTTP}")),
                ElementsAre(HasSubstr("ports[0].number")));
    EXPECT_THAT(problemsIn(loadPorts(spelling, "")), ElementsAre(EndsWith("ports: must have at least one item")));
  }
  std::string ports;
  for (int number = 1; number <= 65; ++number) ports += "{number: " + std::to_string(number) + ", protocol: HTTP}, ";
  EXPECT_THAT(problemsIn(loadPorts(kOwn, ports)), testing::Contains(HasSubstr("at most 64 are allowed")));
  ports.erase(ports.rfind("{"));
  EXPECT_THAT(problemsIn(loadPorts(kOwn, ports)), IsEmpty());
}

TEST(DestinationBackend, MayHaveDestinationsThatRequestsName) {
  const Configuration configuration = loadBackend(kOwn, R"(
  destination:
    type: Dynamic
    dynamic: {hostnames: [API.test., '*.models.test'], ports: [{number: 443, tls: {mode: Simple}}, {number: 80}]})");
  ASSERT_THAT(problemsIn(configuration), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_EQ(backend.hostname, "");
  ASSERT_TRUE(backend.dynamic);
  EXPECT_THAT(backend.dynamic->hostnames, ElementsAre("api.test", "*.models.test"));
  EXPECT_EQ(backend.ports.size(), 2U);
  const std::pair<const char*, const char*> wrong[] = {
      {"ports: [{number: 443}]", "dynamic.hostnames: is required"},
      {"hostnames: [], ports: [{number: 443}]", "dynamic.hostnames: must have at least one item"},
      {"hostnames: [a.test]", "dynamic.ports: is required"},
      {"hostnames: [a.test], ports: []", "dynamic.ports: must have at least one item"},
      {"hostnames: [10.0.0.1], ports: [{number: 443}]", "dynamic.hostnames[0]: must be a name"},
      {"hostnames: ['*.local'], ports: [{number: 443}]", "dynamic.hostnames[0]: must not cover names of the cluster"},
      {"hostnames: ['*.svc'], ports: [{number: 443}]", "dynamic.hostnames[0]: must not name a Service"},
      {"hostnames: [a.test], ports: [{number: 443, tls: {sni: b.test}}]",
       "dynamic.ports[0].tls.sni: must not be given"},
      {"hostnames: [a.test], ports: [{number: 443, tls: {mode: Passthrough}}]", "tls.mode: must be None or Simple"},
  };
  for (const auto& [fields, problem] : wrong) {
    EXPECT_THAT(
        problemsIn(loadBackend(kOwn, "\n  destination: {type: Dynamic, dynamic: {" + std::string(fields) + "}}")),
        ElementsAre(HasSubstr(problem)))
        << fields;
  }
}

TEST(DestinationBackend, RequiresTheFieldsThatThePrototypesCrdRequires) {
  EXPECT_THAT(problemsIn(loadPorts(kPrototype, "{number: 80}")), ElementsAre(EndsWith("protocol: is required")));
  EXPECT_THAT(problemsIn(loadTls(kPrototype, "{sni: a.test}")), ElementsAre(EndsWith("mode: is required")));
  EXPECT_THAT(problemsIn(loadTls(kPrototype, "{mode: Simple, caBundleRef: [{name: a}]}")),
              ElementsAre(EndsWith("group: is required"), EndsWith("kind: is required")));
  EXPECT_THAT(problemsIn(loadTls(kPrototype, "{mode: Simple, caBundleRef: {group: '', kind: ConfigMap, name: a}}")),
              ElementsAre(HasSubstr("caBundleRef: must be a list")));
  EXPECT_THAT(problemsIn(loadBackend(kPrototype, "{destination: {type: Fqdn, fqdn: {hostname: a.test, port: 80}}}")),
              ElementsAre(EndsWith("ports: is required"), HasSubstr("fqdn.port: unknown field")));
  EXPECT_THAT(problemsIn(loadPorts(kPrototype, "{number: 80, protocol: HTTP}", ", tls: {mode: None}")),
              ElementsAre(HasSubstr("spec.tls: unknown field")));
  for (const DestinationSpelling& lenient : {kProposal, kOwn}) {
    EXPECT_THAT(problemsIn(loadPorts(lenient, "{number: 80, tls: {caBundleRef: [{name: a}]}}")), IsEmpty());
    EXPECT_THAT(problemsIn(loadPorts(lenient, "{number: 80, tls: {caBundleRef: {name: a}}}")), IsEmpty());
    EXPECT_THAT(problemsIn(loadBackend(lenient, "{destination: {type: FQDN, fqdn: {hostname: a.test, port: 80}}}")),
                IsEmpty());
  }
}

TEST(DestinationBackend, AcceptsThePortInOnePlaceOnly) {
  EXPECT_THAT(problemsIn(loadBackend(
                  kOwn, "{destination: {type: FQDN, fqdn: {hostname: a.test, port: 80}, ports: [{number: 80}]}}")),
              ElementsAre(EndsWith("fqdn.port: must not be given together with ports")));
}

TEST(DestinationBackend, ReadsAService) {
  for (const DestinationSpelling& spelling : kAll) {
    for (const std::string type : {"KubernetesService", "Service"}) {
      const Configuration configuration =
          loadBackend(spelling, "{destination: {type: " + type +
                                    ", service: {name: a, namespace: b}, ports: [{number: 80, protocol: HTTP}]}}");
      ASSERT_THAT(problemsIn(configuration), IsEmpty()) << type;
      const Backend& backend = configuration.model.all<Backend>().at(0);
      ASSERT_TRUE(backend.service);
      EXPECT_EQ(backend.service->kind, "Service");
      EXPECT_EQ(backend.service->name, "a");
      EXPECT_EQ(backend.service->nameSpace, "b");
      EXPECT_EQ(backend.service->path, "spec.destination.service");
      EXPECT_THAT(backend.unsupported, IsEmpty());
      EXPECT_THAT(
          problemsIn(loadBackend(spelling, "{destination: {type: " + type + ", service: {name: a, namespace: b}}}")),
          ElementsAre(EndsWith("destination.ports: is required")));
    }
    EXPECT_THAT(
        problemsIn(loadBackend(
            spelling,
            "{destination: {type: Ip, fqdn: {hostname: a.test}, ip: {}, ports: [{number: 80, protocol: HTTP}]}}")),
        testing::Contains(EndsWith("fqdn: must not be given when type is Ip")));
  }
}

TEST(DestinationBackend, RefusesAServiceThatIsNotNamed) {
  const auto problemsOf = [](const DestinationSpelling& spelling, const std::string& service) {
    return problemsIn(loadBackend(
        spelling, "{destination: {type: Service, service: " + service + ", ports: [{number: 80, protocol: HTTP}]}}"));
  };
  EXPECT_THAT(problemsOf(kOwn, "{name: a}"), IsEmpty()) << "of its own namespace";
  EXPECT_THAT(problemsOf(kPrototype, "{name: a}"), ElementsAre(EndsWith("service.namespace: is required")));
  EXPECT_THAT(problemsOf(kOwn, "{namespace: b}"), ElementsAre(EndsWith("service.name: is required")));
  EXPECT_THAT(problemsOf(kOwn, "{name: a, port: 80}"), ElementsAre(HasSubstr("service.port: unknown field")));
  EXPECT_THAT(problemsIn(loadBackend(kOwn,
                                     "{destination: {type: Service, service: {name: a}, ports: [{number: 80}]}, "
                                     "dns: {type: Logical}}")),
              ElementsAre(HasSubstr("spec.dns: must not be given for a Service")));
}

TEST(DestinationBackend, ReadsAnAddressInItsCanonicalForm) {
  const std::string ports = ", ports: [{number: 443, protocol: HTTP}]}}";
  for (const DestinationSpelling& spelling : kAll) {
    const auto read = [&](const std::string& ip) {
      return loadBackend(spelling, "{destination: {type: IP, " + ip + ports);
    };
    for (const auto& [address, canonical] :
         {std::pair{"192.0.2.1", "192.0.2.1"}, std::pair{"'2001:DB8:0:0::1'", "2001:db8::1"},
          std::pair{"'::ffff:192.0.2.1'", "::ffff:192.0.2.1"}}) {
      const Configuration configuration = read("ip: {address: " + std::string(address) + "}");
      ASSERT_THAT(problemsIn(configuration), IsEmpty()) << address;
      const Backend& backend = configuration.model.all<Backend>().at(0);
      EXPECT_EQ(backend.hostname, canonical);
      EXPECT_THAT(backend.unsupported, IsEmpty());
    }
    for (const char* wrong :
         {"a.test", "192.0.2", "192.0.2.01", "192.0.2.1:80", "'[2001:db8::1]'", "'fe80::1%eth0'", "1"}) {
      EXPECT_THAT(problemsIn(read("ip: {address: " + std::string(wrong) + "}")),
                  ElementsAre(HasSubstr("ip.address: must be")))
          << wrong;
    }
    EXPECT_THAT(problemsIn(read("ip: {}")), ElementsAre(EndsWith("ip.address: is required")));
    EXPECT_THAT(problemsIn(read("ip: {address: 192.0.2.1, port: 443}")),
                ElementsAre(HasSubstr("ip.port: unknown field")));
    EXPECT_THAT(problemsIn(loadBackend(spelling, "{destination: {type: Ip, ip: {address: 192.0.2.1}}}")),
                ElementsAre(EndsWith("destination.ports: is required")));
  }
}

TEST(DestinationBackend, ReadsNamesAndUrisOfCertificates) {
  const Configuration configuration = loadTls(kOwn, "{subjectAltNames: ['spiffe://a/b', a.test]}");
  ASSERT_THAT(problemsIn(configuration), IsEmpty());
  EXPECT_THAT(configuration.model.all<Backend>().at(0).ports.at(0).tls->subjectAltNames,
              ElementsAre("spiffe://a/b", "a.test"));
  EXPECT_THAT(configuration.model.all<Backend>().at(0).unsupported, IsEmpty());
  EXPECT_THAT(problemsIn(loadTls(kOwn, "{subjectAltNames: ['a.test:443']}")),
              ElementsAre(HasSubstr("subjectAltNames[0]: must be a URI")));
  EXPECT_THAT(problemsIn(loadTls(kOwn, "{subjectAltNames: [Not_A_Name]}")),
              ElementsAre(HasSubstr("subjectAltNames[0]")));
}

TEST(DestinationBackend, ReadsTlsOptionsInThisProjectsSpellingOnly) {
  const std::string tls =
      "{options: {sluice.dev/min-tls-version: '1.3', sluice.dev/other: x, plain: y, acme.test/z: w}}";
  const Configuration configuration = loadTls(kOwn, tls);
  ASSERT_THAT(problemsIn(configuration), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_EQ(backend.ports.at(0).tls->options.at("sluice.dev/min-tls-version"), "1.3");
  ASSERT_EQ(backend.unsupported.size(), 3u);
  EXPECT_TRUE(backend.unsupported[0].altersTraffic) << "ours, and unknown";
  EXPECT_TRUE(backend.unsupported[1].altersTraffic) << "nobody's";
  EXPECT_FALSE(backend.unsupported[2].altersTraffic) << "somebody else's";
  EXPECT_THAT(problemsIn(loadTls(kProposal, tls)), ElementsAre(HasSubstr("options: unknown field")));
  EXPECT_THAT(problemsIn(loadTls(kOwn, "{options: {sluice.dev/min-tls-version: 1.3}}")),
              ElementsAre(HasSubstr("must be a string")));
}

constexpr std::string_view kEndpoints =
    R"({fqdn: {hostname: EU.models.test, port: 443}, tls: {mode: Simple, sni: models.test}},
  {fqdn: {hostname: us.models.test, port: 443}, protocol: TLS, priority: 1, weight: 3},
  {ip: {address: "2001:DB8::7", port: 8080}, protocol: HTTP2, priority: 15, weight: 1000})";

TEST(EndpointsOfABackend, HaveAPortAndTlsOfTheirOwn) {
  const Configuration configuration =
      loadBackend(kOwn, "{destination: {type: endpoints, endpoints: [" + std::string(kEndpoints) + "]}}");
  ASSERT_THAT(problemsIn(configuration), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_TRUE(backend.hasEndpoints);
  EXPECT_EQ(backend.hostname, "");
  EXPECT_EQ(backend.findPort(443), nullptr) << "a reference means all of them";
  ASSERT_EQ(backend.ports.size(), 3u);
  EXPECT_EQ(backend.ports[0].hostname, "eu.models.test");
  EXPECT_EQ(backend.ports[0].number, 443);
  EXPECT_EQ(backend.ports[0].priority, 0u);
  EXPECT_EQ(backend.ports[0].weight, 1u);
  EXPECT_EQ(backend.ports[0].tls->serverName, "models.test");
  EXPECT_EQ(backend.ports[1].tls->mode, TlsMode::kServerAuth);
  EXPECT_EQ(backend.ports[1].priority, 1u);
  EXPECT_EQ(backend.ports[1].weight, 3u);
  EXPECT_EQ(backend.ports[2].hostname, "2001:db8::7");
  EXPECT_EQ(backend.ports[2].protocol, BackendProtocol::kHttp2);
  EXPECT_FALSE(backend.ports[2].tls);
}

TEST(EndpointsOfABackend, AreOfThisProjectsOwnKindAlone) {
  for (const DestinationSpelling& spelling : {kProposal, kPrototype, kDestination}) {
    const Configuration configuration =
        loadBackend(spelling, "{destination: {type: Endpoints, endpoints: [" + std::string(kEndpoints) + "]}}");
    EXPECT_THAT(problemsIn(configuration), Not(IsEmpty())) << spelling.apiVersion;
  }
}

TEST(EndpointsOfABackend, AreChecked) {
  struct Wrong {
    const char* destination;
    const char* problem;
  };
  const Wrong all[] = {
      {"{type: Endpoints}", "destination.endpoints: is required when type is Endpoints"},
      {"{type: Endpoints, endpoints: []}", "destination.endpoints: must have at least one item"},
      {"{type: Fqdn, fqdn: {hostname: a.test, port: 1}, endpoints: [{fqdn: {hostname: b.test, port: 1}}]}",
       "destination.endpoints: must not be given when type is Fqdn"},
      {"{type: Endpoints, ports: [{number: 1}], endpoints: [{fqdn: {hostname: a.test, port: 1}}]}",
       "destination.ports: must not be given: each endpoint has a port of its own"},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: a.test}}]}", "endpoints[0].fqdn.port: is required"},
      {"{type: Endpoints, endpoints: [{ip: {address: 192.0.2.1}}]}", "endpoints[0].ip.port: is required"},
      {"{type: Endpoints, endpoints: [{ip: {address: 192.0.2.256, port: 1}}]}", "endpoints[0].ip.address: "},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: localhost, port: 1}}]}", "endpoints[0].fqdn.hostname: "},
      {"{type: Endpoints, endpoints: [{priority: 1}]}", "endpoints[0].fqdn: or ip is required"},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 1}, ip: {address: 192.0.2.1, port: 1}}]}",
       "endpoints[0].ip: must not be given together with fqdn"},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 1}, priority: 16}]}", "endpoints[0].priority: "},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 1}, weight: 0}]}", "endpoints[0].weight: "},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 1}}, {fqdn: {hostname: A.test., port: 1}}]}",
       "endpoints[1]: repeats a.test:1"},
      {"{type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 1}, name: x}]}", "endpoints[0].name: "},
  };
  for (const Wrong& each : all) {
    const Configuration configuration = loadBackend(kOwn, "{destination: " + std::string(each.destination) + "}");
    EXPECT_THAT(problemsIn(configuration), Contains(HasSubstr(each.problem))) << each.destination;
  }
}

}  // namespace
}  // namespace sluice::config
