// Tests the TLS that BackendTLSPolicies give to Backends in all spellings, with and without TLS settings of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSystemValidation = "hostname: policy.test, wellKnownCACertificates: System";
constexpr const char* kMapValidation =
    "hostname: policy.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]";

/// A spelling of Backend. `more` is inserted among the fields for its protocol and TLS.
struct BackendSpelling {
  const char* apiVersion;
  const char* kind;
  const char* spec;  // ends with a comma

  std::string group() const { return std::string(apiVersion).substr(0, std::string(apiVersion).find('/')); }
  std::string object(const std::string& more = {}) const {
    return "apiVersion: " + std::string(apiVersion) + "\nkind: " + kind + "\nmetadata: {name: b}\nspec: {" + spec +
           (more.empty() ? "" : " " + more) + "}\n";
  }
  std::string target(const std::string& section = {}) const {
    return "{group: " + group() + ", kind: " + kind + ", name: b" +
           (section.empty() ? "" : ", sectionName: '" + section + "'") + "}";
  }
  std::string ref() const { return "{group: " + group() + ", kind: " + kind + ", name: b}"; }
};

constexpr BackendSpelling kOfEnvoy = {"gateway.envoyproxy.io/v1alpha1", "Backend",
                                      "endpoints: [{fqdn: {hostname: b.test, port: 443}}],"};
constexpr BackendSpelling kOwnBackend = {"sluice.dev/v1alpha1", "Backend",
                                         "destination: {type: Fqdn, fqdn: {hostname: b.test, port: 443}},"};
constexpr BackendSpelling kBackendSpellings[] = {
    kOfEnvoy,
    kOwnBackend,
    {"gateway.networking.k8s.io/v1alpha1", "Backend",
     "destination: {type: FQDN, fqdn: {hostname: b.test, port: 443}},"},
    {"gateway.networking.x-k8s.io/v1alpha1", "XBackend",
     "type: ExternalHostname, externalHostname: {hostname: b.test}, port: {port: 443},"},
    {"ainetworking.prototype.x-k8s.io/v0alpha0", "Backend",
     "destination: {type: Fqdn, fqdn: {hostname: b.test}, ports: [{number: 443, protocol: HTTP}]},"},
    {"ainetworking.prototype.x-k8s.io/v0alpha0", "XBackendDestination",
     "destination: {type: Fqdn, fqdn: {hostname: b.test}, ports: [{number: 443, protocol: HTTP}]},"}};

std::string policyOn(const std::string& target, const std::string& validation = kSystemValidation,
                     const std::string& more = {}, const std::string& name = "p") {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: " + name +
         ", generation: 7}\nspec: {targetRefs: [" + target + "], validation: {" + validation + "}" + more + "}\n";
}
World backendWorld(const std::string& backend, const std::vector<std::string>& more,
                   const std::string& ref = kOfEnvoy.ref()) {
  const std::string route = routeWithRules("rules: [{backendRefs: [" + ref + "]}]");
  std::vector<std::string_view> all = {kClass, kGateway, backend, route};
  all.insert(all.end(), more.begin(), more.end());
  return World(all);
}
std::vector<const routing::BackendPlan*> plansIn(const World& world) {
  std::vector<const routing::BackendPlan*> plans;
  const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", "/"));
  if (rule == nullptr) return plans;
  for (const routing::WeightedBackend& each : rule->backends) plans.push_back(each.backend.get());
  return plans;
}
/// Returns the TLS of the only plan; nullptr if the plan has no TLS, or if requests answer 500.
const routing::UpstreamTls* tlsIn(const World& world) {
  const auto plans = plansIn(world);
  return plans.size() == 1 && plans[0] != nullptr && plans[0]->tls ? &*plans[0]->tls : nullptr;
}
std::string acceptedIn(const World& world, const std::string& name = "p") {
  return world.condition("BackendTLSPolicy", name, "Accepted");
}
std::string authorityOfPolicies() { return test::configMap("ca", "ca.crt", test::authority().certificate); }

