#include <gtest/gtest.h>

#include <set>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::firstPlan;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

std::string backendWith(std::string_view fields) {
  return with(kBackend, "port: 8080}}", "port: 8080}}, " + std::string(fields));
}
std::string authorities() { return test::configMap("ca", "ca.crt", test::authority().certificate); }
World worldWithBackend(const std::vector<std::string>& documents) {
  std::vector<std::string_view> all = {kClass, kGateway, kRoute};
  all.insert(all.end(), documents.begin(), documents.end());
  return World(all);
}

constexpr std::string_view kXBackend = R"(
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackend
metadata: {name: origin, generation: 7}
spec: {type: ExternalHostname, externalHostname: {hostname: origin.test}, port: {port: 443}, protocol: HTTP2}
)";
std::string xRoute() {
  return with(kRoute, "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080",
              "group: gateway.networking.x-k8s.io, kind: XBackend, name: origin");
}

TEST(CompileBackend, IsPlaintextWithoutTls) {
  const World world = worldWithBackend({std::string(kBackend)});
  EXPECT_EQ(firstPlan(world).name, "default/origin");
  EXPECT_EQ(firstPlan(world).hostname, "origin.test");
  EXPECT_EQ(firstPlan(world).port, 8080);
  EXPECT_EQ(firstPlan(world).authority, "origin.test:8080");
  EXPECT_EQ(firstPlan(world).protocol, routing::UpstreamProtocol::kAuto);
  EXPECT_FALSE(firstPlan(world).tls);
  EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(world.condition("Backend", "origin", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.status("Backend", "origin")->controllers.front().conditions.front().observedGeneration, 5);
  EXPECT_EQ(world.systemTrustLoads(), 0);
}

TEST(CompileBackend, LeavesThePortOfItsSchemeOutOfTheAuthority) {
  const auto authorityFor = [](std::string_view port, std::string_view tls) {
    const World world({kClass, kGateway,
                       with(with(kBackend, "port: 8080}}", "port: 8080}}" + std::string(tls)), "8080", port),
                       with(kRoute, ", port: 8080", "")});
    return firstPlan(world).authority;
  };
  EXPECT_EQ(authorityFor("80", ""), "origin.test");
  EXPECT_EQ(authorityFor("443", ""), "origin.test:443");
  EXPECT_EQ(authorityFor("443", ", tls: {mode: Terminate}"), "origin.test");
  EXPECT_EQ(authorityFor("80", ", tls: {mode: Terminate}"), "origin.test:80");
}

TEST(CompileBackend, VerifiesWithTheSystemsAuthoritiesUnlessABundleIsNamed) {
  const World system = worldWithBackend({backendWith("tls: {mode: Terminate}")});
  ASSERT_TRUE(firstPlan(system).tls);
  EXPECT_EQ(firstPlan(system).tls->serverName, "origin.test");
  EXPECT_NE(firstPlan(system).tls->trust, nullptr);
  EXPECT_EQ(system.systemTrustLoads(), 1);
  const World bundle = worldWithBackend(
      {backendWith("tls: {mode: Terminate, sni: Other.Test, caBundleRef: {name: ca}}"), authorities()});
  EXPECT_EQ(firstPlan(bundle).tls->serverName, "other.test");
  EXPECT_EQ(bundle.systemTrustLoads(), 0);
  EXPECT_EQ(bundle.outcome(), "default/origin");
}

TEST(CompileBackend, AcceptsABundleFromASecretToo) {
  const World world = worldWithBackend({backendWith("tls: {mode: Terminate, caBundleRef: {kind: Secret, name: ca}}"),
                                        test::secret("ca", {{"ca.crt", test::authority().certificate}})});
  EXPECT_EQ(world.outcome(), "default/origin");
}

TEST(CompileBackend, NeverFallsBackToTheSystemsAuthorities) {
  for (const std::string& bundle :
       {test::configMap("elsewhere", "ca.crt", test::authority().certificate), test::configMap("ca", "other", "x"),
        test::configMap("ca", "ca.crt", "nonsense"), test::configMap("ca", "ca.crt", "")}) {
    const World world = worldWithBackend({backendWith("tls: {mode: Terminate, caBundleRef: {name: ca}}"), bundle});
    EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidCACertificateRef");
    EXPECT_EQ(world.condition("Backend", "origin", "Programmed"), "False/Invalid");
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/InvalidCACertificateRef");
    EXPECT_EQ(world.outcome(), "500");
    EXPECT_TRUE(world.snapshot().backends.empty());
    EXPECT_EQ(world.systemTrustLoads(), 0);
  }
}

TEST(CompileBackend, RefusesBundlesOfOtherKindsAndNamespaces) {
  World world = worldWithBackend({backendWith("tls: {mode: Terminate, caBundleRef: {name: ca}}"), authorities()});
  world.backend().tls->caRefs.front().kind = "Service";
  world.recompile();
  EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidKind");
  world.backend().tls->caRefs.front().kind = "ConfigMap";
  world.backend().tls->caRefs.front().nameSpace = "other";
  world.recompile();
  EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/RefNotPermitted");
}

TEST(CompileBackend, IsBrokenIfTheSystemHasNoAuthorities) {
  World world = worldWithBackend({backendWith("tls: {mode: Terminate}")});
  world.breakSystemTrust();
  EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidCACertificateRef");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileBackend, PresentsItsClientCertificate) {
  const auto client = sluice::test::issueClient(test::authority(), "me");
  const std::string mutual =
      backendWith("tls: {mode: Mutual, caBundleRef: {name: ca}, clientCertificateRef: {name: me}}");
  const World world = worldWithBackend({mutual, authorities(), test::keyPair("me", client)});
  ASSERT_EQ(world.outcome(), "default/origin");
  EXPECT_NE(firstPlan(world).tls->clientCertificate, nullptr);
  EXPECT_NE(firstPlan(world).tls->clientKey, nullptr);
  const World missing = worldWithBackend({mutual, authorities()});
  EXPECT_EQ(missing.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidClientCertificateRef");
  EXPECT_EQ(missing.outcome(), "500");
}

TEST(CompileBackend, RequiresAClientCertificateToBeMutual) {
  World world = worldWithBackend({backendWith("tls: {mode: Terminate, caBundleRef: {name: ca}}"), authorities()});
  world.backend().tls->mode = config::TlsMode::kMutual;
  world.recompile();
  EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidClientCertificateRef");
}

TEST(CompileBackend, CannotPassTlsThroughForAnHttpRoute) {
  const World world = worldWithBackend({backendWith("tls: {mode: Passthrough}")});
  EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "False/UnsupportedProtocol");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/UnsupportedProtocol");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileBackend, IsDegradedByExtensionsThatCannotRun) {
  for (const bool open : {true, false}) {
    const World world =
        worldWithBackend({backendWith("extensions: [{name: guard, type: 'acme.example.com/PIIDetector:v1', phase: "
                                      "request-body, priority: 20, failOpen: " +
                                      std::string(open ? "true" : "false") + "}]")});
    EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "True/Accepted") << "admitted, and degraded";
    EXPECT_EQ(world.condition("Backend", "origin", "Degraded"), "True/UnsupportedExtensionType");
    EXPECT_NE(world.message("Backend", "origin", "Degraded").find("PIIDetector"), std::string::npos);
    EXPECT_EQ(world.condition("Backend", "origin", "Programmed"), open ? "True/Programmed" : "False/Invalid");
    EXPECT_EQ(world.outcome(), open ? "default/origin" : "500");
  }
}

