// Tests how listeners verify their clients as spec.tls.frontend demands, and what conditions say about that.
#include "proxy/compile/gateways/listener_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "test/compile/gateways/tenant_objects.h"
#include "test/compile/gateways/verified_gateway.h"

namespace sluice::compile {
namespace {

using test::authoritiesNamed;
using test::authorityRef;
using test::clientsAt;
using test::httpsListener;
using test::servedListener;
using test::validationBy;
using test::verifyingGateway;
using test::verifyingWorld;
using test::with;
using test::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kWeb = httpsListener("web", 443);

/// Returns the Gateway with one HTTPS listener, whose clients are verified by the authorities of these references.
std::string gatewayBy(const std::string& refs, const std::string& more = "") {
  return verifyingGateway("{default: {" + validationBy(refs, more) + "}}", kWeb);
}
std::string acceptedOf(const World& world) { return world.listenerCondition("egress", "web", "Accepted"); }
std::string resolvedOf(const World& world) { return world.listenerCondition("egress", "web", "ResolvedRefs"); }
std::string resolvedMessage(const World& world) {
  return config::findCondition(world.listenerStatus("egress", "web")->conditions, "ResolvedRefs")->message;
}

TEST(ListenerClients, AreVerifiedByTheAuthoritiesOfTheGateway) {
  for (const std::string& ref : {authorityRef("ca"), std::string("{group: '', kind: Secret, name: secret-ca}")}) {
    const World world = verifyingWorld(
        gatewayBy(ref),
        {authoritiesNamed("ca"), test::secret("secret-ca", {{"ca.crt", test::authority().certificate}})});
    const auto clients = clientsAt(world, 443);
    ASSERT_NE(clients, nullptr) << ref;
    EXPECT_NE(clients->rules->trust, nullptr);
    EXPECT_TRUE(clients->required);
    EXPECT_FALSE(clients->insecureFallback);
    EXPECT_FALSE(clients->namesCallers) << "nobody has asked for identities";
    EXPECT_EQ(servedListener(world, 443)->clients, clients) << "requests see the same";
    EXPECT_EQ(acceptedOf(world), "True/Accepted");
    EXPECT_EQ(resolvedOf(world), "True/ResolvedRefs");
    EXPECT_EQ(world.outcome("a.test", "/", 443), "default/origin");
  }
}

TEST(ListenerClients, AreNotAskedIfTheGatewaySaysNothing) {
  for (const std::string& gateway :
       {test::gatewayWith(kWeb), verifyingGateway("{default: {}}", kWeb),
        verifyingGateway("{default: {}, perPort: [{port: 8443, tls: {" + validationBy(authorityRef("ca")) + "}}]}",
                         kWeb)}) {
    const World world = verifyingWorld(gateway, {authoritiesNamed("ca")});
    EXPECT_EQ(clientsAt(world, 443), nullptr) << gateway;
    EXPECT_EQ(servedListener(world, 443)->clients, nullptr);
    EXPECT_EQ(world.outcome("a.test", "/", 443), "default/origin");
  }
}

TEST(ListenerClients, AreThoseOfListenersWithTls) {
  const std::string listeners = kWeb +
                                ", {name: proxy, protocol: sluice.dev/HTTPSPROXY, port: 8443, tls: {certificateRefs: "
                                "[{name: pair}]}}, {name: plain, protocol: HTTP, port: 80}, {name: plain-proxy, "
                                "protocol: sluice.dev/HTTPPROXY, port: 81}";
  const World world = verifyingWorld(
      verifyingGateway("{default: {" + validationBy(authorityRef("ca")) + "}}", listeners), {authoritiesNamed("ca")});
  EXPECT_NE(clientsAt(world, 443), nullptr);
  EXPECT_EQ(clientsAt(world, 8443), clientsAt(world, 443)) << "equal contents are one object";
  EXPECT_EQ(servedListener(world, 80)->clients, nullptr);
  EXPECT_EQ(servedListener(world, 81)->clients, nullptr);
  const World broken =
      verifyingWorld(verifyingGateway("{default: {" + validationBy(authorityRef("absent")) + "}}", listeners), {});
  EXPECT_EQ(broken.outcome("a.test", "/", 443), "refused");
  EXPECT_EQ(broken.bind(8443), nullptr);
  EXPECT_EQ(broken.outcome("a.test", "/", 80), "default/origin") << "it is not concerned";
  EXPECT_EQ(broken.listenerCondition("egress", "plain", "ResolvedRefs"), "True/ResolvedRefs");
}

TEST(ListenerClients, AreVerifiedByTheirPortInsteadOfTheDefault) {
  const sluice::test::CertifiedKey other = sluice::test::makeAuthority("Other");
  const World world = verifyingWorld(
      verifyingGateway("{default: {" + validationBy(authorityRef("ca")) + "}, perPort: [{port: 8443, tls: {" +
                           validationBy(authorityRef("other")) + "}}, {port: 9443, tls: {}}]}",
                       kWeb + ", " + httpsListener("second", 8443) + ", " + httpsListener("third", 9443)),
      {authoritiesNamed("ca"), test::configMap("other", "ca.crt", other.certificate)});
  ASSERT_NE(clientsAt(world, 443), nullptr);
  ASSERT_NE(clientsAt(world, 8443), nullptr);
  EXPECT_NE(clientsAt(world, 443)->rules->trust->fingerprint(), clientsAt(world, 8443)->rules->trust->fingerprint());
  EXPECT_EQ(clientsAt(world, 9443), nullptr) << "an entry without a validation demands nothing";
  EXPECT_EQ(world.outcome("a.test", "/", 9443), "default/origin");
}

TEST(ListenerClients, AreTheSameForAllHostsOfAPort) {
  const World world = verifyingWorld(
      verifyingGateway("{default: {" + validationBy(authorityRef("ca")) + "}}",
                       httpsListener("web", 443, ", hostname: a.test") + ", " +
                           httpsListener("other", 443, ", hostname: b.test") +
                           ", {name: proxy, protocol: sluice.dev/HTTPSPROXY, port: 8443, hostname: c.test, tls: "
                           "{certificateRefs: [{name: pair}]}}"),
      {authoritiesNamed("ca")});
  const auto clients = clientsAt(world, 443);
  ASSERT_NE(clients, nullptr);
  EXPECT_EQ(servedListener(world, 443, "a.test")->clients, clients);
  EXPECT_EQ(servedListener(world, 443, "b.test")->clients, clients);
  ASSERT_NE(servedListener(world, 8443, "far.test"), nullptr);
  EXPECT_EQ(servedListener(world, 8443, "far.test")->clients, clients) << "no listener has the host";
}

TEST(ListenerClients, AreVerifiedBySeveralAuthoritiesTogether) {
  const sluice::test::CertifiedKey other = sluice::test::makeAuthority("Other");
  const std::string second = test::configMap("other", "ca.crt", other.certificate);
  const World both =
      verifyingWorld(gatewayBy(authorityRef("ca") + ", " + authorityRef("other")), {authoritiesNamed("ca"), second});
  const World one = verifyingWorld(gatewayBy(authorityRef("ca")), {authoritiesNamed("ca"), second});
  EXPECT_EQ(resolvedOf(both), "True/ResolvedRefs");
  EXPECT_NE(clientsAt(both, 443)->rules->trust->fingerprint(), clientsAt(one, 443)->rules->trust->fingerprint());
}

TEST(ListenerClients, AreVerifiedWithRevocationLists) {
  const std::string list = sluice::test::revocationList(test::authority(), {test::server()});
  const World world =
      verifyingWorld(gatewayBy(authorityRef("ca")), {authoritiesNamed("ca") + "  crl.pem: " + test::block(list)});
  ASSERT_NE(clientsAt(world, 443), nullptr);
  EXPECT_NE(clientsAt(world, 443)->rules->trust->listsExpire(), base::WallTime::max());
  for (const char* wrong : {"''", "nonsense"}) {
    const World broken =
        verifyingWorld(gatewayBy(authorityRef("ca")), {authoritiesNamed("ca") + "  crl.pem: " + wrong + "\n"});
    EXPECT_EQ(acceptedOf(broken), "False/NoValidCACertificate") << wrong << ": it is never ignored";
    EXPECT_EQ(broken.bind(443), nullptr);
  }
}

struct BrokenReference {
  std::string ref;
  const char* resolvedRefs;
  const char* message;
};

TEST(ListenerClients, AreNotServedWithoutAnyAuthority) {
  const BrokenReference broken[] = {
      {authorityRef("absent"), "False/InvalidCACertificateRef", "ConfigMap default/absent: it does not exist"},
      {authorityRef("empty"), "False/InvalidCACertificateRef", "ConfigMap default/empty: it has no ca.crt"},
      {authorityRef("wrong"), "False/InvalidCACertificateRef", "ConfigMap default/wrong: ca.crt: "},
      {"{group: '', kind: Service, name: ca}", "False/InvalidCACertificateKind", "only ConfigMaps and Secrets"},
      {"{group: a.test, kind: ConfigMap, name: ca}", "False/InvalidCACertificateKind", "only ConfigMaps and Secrets"},
      {authorityRef("ca", ", namespace: vault"), "False/RefNotPermitted", "no ReferenceGrant in namespace vault"}};
  for (const BrokenReference& each : broken) {
    const World world =
        verifyingWorld(gatewayBy(each.ref),
                       {authoritiesNamed("ca"), test::configMap("empty", "other", "x"),
                        test::configMap("wrong", "ca.crt", "x"), test::inNamespace("vault", authoritiesNamed("ca"))});
    EXPECT_EQ(resolvedOf(world), each.resolvedRefs) << each.ref;
    EXPECT_THAT(resolvedMessage(world),
                AllOf(HasSubstr(each.message), HasSubstr("spec.tls.frontend.default.validation.caCertificateRefs[0]")));
    EXPECT_EQ(acceptedOf(world), "False/NoValidCACertificate") << each.ref;
    EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/Invalid") << each.ref;
    EXPECT_EQ(world.condition("Gateway", "egress", "ResolvedRefs"), "False/ListenersNotResolved") << each.ref;
    EXPECT_EQ(world.bind(443), nullptr) << each.ref << ": it must not be open";
  }
}

TEST(ListenerClients, AreServedWithTheAuthoritiesThatCanBeUsed) {
  const World world = verifyingWorld(
      gatewayBy(authorityRef("absent") + ", " + authorityRef("ca") + ", {group: '', kind: Service, name: ca}"),
      {authoritiesNamed("ca")});
  EXPECT_EQ(resolvedOf(world), "False/InvalidCACertificateRef");
  EXPECT_THAT(resolvedMessage(world), AllOf(HasSubstr("ConfigMap default/absent"), HasSubstr("Service default/ca"),
                                            Not(HasSubstr("ConfigMap default/ca:"))));
  EXPECT_EQ(acceptedOf(world), "True/Accepted");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  const World good = verifyingWorld(gatewayBy(authorityRef("ca")), {authoritiesNamed("ca")});
  ASSERT_NE(clientsAt(world, 443), nullptr);
  EXPECT_EQ(clientsAt(world, 443)->rules->trust->fingerprint(), clientsAt(good, 443)->rules->trust->fingerprint());
}

TEST(ListenerClients, ReportABrokenCertificateBesideBrokenAuthorities) {
  const std::string gateway = with(gatewayBy(authorityRef("absent")), "{name: pair}", "{name: lost}");
  const World world = verifyingWorld(gateway, {});
  EXPECT_EQ(resolvedOf(world), "False/InvalidCertificateRef");
  EXPECT_THAT(resolvedMessage(world), AllOf(HasSubstr("Secret default/lost"), HasSubstr("ConfigMap default/absent")));
  EXPECT_EQ(acceptedOf(world), "False/NoValidCACertificate");
  EXPECT_EQ(world.bind(443), nullptr);
}

TEST(ListenerClients, NeedAGrantForAuthoritiesOfAnotherNamespace) {
  const std::string ref = authorityRef("ca", ", namespace: vault");
  const std::string authorities = test::inNamespace("vault", authoritiesNamed("ca"));
  const auto grant = [](const std::string& from, const std::string& to) {
    return test::grantIn("vault", "{group: gateway.networking.k8s.io, kind: " + from + ", namespace: default}",
                         "{group: '', kind: " + to + "}");
  };
  const World granted = verifyingWorld(gatewayBy(ref), {authorities, grant("Gateway", "ConfigMap")});
  EXPECT_EQ(resolvedOf(granted), "True/ResolvedRefs");
  EXPECT_NE(clientsAt(granted, 443), nullptr);
  for (const std::string& other : {grant("HTTPRoute", "ConfigMap"), grant("Gateway", "Secret")}) {
    const World refused = verifyingWorld(gatewayBy(ref), {authorities, other});
    EXPECT_EQ(resolvedOf(refused), "False/RefNotPermitted") << other;
    EXPECT_EQ(refused.bind(443), nullptr);
  }
}

TEST(ListenerClients, TellOfTheInsecureModeAsLongAsItIsThere) {
  constexpr std::string_view kMode = "InsecureFrontendValidationMode";
  const World insecure =
      verifyingWorld(gatewayBy(authorityRef("ca"), ", mode: AllowInsecureFallback"), {authoritiesNamed("ca")});
  EXPECT_EQ(insecure.condition("Gateway", "egress", kMode), "True/ConfigurationChanged");
  EXPECT_EQ(insecure.message("Gateway", "egress", kMode),
            "spec.tls.frontend.default.validation.mode: AllowInsecureFallback serves clients without a valid "
            "certificate too");
  ASSERT_NE(clientsAt(insecure, 443), nullptr);
  EXPECT_TRUE(clientsAt(insecure, 443)->insecureFallback);
  EXPECT_EQ(insecure.condition("Gateway", "egress", "Accepted"), "True/Accepted") << "it is no fault";
  const World after =
      verifyingWorld(gatewayBy(authorityRef("ca"), ", mode: AllowValidOnly"), {authoritiesNamed("ca")}, &insecure);
  EXPECT_EQ(after.condition("Gateway", "egress", kMode), "");
  EXPECT_FALSE(clientsAt(after, 443)->insecureFallback);
  const World ofPort =
      verifyingWorld(verifyingGateway("{default: {}, perPort: [{port: 443, tls: {" +
                                          validationBy(authorityRef("ca"), ", mode: AllowInsecureFallback") + "}}]}",
                                      kWeb),
                     {authoritiesNamed("ca")});
  EXPECT_EQ(ofPort.condition("Gateway", "egress", kMode), "True/ConfigurationChanged");
}

TEST(ListenerClients, AreVerifiedByTheSameObjectAfterARecompilation) {
  const std::string gateway = gatewayBy(authorityRef("ca"));
  World world = verifyingWorld(gateway, {authoritiesNamed("ca")});
  const auto before = clientsAt(world, 443);
  world.recompile();
  EXPECT_EQ(clientsAt(world, 443), before);
  world.gateway().frontend->byDefault->insecureFallback = true;
  world.recompile();
  ASSERT_NE(clientsAt(world, 443), nullptr);
  EXPECT_NE(clientsAt(world, 443), before) << "other contents are another object";
  world.gateway().frontend->byDefault->insecureFallback = false;
  world.recompile();
  EXPECT_EQ(clientsAt(world, 443), before) << "as long as something holds it";
}

}  // namespace
}  // namespace sluice::compile
