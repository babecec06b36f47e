// Tests the Backend of Envoy Gateway.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/read/object_kinds.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadEnvoyBackend(const std::string& spec) {
  return loadText(object("gateway.envoyproxy.io/v1alpha1", "Backend", "b", "spec: {" + spec + "}\n"));
}

TEST(EnvoyBackend, HasEndpointsThatSpeakAlike) {
  const Configuration configuration = loadEnvoyBackend(
      "type: Endpoints, endpoints: [{fqdn: {hostname: a.test, port: 443}}, {fqdn: {hostname: b.test, port: 8443}}], "
      "appProtocols: [gateway.envoyproxy.io/ws, gateway.envoyproxy.io/h2c], fallback: true, "
      "tls: {sni: C.test, insecureSkipVerify: true, clientCertificateRef: {name: me}, caCertificateRefs: [{group: '', "
      "kind: ConfigMap, name: ca}]}");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_TRUE(backend.hasEndpoints);
  EXPECT_TRUE(backend.isFallback);
  ASSERT_EQ(backend.ports.size(), 2u);
  EXPECT_EQ(backend.ports[1].hostname, "b.test");
  EXPECT_EQ(backend.ports[1].number, 8443);
  EXPECT_EQ(backend.ports[0].protocol, BackendProtocol::kHttp2);
  ASSERT_TRUE(backend.tls);
  EXPECT_EQ(backend.tls->mode, TlsMode::kMutual);
  EXPECT_EQ(backend.tls->serverName, "c.test");
  EXPECT_TRUE(backend.tls->insecureSkipVerify);
  EXPECT_EQ(backend.tls->caRefs.at(0).name, "ca");
  EXPECT_TRUE(backend.unsupported.empty());
}

TEST(EnvoyBackend, MeansNoTlsAndHttp11ByDefault) {
  const Configuration configuration = loadEnvoyBackend("endpoints: [{ip: {address: 192.0.2.1, port: 80}}]");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  EXPECT_FALSE(backend.tls);
  EXPECT_FALSE(backend.isFallback);
  EXPECT_EQ(backend.ports.at(0).protocol, BackendProtocol::kAuto);
  EXPECT_EQ(findObjectKind(backend.meta.group, backend.meta.kind)->status, StatusShape::kConditions);
}

TEST(EnvoyBackend, MayHaveDestinationsThatRequestsName) {
  const Configuration configuration = loadEnvoyBackend("type: DynamicResolver, tls: {wellKnownCACertificates: System}");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const Backend& backend = configuration.model.all<Backend>().at(0);
  ASSERT_TRUE(backend.dynamic);
  EXPECT_THAT(backend.dynamic->hostnames, IsEmpty());
  EXPECT_FALSE(backend.hasEndpoints);
  ASSERT_EQ(backend.ports.size(), 1U);
  EXPECT_EQ(backend.ports[0].number, 0) << "any";
  EXPECT_EQ(backend.tls->mode, TlsMode::kServerAuth);
}

TEST(EnvoyBackend, SaysWhatIsNotSupported) {
  const std::string one = "endpoints: [{fqdn: {hostname: a.test, port: 443}}]";
  const std::pair<std::string, std::string> all[] = {
      {"endpoints: [{unix: {path: /run/a}}]", "spec.endpoints[0].unix"},
      {"endpoints: [{hostname: a.test, ip: {address: 192.0.2.1, port: 80}}]", "spec.endpoints[0].hostname"},
      {one + ", tls: {minVersion: '1.3'}", "spec.tls.minVersion"},
      {one + ", tls: {maxVersion: '1.3'}", "spec.tls.maxVersion"},
      {one + ", tls: {ciphers: [A]}", "spec.tls.ciphers"},
      {one + ", tls: {ecdhCurves: [A]}", "spec.tls.ecdhCurves"},
      {one + ", tls: {signatureAlgorithms: [A]}", "spec.tls.signatureAlgorithms"},
      {one + ", tls: {alpnProtocols: [h2]}", "spec.tls.alpnProtocols"},
      {one + ", tls: {wellKnownCACertificates: acme.test/All}", "spec.tls.wellKnownCACertificates"},
  };
  for (const auto& [spec, path] : all) {
    const Configuration configuration = loadEnvoyBackend(spec);
    ASSERT_EQ(configuration.model.all<Backend>().size(), 1u) << spec;
    const std::vector<UnsupportedField>& unsupported = configuration.model.all<Backend>().at(0).unsupported;
    ASSERT_EQ(unsupported.size(), 1u) << spec;
    EXPECT_EQ(unsupported[0].path, path);
    EXPECT_TRUE(unsupported[0].altersTraffic) << spec;
  }
  const Configuration zoned = loadEnvoyBackend("endpoints: [{fqdn: {hostname: a.test, port: 443}, zone: a}]");
  EXPECT_FALSE(zoned.model.all<Backend>().at(0).unsupported.at(0).altersTraffic) << "the endpoint serves all the same";
}

TEST(EnvoyBackend, IsChecked) {
  const std::pair<const char*, const char*> all[] = {
      {"endpoints: []", "spec.endpoints: must have at least one item"},
      {"fallback: true", "spec.endpoints: must have at least one item"},
      {"type: DynamicResolver, endpoints: [{fqdn: {hostname: a.test, port: 1}}]",
       "spec.endpoints: must not be given when type is DynamicResolver"},
      {"type: DynamicResolver, tls: {sni: a.test}",
       "spec.tls.sni: must not be given, because requests name the destination"},
      {"endpoints: [{zone: a}]", "spec.endpoints[0].fqdn: or ip is required"},
      {"endpoints: [{fqdn: {hostname: a.test, port: 1}}, {fqdn: {hostname: a.test, port: 1}}]",
       "spec.endpoints[1]: repeats a.test:1"},
      {"endpoints: [{fqdn: {hostname: a.test, port: 1}}], appProtocols: [http]", "spec.appProtocols[0]: must be "},
      {"endpoints: [{fqdn: {hostname: a.test, port: 1}}], tls: {wellKnownCACertificates: System, caCertificateRefs: "
       "[{group: '', kind: ConfigMap, name: ca}]}",
       "spec.tls.wellKnownCACertificates: must not be given together with caCertificateRefs"},
      {"endpoints: [{fqdn: {hostname: a.test, port: 1}}], tls: {mode: Simple}", "spec.tls.mode: "},
      {"endpoints: [{fqdn: {hostname: a.test, port: 1}}], weight: 1", "spec.weight: "},
  };
  for (const auto& [spec, problem] : all) {
    EXPECT_THAT(rendered(loadEnvoyBackend(spec).problems), Contains(HasSubstr(problem))) << spec;
  }
}

}  // namespace
}  // namespace sluice::config
