// Tests the TLS that BackendTLSPolicies give to Services, and requests to Services for which that TLS is not possible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSecureService =
    "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{name: web, port: 80}, {name: admin, port: "
    "81}]}\n";
constexpr const char* kSecureSlice =
    "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s-1, labels: {kubernetes.io/service-name: "
    "s}}\naddressType: IPv4\nports: [{name: web, port: 8443}, {name: admin, port: 9443}]\nendpoints: [{addresses: "
    "[10.0.0.1]}]\n";
constexpr const char* kOfSystem = "hostname: api.test, wellKnownCACertificates: System";
constexpr const char* kOfConfigMap = "hostname: api.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]";

std::string tlsPolicyNamed(const std::string& name, const std::string& section, const std::string& validation,
                           const std::string& more = {}) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: " + name +
         ", generation: 7}\nspec: {targetRefs: [{group: '', kind: Service, name: s" +
         (section.empty() ? "" : ", sectionName: " + section) + "}], validation: {" + validation + "}" + more + "}\n";
}
std::string tlsPolicyOf(const std::string& validation, const std::string& more = {}) {
  return tlsPolicyNamed("p", {}, validation, more);
}
std::string routeToPorts() {
  return routeWithRules(
      "rules: [{matches: [{path: {value: /web}}], backendRefs: [{name: s, port: 80}]}, {matches: [{path: {value: "
      "/admin}}], backendRefs: [{name: s, port: 81}]}]");
}
World secureWorld(const std::vector<std::string>& more, const std::string& service = kSecureService,
                  const World* previous = nullptr) {
  const std::string route = routeToPorts();
  std::vector<std::string_view> all = {kClass, kGateway, service, kSecureSlice, route};
  all.insert(all.end(), more.begin(), more.end());
  return World(all, previous);
}
std::string authorityMap() { return test::configMap("ca", "ca.crt", test::authority().certificate); }

const routing::BackendPlan* planAt(const World& world, const std::string& path) {
  const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", path));
  const routing::WeightedBackend* weighted = rule == nullptr ? nullptr : rule->choose(0);
  return weighted == nullptr ? nullptr : weighted->backend.get();
}
std::string outcomes(const World& world) {
  const auto one = [&](const std::string& path) {
    const std::string outcome = world.outcome("a.test", path);
    if (outcome != "default/s") return outcome;
    return std::string(planAt(world, path)->tls ? "tls" : "plain");
  };
  return one("/web") + " " + one("/admin");
}
std::string tlsAccepted(const World& world, const std::string& name = "p") {
  return world.condition("BackendTLSPolicy", name, "Accepted");
}
std::string tlsResolved(const World& world, const std::string& name = "p") {
  return world.condition("BackendTLSPolicy", name, "ResolvedRefs");
}
std::string tlsMessage(const World& world, const std::string& type = "Accepted") {
  return world.message("BackendTLSPolicy", "p", type);
}

TEST(BackendTlsPolicyCompilation, GivesAServiceTls) {
  const World world =
      secureWorld({authorityMap(), tlsPolicyOf(std::string(kOfConfigMap) +
                                               ", subjectAltNames: [{type: Hostname, hostname: b.test}, {type: URI, "
                                               "uri: 'spiffe://a/b'}]")});
  EXPECT_EQ(outcomes(world), "tls tls");
  const routing::BackendPlan& plan = *planAt(world, "/web");
  EXPECT_EQ(plan.tls->serverName, "api.test");
  EXPECT_THAT(plan.tls->subjectAltNames, ElementsAre("b.test", "spiffe://a/b"));
  EXPECT_NE(plan.tls->trust, nullptr);
  EXPECT_FALSE(plan.tls->insecureSkipVerify);
  EXPECT_EQ(plan.endpoints->size(), 1U);
  EXPECT_EQ(plan.protocol, routing::UpstreamProtocol::kAuto) << "as ALPN decides";
  ASSERT_NE(plan.http11, nullptr);
  EXPECT_TRUE(plan.http11->tls) << "requests that HTTP/2 cannot carry go over TLS too";
  EXPECT_EQ(tlsAccepted(world), "True/Accepted");
  EXPECT_EQ(tlsResolved(world), "True/ResolvedRefs");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
}