TEST(CompileBackend, Answers500IfItsSchemaRefusesIt) {
  for (const std::string_view hostname : {"api.default.svc.cluster.local", "api.svc", "10.0.0.1"}) {
    const World world = worldWithBackend({with(kBackend, "Origin.Test", hostname)});
    EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "False/Invalid") << hostname;
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/BackendNotFound") << hostname;
    EXPECT_EQ(world.outcome(), "500") << hostname;
  }
}

TEST(CompileBackend, RefusesToSendTrafficToTheGatewayItself) {
  for (const std::string_view hostname : {"localhost", "a.localhost"}) {
    const World world = worldWithBackend({with(kBackend, "Origin.Test", hostname)});
    EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "False/Invalid") << hostname;
    EXPECT_EQ(world.outcome(), "500") << hostname;
  }
  EXPECT_EQ(worldWithBackend({with(kBackend, "Origin.Test", "notlocalhost")}).outcome(), "default/origin");
}

TEST(CompileBackend, ReadsTheExperimentalSpelling) {
  const World world({kClass, kGateway, kXBackend, xRoute()});
  ASSERT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(firstPlan(world).protocol, routing::UpstreamProtocol::kHttp2);
  const config::ObjectStatus* status = world.status("XBackend", "origin");
  ASSERT_NE(status, nullptr);
  ASSERT_EQ(status->parents.size(), 1U);
  EXPECT_EQ(status->parents.front().parentRef.object.name, "egress");
  EXPECT_EQ(world.condition("XBackend", "origin", "Accepted"), "True/Accepted");
}