TEST(BackendTlsPolicyOfBackends, GivesEverySpellingTls) {
  for (const BackendSpelling& each : kBackendSpellings) {
    SCOPED_TRACE(each.group() + " " + each.kind);
    const World plain = backendWorld(each.object(), {}, each.ref());
    EXPECT_EQ(plain.outcome(), "default/b");
    EXPECT_EQ(tlsIn(plain), nullptr);
    const World world = backendWorld(
        each.object(),
        {authorityOfPolicies(), policyOn(each.target(), std::string(kMapValidation) +
                                                            ", subjectAltNames: [{type: URI, uri: 'spiffe://a/b'}]")},
        each.ref());
    EXPECT_EQ(world.outcome(), "default/b");
    const routing::UpstreamTls* tls = tlsIn(world);
    ASSERT_NE(tls, nullptr);
    EXPECT_EQ(tls->serverName, "policy.test");
    EXPECT_THAT(tls->subjectAltNames, ElementsAre("spiffe://a/b"));
    EXPECT_NE(tls->trust, nullptr);
    EXPECT_FALSE(tls->insecureSkipVerify);
    EXPECT_EQ(plansIn(world)[0]->authority, "b.test") << "443 is the port of https";
    EXPECT_NE(plansIn(world)[0]->http11, nullptr);
    EXPECT_NE(plansIn(world)[0]->identity, plansIn(plain)[0]->identity);
    EXPECT_EQ(acceptedIn(world), "True/Accepted");
    EXPECT_EQ(world.condition("BackendTLSPolicy", "p", "ResolvedRefs"), "True/ResolvedRefs");
    EXPECT_EQ(world.condition(each.kind, "b", "Accepted"), "True/Accepted");
  }
}

TEST(BackendTlsPolicyOfBackends, MeansXBackendDestinationByTheOtherNameToo) {
  const BackendSpelling& destination = kBackendSpellings[5];
  const std::string other = with(destination.target(), "XBackendDestination", "Backend");
  const World world =
      backendWorld(destination.object(), {policyOn(other)}, with(destination.ref(), "XBackendDestination", "Backend"));
  EXPECT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(acceptedIn(world), "True/Accepted");
}

TEST(BackendTlsPolicyOfBackends, DecidesWhomTheGatewayBelieves) {
  const World world =
      backendWorld(kOwnBackend.object("tls: {mode: Simple, sni: own.test, subjectAltNames: [other.test], options: "
                                      "{sluice.dev/min-tls-version: '1.3'}}"),
                   {authorityOfPolicies(), policyOn(kOwnBackend.target(), kMapValidation)}, kOwnBackend.ref());
  const routing::UpstreamTls* tls = tlsIn(world);
  ASSERT_NE(tls, nullptr);
  EXPECT_EQ(tls->serverName, "policy.test");
  EXPECT_THAT(tls->subjectAltNames, IsEmpty());
  EXPECT_EQ(tls->minVersion, "1.3") << "only the Backend says something about it";
  EXPECT_EQ(world.systemTrustLoads(), 0) << "the policy names authorities";
}

TEST(BackendTlsPolicyOfBackends, LeavesTheClientCertificateToTheBackend) {
  const std::string own = "tls: {sni: own.test, clientCertificateRef: {name: client}}";
  const World without = backendWorld(kOfEnvoy.object(own), {policyOn(kOfEnvoy.target())});
  EXPECT_EQ(without.outcome(), "500") << "its Secret is not there";
  EXPECT_EQ(without.condition("Backend", "b", "ResolvedRefs"), "False/InvalidClientCertificateRef");
  const World world =
      backendWorld(kOfEnvoy.object(own), {policyOn(kOfEnvoy.target()), test::keyPair("client", test::authority())});
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_NE(tlsIn(world)->clientCertificate, nullptr);
  EXPECT_EQ(tlsIn(world)->serverName, "policy.test");
}

TEST(BackendTlsPolicyOfBackends, CountsWithItsOptionsBeforeThoseOfTheBackend) {
  const World world = backendWorld(
      kOwnBackend.object("tls: {mode: Simple, options: {sluice.dev/min-tls-version: '1.2', sluice.dev/cipher-suites: "
                         "TLS_AES_128_GCM_SHA256}}"),
      {policyOn(kOwnBackend.target(), kSystemValidation, ", options: {sluice.dev/min-tls-version: '1.3'}")},
      kOwnBackend.ref());
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(tlsIn(world)->minVersion, "1.3");
  EXPECT_EQ(tlsIn(world)->cipherSuites, "TLS_AES_128_GCM_SHA256");
}