TEST(BackendTlsPolicyCompilation, UsesTheSystemsAuthoritiesOnce) {
  World world = secureWorld({tlsPolicyOf(kOfSystem)});
  EXPECT_EQ(outcomes(world), "tls tls");
  EXPECT_EQ(world.systemTrustLoads(), 1);
  world.breakSystemTrust();
  EXPECT_EQ(outcomes(world), "500 500");
  EXPECT_EQ(tlsResolved(world), "False/InvalidCACertificateRef");
  EXPECT_THAT(tlsMessage(world, "ResolvedRefs"), HasSubstr("the authorities of the system: no bundle here"));
}

TEST(BackendTlsPolicyCompilation, SpeaksTheVersionOfTheAppProtocol) {
  const auto protocolFor = [](const std::string& appProtocol) {
    const World world = secureWorld({tlsPolicyOf(kOfSystem)}, with(kSecureService, "name: web, port: 80",
                                                                   "name: web, port: 80, appProtocol: " + appProtocol));
    const routing::BackendPlan* plan = planAt(world, "/web");
    EXPECT_TRUE(plan != nullptr && plan->tls) << appProtocol;
    return plan->protocol;
  };
  for (const char* name : {"https", "HTTPS", "Https"}) {
    EXPECT_EQ(protocolFor(name), routing::UpstreamProtocol::kAuto) << name;
  }
  for (const char* name : {"http", "HTTP", "ws", "wss", "WSS", "kubernetes.io/ws", "kubernetes.io/wss"}) {
    EXPECT_EQ(protocolFor(name), routing::UpstreamProtocol::kHttp11) << name;
  }
  for (const char* name : {"kubernetes.io/h2c", "h2c", "http2", "grpc"}) {
    EXPECT_EQ(protocolFor(name), routing::UpstreamProtocol::kHttp2) << name;
  }
}

TEST(BackendTlsPolicyCompilation, IsNeededByAnAppProtocolOverTls) {
  for (const std::string each : {"https", "HTTPS", "wss", "kubernetes.io/wss"}) {
    const World world =
        secureWorld({}, with(kSecureService, "name: web, port: 80", "name: web, port: 80, appProtocol: " + each));
    EXPECT_EQ(outcomes(world), "500 plain");
    EXPECT_THAT(world.message("HTTPRoute", "route", "ResolvedRefs"),
                HasSubstr("appProtocol " + each + " needs TLS, which a BackendTLSPolicy for the Service gives it"));
  }
}

TEST(BackendTlsPolicyCompilation, ConcernsThePortThatItNames) {
  EXPECT_EQ(outcomes(secureWorld({tlsPolicyNamed("p", "admin", kOfSystem)})), "plain tls");
}

TEST(BackendTlsPolicyCompilation, MayNameAPortByItsNumber) {
  const World world = secureWorld({tlsPolicyNamed("p", "'81'", kOfSystem)});
  EXPECT_EQ(outcomes(world), "plain tls");
  EXPECT_EQ(tlsAccepted(world), "True/Accepted");
  const World both = secureWorld({tlsPolicyNamed("p", "'81'", kOfSystem), tlsPolicyNamed("a", "admin", kOfSystem)});
  EXPECT_EQ(tlsAccepted(both, "a"), "True/Accepted");
  EXPECT_EQ(tlsAccepted(both), "False/Conflicted");
  EXPECT_EQ(outcomes(secureWorld({tlsPolicyNamed("p", "'8443'", kOfSystem)})), "plain plain")
      << "of the Service, not of a Pod";
}

TEST(BackendTlsPolicyCompilation, CountsForAPortBeforeOneForTheService) {
  const World world =
      secureWorld({tlsPolicyNamed("a", {}, kOfSystem),
                   tlsPolicyNamed("p", "admin", "hostname: admin.test, wellKnownCACertificates: System")});
  EXPECT_EQ(planAt(world, "/web")->tls->serverName, "api.test");
  EXPECT_EQ(planAt(world, "/admin")->tls->serverName, "admin.test");
  EXPECT_EQ(tlsAccepted(world, "a"), "True/Accepted");
  EXPECT_EQ(tlsAccepted(world, "p"), "True/Accepted");
}