TEST(CompileBackend, HasTheGatewayClassAsItsParentUntilAGatewayUsesIt) {
  const World world({kClass, kGateway, kXBackend});
  ASSERT_EQ(world.status("XBackend", "origin")->parents.size(), 1U);
  EXPECT_EQ(world.status("XBackend", "origin")->parents.front().parentRef.object.kind, "GatewayClass");
}

TEST(CompileBackend, Answers500ForUnsupportedProtocols) {
  const World world({kClass, kGateway, with(kXBackend, "HTTP2", "TCP"), xRoute()});
  EXPECT_EQ(world.condition("XBackend", "origin", "Accepted"), "False/UnsupportedProtocol");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileBackend, ReportsThatItDoesNotVerify) {
  World world = worldWithBackend({backendWith("tls: {mode: Terminate, caBundleRef: {name: ca}}"), authorities()});
  world.backend().tls->insecureSkipVerify = true;
  world.recompile();
  EXPECT_TRUE(firstPlan(world).tls->insecureSkipVerify);
  EXPECT_NE(world.message("Backend", "origin", "Accepted").find("not verified"), std::string::npos);
}

TEST(CompileBackend, HasAnHttp11PlanForUpgradesIfAlpnChoosesTheProtocol) {
  const auto tunnelPlan = [](const World& world) {
    http::RequestHead head;
    const std::shared_ptr<const routing::BackendPlan>& backend =
        world.rule(test::RequestMaker("GET", "a.test", "/"))->backends[0].backend;
    EXPECT_EQ(routing::planFor(head, backend), &backend) << "other requests have the plan as it is";
    head.body = http::Body::kTunnel;
    const auto* found = routing::planFor(head, backend);
    return found == nullptr ? nullptr : *found;
  };
  const World open = worldWithBackend({std::string(kBackend)});
  EXPECT_EQ(tunnelPlan(open), open.snapshot().backends.at(0));

  World world = worldWithBackend({backendWith("tls: {mode: Terminate}")});
  ASSERT_EQ(world.snapshot().backends.size(), 2U) << "both keep their connections over a reload";
  const routing::BackendPlan& usual = firstPlan(world);
  const auto upgrades = tunnelPlan(world);
  ASSERT_TRUE(upgrades);
  EXPECT_EQ(usual.protocol, routing::UpstreamProtocol::kAuto);
  EXPECT_EQ(upgrades->protocol, routing::UpstreamProtocol::kHttp11);
  EXPECT_EQ(upgrades->tls->serverName, usual.tls->serverName);
  EXPECT_EQ(upgrades->authority, usual.authority);
  EXPECT_NE(upgrades->identity, usual.identity);
  EXPECT_EQ(upgrades->countsAs, usual.identity) << "one bound for both";

  world.backend().ports.front().protocol = config::BackendProtocol::kHttp11;
  world.recompile();
  EXPECT_EQ(tunnelPlan(world), world.snapshot().backends.at(0));
  world.backend().ports.front().protocol = config::BackendProtocol::kHttp2;
  world.recompile();
  EXPECT_EQ(tunnelPlan(world), world.snapshot().backends.at(0)) << "whether it takes upgrades, its SETTINGS say";
}