TEST(BackendTlsPolicyOfBackends, ClosesABackendThatContradictsIt) {
  for (const auto& [backend, what] :
       {std::pair(kOfEnvoy, std::pair("tls: {insecureSkipVerify: true}", "spec.tls.insecureSkipVerify: true")),
        std::pair(kOwnBackend, std::pair("tls: {mode: None}", "spec.tls.mode: None"))}) {
    const World world = backendWorld(backend.object(what.first), {policyOn(backend.target())}, backend.ref());
    EXPECT_EQ(world.outcome(), "500") << what.first;
    EXPECT_EQ(world.condition("Backend", "b", "Accepted"), "False/Invalid");
    EXPECT_EQ(world.message("Backend", "b", "Accepted"),
              std::string(what.second) +
                  " contradicts BackendTLSPolicy default/p, which is for this Backend; requests to it answer 500");
    EXPECT_EQ(acceptedIn(world), "False/Invalid");
    EXPECT_EQ(world.message("BackendTLSPolicy", "p", "Accepted"),
              "spec.targetRefs[0]: Backend default/b contradicts it by " + std::string(what.second) +
                  "; requests to it answer 500");
  }
}

TEST(BackendTlsPolicyOfBackends, NamesAContradictionAtTheTargetThatMeansThePort) {
  const BackendSpelling several = {
      "sluice.dev/v1alpha1", "Backend",
      "destination: {type: Endpoints, endpoints: [{fqdn: {hostname: b.test, port: 443}}, {fqdn: {hostname: c.test, "
      "port: 8443}, tls: {mode: Simple, insecureSkipVerify: true}}]},"};
  const World world =
      backendWorld(several.object(), {policyOn(several.target("443") + ", " + several.target("8443"))}, several.ref());
  const auto plans = plansIn(world);
  ASSERT_EQ(plans.size(), 2U);
  ASSERT_NE(plans[0], nullptr);
  EXPECT_TRUE(plans[0]->tls);
  EXPECT_EQ(plans[1], nullptr) << "its requests answer 500";
  EXPECT_EQ(world.message("BackendTLSPolicy", "p", "Accepted"),
            "spec.targetRefs[1]: Backend default/b contradicts it by "
            "spec.destination.endpoints[1].tls.insecureSkipVerify: true; requests to it answer 500");
}

TEST(BackendTlsPolicyOfBackends, IsNeverReplacedByPlainText) {
  for (const std::string& map : {std::string(), test::configMap("ca", "ca.crt", "no certificate")}) {
    const World world = backendWorld(kOfEnvoy.object(), {map, policyOn(kOfEnvoy.target(), kMapValidation)});
    EXPECT_EQ(world.outcome(), "500") << map;
    EXPECT_EQ(acceptedIn(world), "False/NoValidCACertificate") << map;
    EXPECT_EQ(world.condition("BackendTLSPolicy", "p", "ResolvedRefs"), "False/InvalidCACertificateRef") << map;
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/InvalidCACertificateRef") << map;
    EXPECT_THAT(world.message("Backend", "b", "Degraded"), HasSubstr("BackendTLSPolicy default/p: "));
  }
  const World refused = backendWorld(kOfEnvoy.object(), {policyOn(kOfEnvoy.target(), "hostname: policy.test")});
  EXPECT_EQ(refused.outcome(), "500");
  EXPECT_EQ(acceptedIn(refused), "False/Invalid");
}