TEST(BackendTlsPolicyCompilation, CountsIfItIsTheOldestOrElseTheFirstByName) {
  const std::string other = tlsPolicyNamed("p", {}, "hostname: other.test, wellKnownCACertificates: System");
  const World byName = secureWorld({other, tlsPolicyNamed("a", {}, kOfSystem)});
  EXPECT_EQ(planAt(byName, "/web")->tls->serverName, "api.test");
  EXPECT_EQ(tlsAccepted(byName, "a"), "True/Accepted");
  EXPECT_EQ(tlsAccepted(byName), "False/Conflicted");
  EXPECT_EQ(tlsMessage(byName),
            "spec.targetRefs[0]: BackendTLSPolicy default/a is for the same and comes first; nothing is changed");
  const auto dated = [](const std::string& policy, const std::string& time) {
    return with(policy, "generation: 7", "generation: 7, creationTimestamp: '" + time + "'");
  };
  const World byAge = secureWorld(
      {dated(other, "2026-01-01T00:00:00Z"), dated(tlsPolicyNamed("a", {}, kOfSystem), "2026-01-02T00:00:00Z")});
  EXPECT_EQ(planAt(byAge, "/web")->tls->serverName, "other.test");
  EXPECT_EQ(tlsAccepted(byAge), "True/Accepted");
  EXPECT_EQ(tlsAccepted(byAge, "a"), "False/Conflicted");
}

TEST(BackendTlsPolicyCompilation, ClosesTheServiceWithoutItsAuthorities) {
  for (const std::string& map :
       {std::string(), test::configMap("ca", "other", "a"), test::configMap("ca", "ca.crt", "no certificate")}) {
    const World world = secureWorld({map, tlsPolicyOf(kOfConfigMap)});
    EXPECT_EQ(outcomes(world), "500 500") << map;
    EXPECT_EQ(tlsAccepted(world), "False/NoValidCACertificate") << map;
    EXPECT_EQ(tlsResolved(world), "False/InvalidCACertificateRef") << map;
    EXPECT_THAT(tlsMessage(world, "ResolvedRefs"), HasSubstr("spec.validation.caCertificateRefs[0]: ConfigMap"));
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/InvalidCACertificateRef");
    EXPECT_THAT(world.message("HTTPRoute", "route", "ResolvedRefs"), HasSubstr("BackendTLSPolicy default/p: "));
  }
}

TEST(BackendTlsPolicyCompilation, ClosesTheServiceIfOneOfSeveralReferencesIsBroken) {
  const World world = secureWorld(
      {authorityMap(), tlsPolicyOf("hostname: api.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}, "
                                   "{group: '', kind: ConfigMap, name: absent}]")});
  EXPECT_EQ(outcomes(world), "500 500");
  EXPECT_EQ(tlsAccepted(world), "True/Accepted");
  EXPECT_EQ(tlsResolved(world), "False/InvalidCACertificateRef");
}

TEST(BackendTlsPolicyCompilation, TakesAuthoritiesFromASecretAndFromNothingElse) {
  const auto policy = [](const std::string& ref) {
    return tlsPolicyOf("hostname: api.test, caCertificateRefs: [{" + ref + ", name: ca}]");
  };
  EXPECT_EQ(outcomes(secureWorld(
                {test::secret("ca", {{"ca.crt", test::authority().certificate}}), policy("group: '', kind: Secret")})),
            "tls tls");
  for (const std::string ref : {"group: '', kind: Service", "group: acme.test, kind: ConfigMap"}) {
    const World world = secureWorld({authorityMap(), policy(ref)});
    EXPECT_EQ(outcomes(world), "500 500") << ref;
    EXPECT_EQ(tlsAccepted(world), "False/NoValidCACertificate") << ref;
    EXPECT_EQ(tlsResolved(world), "False/InvalidKind") << ref;
  }
}

TEST(BackendTlsPolicyCompilation, ClosesTheServiceIfItsAuthoritiesAreUnknown) {
  const World world = secureWorld({tlsPolicyOf("hostname: api.test, wellKnownCACertificates: acme.test/own")});
  EXPECT_EQ(outcomes(world), "500 500");
  EXPECT_EQ(tlsAccepted(world), "False/Invalid");
  EXPECT_THAT(tlsMessage(world), HasSubstr("spec.validation.wellKnownCACertificates"));
}