// The namespaces of a cluster do not trust each other. So none may use up the limits of another one, or use its
// connections.
TEST(CompileBackend, GivesTwoObjectsForOneDestinationDifferentIdentities) {
  const std::string route =
      with(kRoute, "name: origin, port: 8080}",
           "name: origin, port: 8080}, {group: gateway.networking.k8s.io, kind: Backend, name: second, port: 8080}, "
           "{group: sluice.dev, kind: Backend, name: origin, port: 8080}");
  const std::string second = with(kBackend, "name: origin", "name: second");
  const std::string own = with(kBackend, "gateway.networking.k8s.io", "sluice.dev");
  const World world({kClass, kGateway, route, kBackend, second, own});
  std::set<std::string> identities;
  for (const auto& plan : world.snapshot().backends) {
    EXPECT_EQ(plan->authority, "origin.test:8080");
    identities.insert(plan->identity.text());
  }
  EXPECT_EQ(identities.size(), 3U);
}

TEST(CompileBackend, GivesDifferentConnectionsDifferentIdentities) {
  const auto client = sluice::test::issueClient(test::authority(), "me");
  const auto otherClient = sluice::test::issueClient(test::authority(), "you");
  const auto stranger = sluice::test::makeAuthority("Stranger");
  std::vector<std::string> identities;
  const auto add = [&](auto change, const sluice::test::CertifiedKey& ca, const sluice::test::CertifiedKey& me) {
    World world =
        worldWithBackend({backendWith("tls: {mode: Mutual, caBundleRef: {name: ca}, clientCertificateRef: {name: me}}"),
                          test::configMap("ca", "ca.crt", ca.certificate), test::keyPair("me", me)});
    change(world.backend());
    world.recompile();
    identities.push_back(firstPlan(world).identity.text());
  };
  const auto nothing = [](config::Backend&) {};
  add(nothing, test::authority(), client);
  add(nothing, stranger, client);
  add(nothing, test::authority(), otherClient);
  add([](config::Backend& each) { each.hostname = "other.test"; }, test::authority(), client);
  add([](config::Backend& each) { each.ports.front().protocol = config::BackendProtocol::kHttp11; }, test::authority(),
      client);
  add([](config::Backend& each) { each.ports.front().protocol = config::BackendProtocol::kHttp2; }, test::authority(),
      client);
  add([](config::Backend& each) { each.tls->serverName = "sni.test"; }, test::authority(), client);
  add([](config::Backend& each) { each.tls->subjectAltNames = {"san.test"}; }, test::authority(), client);
  add([](config::Backend& each) { each.tls->insecureSkipVerify = true; }, test::authority(), client);
  const auto option = [](std::string_view key, const char* value) {
    return [=](config::Backend& each) { each.tls->options.emplace(key, value); };
  };
  add(option(config::tls_option::kSpkiPins, "4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0="), test::authority(), client);
  add(option(config::tls_option::kMinVersion, "1.3"), test::authority(), client);
  add(option(config::tls_option::kCipherSuites, "ECDHE-RSA-AES128-GCM-SHA256"), test::authority(), client);
  add([](config::Backend& each) { each.tls->mode = config::TlsMode::kServerAuth; }, test::authority(), client);
  add([](config::Backend& each) { each.tls->mode = config::TlsMode::kNone; }, test::authority(), client);
  for (std::size_t i = 0; i < identities.size(); ++i) {
    for (std::size_t j = i + 1; j < identities.size(); ++j)
      EXPECT_NE(identities[i], identities[j]) << i << " and " << j;
  }
  add(nothing, test::authority(), client);
  EXPECT_EQ(identities.front(), identities.back());
  EXPECT_EQ(identities.front().find("PRIVATE"), std::string::npos);
}

}  // namespace
}  // namespace sluice::compile