TEST(BackendTlsPolicyOfBackends, ConcernsTheEndpointsWithThePortThatItNames) {
  const std::string two = with(kOfEnvoy.object(), "port: 443}}]", "port: 443}}, {fqdn: {hostname: c.test, port: 80}}]");
  const World world = backendWorld(two, {policyOn(kOfEnvoy.target("443"))});
  const auto plans = plansIn(world);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_TRUE(plans[0]->tls);
  EXPECT_FALSE(plans[1]->tls);
  EXPECT_EQ(acceptedIn(world), "True/Accepted");
  const World absent = backendWorld(two, {policyOn(kOfEnvoy.target("8443"))});
  EXPECT_EQ(acceptedIn(absent), "False/TargetNotFound");
  EXPECT_EQ(absent.message("BackendTLSPolicy", "p", "Accepted"),
            "spec.targetRefs[0]: Backend default/b: it has no port with the name 8443; nothing is changed");
}

TEST(BackendTlsPolicyOfBackends, ConcernsThePortOfAnXBackendByItsNameAndByItsNumber) {
  const BackendSpelling& x = kBackendSpellings[3];
  const std::string named = with(x.object(), "port: {port: 443}", "port: {name: api, port: 443}");
  EXPECT_NE(tlsIn(backendWorld(named, {policyOn(x.target("api"))}, x.ref())), nullptr);
  EXPECT_NE(tlsIn(backendWorld(named, {policyOn(x.target("443"))}, x.ref())), nullptr);
  const World absent = backendWorld(named, {policyOn(x.target("admin"))}, x.ref());
  EXPECT_EQ(tlsIn(absent), nullptr);
  EXPECT_EQ(acceptedIn(absent), "False/TargetNotFound");
  const World both =
      backendWorld(named, {policyOn(x.target("443")), policyOn(x.target("api"), kSystemValidation, {}, "z")}, x.ref());
  EXPECT_EQ(acceptedIn(both), "True/Accepted");
  EXPECT_EQ(acceptedIn(both, "z"), "False/Conflicted");
}

TEST(BackendTlsPolicyOfBackends, CountsForAPortBeforeOneForTheBackendAndIfItIsTheOldest) {
  const auto named = [](const std::string& name, const std::string& section, const std::string& hostname) {
    return policyOn(kOfEnvoy.target(section), "hostname: " + hostname + ", wellKnownCACertificates: System", {}, name);
  };
  const World world = backendWorld(
      kOfEnvoy.object(), {named("a", "", "all.test"), named("p", "443", "port.test"), named("z", "443", "late.test")});
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(tlsIn(world)->serverName, "port.test");
  EXPECT_EQ(acceptedIn(world, "a"), "True/Accepted");
  EXPECT_EQ(acceptedIn(world), "True/Accepted");
  EXPECT_EQ(acceptedIn(world, "z"), "False/Conflicted");
  EXPECT_EQ(world.message("BackendTLSPolicy", "z", "Accepted"),
            "spec.targetRefs[0]: BackendTLSPolicy default/p is for the same and comes first; nothing is changed");
}

TEST(BackendTlsPolicyOfBackends, DoesNotMeanAnotherKindOfTheSameName) {
  const World world = backendWorld(kOfEnvoy.object(), {kOwnBackend.object(), policyOn(kOwnBackend.target())});
  EXPECT_EQ(world.outcome(), "default/b");
  EXPECT_EQ(tlsIn(world), nullptr);
  EXPECT_EQ(world.status("BackendTLSPolicy", "p"), nullptr) << "no Gateway leads to that Backend";
}

TEST(BackendTlsPolicyOfBackends, HasTheGatewaysThatLeadToTheBackendAsItsAncestors) {
  const std::string second = with(with(kGateway, "name: egress", "name: another"), "port: 80}", "port: 8080}");
  const std::string unused = with(with(kGateway, "name: egress", "name: unused"), "port: 80}", "port: 8081}");
  const std::string route = with(routeWithRules("rules: [{backendRefs: [" + kOfEnvoy.ref() + "]}]"), "{name: egress}",
                                 "{name: egress}, {name: another}");
  const World world({kClass, kGateway, second, unused, kOfEnvoy.object(), route, policyOn(kOfEnvoy.target())});
  const config::ObjectStatus* status = world.status("BackendTLSPolicy", "p");
  ASSERT_NE(status, nullptr);
  ASSERT_EQ(status->parents.size(), 2U);
  EXPECT_EQ(status->parents[0].parentRef.object.name, "another");
  EXPECT_EQ(status->parents[1].parentRef.object.name, "egress");
  EXPECT_TRUE(config::isHealthy(*status));
}