TEST(BackendTlsPolicyCompilation, HasTheOptionsOfABackend) {
  const World world = secureWorld({tlsPolicyOf(
      kOfSystem, ", options: {sluice.dev/min-tls-version: '1.3', sluice.dev/cipher-suites: TLS_AES_128_GCM_SHA256}")});
  EXPECT_EQ(planAt(world, "/web")->tls->minVersion, "1.3");
  EXPECT_EQ(planAt(world, "/web")->tls->cipherSuites, "TLS_AES_128_GCM_SHA256");
}

TEST(BackendTlsPolicyCompilation, ReportsEveryOptionThatItDoesNotKnow) {
  for (const std::string option : {"sluice.dev/min-tls-version: '1.1'", "sluice.dev/other: a", "plain: a"}) {
    const World world = secureWorld({tlsPolicyOf(kOfSystem, ", options: {" + option + "}")});
    EXPECT_EQ(outcomes(world), "500 500") << option;
    EXPECT_EQ(tlsAccepted(world), "False/Invalid") << option;
    EXPECT_THAT(tlsMessage(world), HasSubstr("spec.options"));
  }
  const World foreign = secureWorld({tlsPolicyOf(kOfSystem, ", options: {acme.test/other: a}")});
  EXPECT_EQ(outcomes(foreign), "tls tls");
  EXPECT_EQ(tlsAccepted(foreign), "True/Accepted");
  EXPECT_THAT(tlsMessage(foreign), HasSubstr("option \"acme.test/other\" is not supported"));
}

TEST(BackendTlsPolicyCompilation, ClosesWhatAPolicyTargetsThatItsSchemaRefuses) {
  const World world = secureWorld({tlsPolicyNamed("p", "admin", "hostname: api.test")});
  EXPECT_EQ(outcomes(world), "plain 500");
  EXPECT_EQ(tlsAccepted(world), "False/Invalid");
  EXPECT_THAT(tlsMessage(world), HasSubstr("its targets answer 500"));
}

TEST(BackendTlsPolicyCompilation, ClosesWhatAnIllegibleTargetCouldMean) {
  const World world = secureWorld({with(tlsPolicyOf(kOfSystem), "kind: Service", "knd: Service")});
  EXPECT_EQ(outcomes(world), "500 500");
  EXPECT_EQ(tlsAccepted(world), "False/Invalid");
}

TEST(BackendTlsPolicyCompilation, KeepsThePreviousVersionOfAPolicyThatIsRefusedNow) {
  const World good = secureWorld({tlsPolicyOf(kOfSystem)});
  const World bad = secureWorld({tlsPolicyOf("hostname: api.test")}, kSecureService, &good);
  EXPECT_EQ(outcomes(bad), "tls tls");
  EXPECT_THAT(tlsMessage(bad), HasSubstr("its previous valid version serves on"));
}

TEST(BackendTlsPolicyCompilation, ClosesWhatIsNeitherAServiceNorABackend) {
  const std::string policy = with(tlsPolicyOf(kOfSystem), "group: '', kind: Service, name: s",
                                  "group: gateway.networking.k8s.io, kind: HTTPRoute, name: route");
  const World world({kClass, kGateway, kBackend, test::kRoute, policy});
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(tlsAccepted(world), "False/Invalid");
  EXPECT_EQ(tlsMessage(world), "spec.targetRefs: only Services and Backends are supported: other targets answer 500");
  EXPECT_EQ(world.message("HTTPRoute", "route", "Accepted"),
            "BackendTLSPolicy default/p: policies of this kind are supported for Services and Backends only; its "
            "requests answer 500");
}

TEST(BackendTlsPolicyCompilation, GivesConnectionsOfTheirOwnToEveryChange) {
  const auto identity = [](const std::string& names) {
    return planAt(secureWorld({tlsPolicyOf(std::string(kOfSystem) + ", subjectAltNames: [" + names + "]")}), "/web")
        ->identity;
  };
  EXPECT_EQ(identity("{type: URI, uri: 'a://b'}"), identity("{type: URI, uri: 'a://b'}"));
  EXPECT_NE(identity("{type: URI, uri: 'a://b,c.test'}"),
            identity("{type: URI, uri: 'a://b'}, {type: Hostname, hostname: c.test}"));
  const auto withAuthority = [](const std::string& certificate) {
    return planAt(secureWorld({test::configMap("ca", "ca.crt", certificate), tlsPolicyOf(kOfConfigMap)}), "/web")
        ->identity;
  };
  EXPECT_NE(withAuthority(test::authority().certificate), withAuthority(sluice::test::makeAuthority().certificate));
}

TEST(BackendTlsPolicyStatus, HasTheGatewaysThatLeadToTheServiceAsItsAncestors) {
  const std::string second = with(with(kGateway, "name: egress", "name: another"), "port: 80}", "port: 8080}");
  const std::string unused = with(with(kGateway, "name: egress", "name: unused"), "port: 80}", "port: 8081}");
  const std::string route = with(routeToPorts(), "{name: egress}", "{name: egress}, {name: another}");
  const World world({kClass, kGateway, second, unused, kSecureService, route, tlsPolicyOf(kOfSystem)});
  const config::ObjectStatus* status = world.status("BackendTLSPolicy", "p");
  ASSERT_NE(status, nullptr);
  ASSERT_EQ(status->parents.size(), 2U);
  EXPECT_EQ(status->parents[0].parentRef.object.name, "another");
  EXPECT_EQ(status->parents[1].parentRef.object.name, "egress");
  EXPECT_THAT(config::statusJson(*status),
              HasSubstr(R"({"ancestorRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"default",)"
                        R"("name":"egress"},"controllerName":"sluice.dev/egress-gateway","conditions":[{"type":)"
                        R"("Accepted","status":"True","reason":"Accepted")"));
  EXPECT_TRUE(config::isHealthy(*status));
}

TEST(BackendTlsPolicyStatus, ReportsAServiceOrPortThatIsNotThere) {
  const World absent({kClass, kGateway, routeToPorts(), tlsPolicyOf(kOfSystem)});
  EXPECT_EQ(tlsAccepted(absent), "False/TargetNotFound");
  const World port = secureWorld({tlsPolicyNamed("p", "other", kOfSystem)});
  EXPECT_EQ(outcomes(port), "plain plain");
  EXPECT_EQ(tlsAccepted(port), "False/TargetNotFound");
  EXPECT_EQ(tlsMessage(port),
            "spec.targetRefs[0]: Service default/s: it has no port with the name other; nothing is changed");
}

TEST(BackendTlsPolicyStatus, IsNotWrittenForAServiceThatNoGatewayLeadsTo) {
  const World world({kClass, kGateway, kBackend, test::kRoute, kSecureService, tlsPolicyOf(kOfSystem)});
  EXPECT_EQ(world.status("BackendTLSPolicy", "p"), nullptr);
}

TEST(BackendTlsPolicyStatus, CountsMirrorsAndOtherNamespaces) {
  const std::string mirrored = routeWithRules(
      "rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: s, port: 80}}}], backendRefs: "
      "[{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]");
  const World world({kClass, kGateway, kBackend, mirrored, kSecureService, tlsPolicyOf(kOfSystem)});
  EXPECT_EQ(tlsAccepted(world), "True/Accepted");
  const World elsewhere({kClass, kGateway, kBackend, mirrored, kSecureService,
                         with(tlsPolicyOf(kOfSystem), "name: p", "name: p, namespace: theirs")});
  EXPECT_EQ(elsewhere.status("BackendTLSPolicy", "p"), nullptr) << "a policy concerns its own namespace";
}

TEST(BackendTlsPolicyStatus, NamesAtMostSixteenAncestors) {
  std::string gateways;
  std::string parents;
  for (int i = 0; i < 20; ++i) {
    gateways += "---\n" + with(with(kGateway, "name: egress", "name: g" + std::to_string(i)), "port: 80}",
                               "port: " + std::to_string(8000 + i) + "}");
    parents += ", {name: g" + std::to_string(i) + "}";
  }
  const World world({kClass, kGateway, gateways, kSecureService,
                     with(routeToPorts(), "{name: egress}", "{name: egress}" + parents), tlsPolicyOf(kOfSystem)});
  ASSERT_NE(world.status("BackendTLSPolicy", "p"), nullptr);
  EXPECT_EQ(world.status("BackendTLSPolicy", "p")->parents.size(), 16U);
}

}  // namespace
}  // namespace sluice::compile