TEST(BackendTlsPolicyOfBackends, ReportsABackendThatIsNotThere) {
  const World world = backendWorld("", {policyOn(kOfEnvoy.target())});
  EXPECT_EQ(acceptedIn(world), "False/TargetNotFound");
}

TEST(BackendTlsPolicyOfBackends, ServesAServiceBesideABackend) {
  const World world =
      backendWorld(kOfEnvoy.object(),
                   {"apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{name: web, port: 80}]}\n",
                    policyOn("{group: '', kind: Service, name: s}, " + kOfEnvoy.target())});
  EXPECT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(acceptedIn(world), "True/Accepted");
}

TEST(BackendTlsPolicyOfBackends, LeavesTheNamesThatItListsAndThePinsOfTheBackend) {
  const std::string pin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
  const World world = backendWorld(
      kOwnBackend.object("tls: {mode: Simple, options: {sluice.dev/spki-pins: '" + pin + "'}}"),
      {policyOn(kOwnBackend.target(),
                std::string(kSystemValidation) +
                    ", subjectAltNames: [{type: Hostname, hostname: a.test}, {type: URI, uri: 'spiffe://a/b'}]")},
      kOwnBackend.ref());
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_THAT(tlsIn(world)->subjectAltNames, ElementsAre("a.test", "spiffe://a/b"));
  EXPECT_THAT(tlsIn(world)->spkiPins, ElementsAre(pin));
}

TEST(BackendTlsPolicyOfBackends, DoesNotPassOverABrokenReferenceOfTheBackend) {
  const World world =
      backendWorld(kOfEnvoy.object("tls: {caCertificateRefs: [{group: '', kind: ConfigMap, name: none}]}"),
                   {policyOn(kOfEnvoy.target())});
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("Backend", "b", "ResolvedRefs"), "False/InvalidCACertificateRef");
}

TEST(BackendTlsPolicyOfBackends, ClosesOnlyThePortThatItNamesIfItCannotBeObeyed) {
  const std::string two = with(kOfEnvoy.object(), "port: 443}}]", "port: 443}}, {fqdn: {hostname: c.test, port: 80}}]");
  const World world = backendWorld(two, {policyOn(kOfEnvoy.target("443"), kMapValidation)});
  const auto plans = plansIn(world);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0], nullptr) << "its requests answer 500";
  ASSERT_NE(plans[1], nullptr);
  EXPECT_EQ(plans[1]->port, 80);
  EXPECT_FALSE(plans[1]->tls);
}

TEST(BackendTlsPolicyOfBackends, CountsIfItIsTheOldestEvenIfItIsNotValid) {
  const auto since = [](const std::string& name, const std::string& time, const std::string& validation) {
    return with(policyOn(kOfEnvoy.target(), validation, {}, name), "generation: 7",
                "generation: 7, creationTimestamp: '" + time + "'");
  };
  const std::string young = since("a", "2026-01-02T00:00:00Z", "hostname: young.test, wellKnownCACertificates: System");
  const World world =
      backendWorld(kOfEnvoy.object(),
                   {young, since("p", "2026-01-01T00:00:00Z", "hostname: old.test, wellKnownCACertificates: System")});
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(tlsIn(world)->serverName, "old.test");
  EXPECT_EQ(acceptedIn(world, "a"), "False/Conflicted");
  EXPECT_EQ(acceptedIn(world), "True/Accepted");
  for (const char* broken : {kMapValidation, "hostname: old.test"}) {
    const World closed = backendWorld(kOfEnvoy.object(), {young, since("p", "2026-01-01T00:00:00Z", broken)});
    EXPECT_EQ(closed.outcome(), "500") << broken;
    EXPECT_EQ(acceptedIn(closed, "a"), "False/Conflicted") << broken;
  }
}

TEST(BackendTlsPolicyOfBackends, ServesOnInItsPreviousVersion) {
  const World good = backendWorld(kOfEnvoy.object(), {policyOn(kOfEnvoy.target())});
  const std::string route = routeWithRules("rules: [{backendRefs: [" + kOfEnvoy.ref() + "]}]");
  const std::string object = kOfEnvoy.object();
  const std::string refused = policyOn(kOfEnvoy.target(), "hostname: other.test");
  const World world({kClass, kGateway, object, route, refused}, &good);
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(tlsIn(world)->serverName, "policy.test");
  EXPECT_THAT(world.message("BackendTLSPolicy", "p", "Accepted"), HasSubstr("its previous valid version serves on"));
}

TEST(BackendTlsPolicyOfBackends, GivesConnectionsOfTheirOwnToOtherAuthorities) {
  const auto identity = [](const std::string& certificate) {
    const World world = backendWorld(
        kOfEnvoy.object(), {test::configMap("ca", "ca.crt", certificate), policyOn(kOfEnvoy.target(), kMapValidation)});
    return plansIn(world).at(0)->identity;
  };
  const std::string before = test::authority().certificate;
  EXPECT_EQ(identity(before), identity(before));
  EXPECT_NE(identity(before), identity(sluice::test::makeAuthority().certificate));
}

TEST(BackendTlsPolicyOfBackends, HasTheGatewayOfAMirrorAsItsAncestor) {
  const std::string mirror =
      routeWithRules("rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: " + kOfEnvoy.ref() +
                     "}}], backendRefs: [" + kOwnBackend.ref() + "]}]");
  const std::string mirrored = kOfEnvoy.object();
  const std::string main = kOwnBackend.object();
  const std::string policy = policyOn(kOfEnvoy.target());
  EXPECT_EQ(acceptedIn(World({kClass, kGateway, mirrored, main, mirror, policy})), "True/Accepted");
}

constexpr std::string_view kServiceOfBackend = R"(
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{name: web, port: 443}]}
)";
constexpr BackendSpelling kLeadingToService = {
    "sluice.dev/v1alpha1", "Backend",
    "destination: {type: KubernetesService, service: {name: s}, ports: [{number: 443, protocol: HTTP}]},"};
constexpr const char* kServiceTarget = "{group: '', kind: Service, name: s}";

TEST(BackendTlsPolicyOfBackends, CountsBeforeOneForTheServiceThatTheBackendLeadsTo) {
  const std::string ofService =
      policyOn(kServiceTarget, "hostname: service.test, wellKnownCACertificates: System", {}, "of-service");
  const auto worldWith = [&](const std::string& ofServiceText, const std::string& ofBackend) {
    return backendWorld(kLeadingToService.object(), {std::string(kServiceOfBackend), ofServiceText, ofBackend},
                        kLeadingToService.ref());
  };
  const World without = worldWith(ofService, "");
  ASSERT_NE(tlsIn(without), nullptr);
  EXPECT_EQ(tlsIn(without)->serverName, "service.test");
  EXPECT_EQ(acceptedIn(without, "of-service"), "True/Accepted")
      << "the Gateway leads to the Service through the Backend";
  const World world = worldWith(ofService, policyOn(kLeadingToService.target("443")));
  ASSERT_NE(tlsIn(world), nullptr);
  EXPECT_EQ(tlsIn(world)->serverName, "policy.test");
  EXPECT_EQ(acceptedIn(world), "True/Accepted");
  EXPECT_EQ(acceptedIn(world, "of-service"), "True/Accepted");
  const World closed = worldWith(ofService, policyOn(kLeadingToService.target(), kMapValidation));
  EXPECT_EQ(closed.outcome(), "500") << "the TLS of the Service does not stand in for the policy's";
}

TEST(BackendTlsPolicyOfBackends, DoesNotServeAServiceWhoseOwnPolicyCannotBeObeyed) {
  const World world =
      backendWorld(kLeadingToService.object(),
                   {std::string(kServiceOfBackend), policyOn(kServiceTarget, kMapValidation, {}, "of-service"),
                    policyOn(kLeadingToService.target())},
                   kLeadingToService.ref());
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(acceptedIn(world, "of-service"), "False/NoValidCACertificate");
}

}  // namespace
}  // namespace sluice::compile
