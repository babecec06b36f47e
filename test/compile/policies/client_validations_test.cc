// Tests ClientTrafficPolicies that verify the certificates of clients: at which listeners they take effect, and what
// they close if they cannot be served.
#include "proxy/compile/policies/client_validations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/gateways/tenant_objects.h"
#include "test/compile/gateways/verified_gateway.h"

namespace sluice::compile {
namespace {

using test::authoritiesNamed;
using test::authorityRef;
using test::clientsAt;
using test::httpsListener;
using test::verifyingWorld;
using test::with;
using test::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kApiGroup = "group: gateway.networking.k8s.io, ";
const std::string kForGateway = kApiGroup + "kind: Gateway, name: egress";
const std::string kForWeb = kForGateway + ", sectionName: web";

/// Returns a policy that verifies clients by the authorities `ca`, or by those of other references.
std::string verifying(const std::string& name, const std::string& target, const std::string& more = "",
                      const std::string& refs = authorityRef("ca"), const std::string& meta = "") {
  return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: " + name + meta +
         "}\nspec: {targetRefs: [{" + target + "}], tls: {clientValidation: {caCertificateRefs: [" + refs + "]" + more +
         "}}}\n";
}

std::string twoListeners() {
  return test::gatewayWith(httpsListener("web", 443) + ", " + httpsListener("second", 8443) +
                           ", {name: plain, protocol: HTTP, port: 80}");
}
World policyWorld(std::vector<std::string> documents, const std::string& gateway = twoListeners()) {
  documents.push_back(authoritiesNamed("ca"));
  return verifyingWorld(gateway, documents);
}
std::string clientsAccepted(const World& world, const std::string& name = "p") {
  return world.condition("ClientTrafficPolicy", name, "Accepted");
}
std::string clientsMessage(const World& world, const std::string& name = "p") {
  return world.message("ClientTrafficPolicy", name, "Accepted");
}

TEST(ClientValidations, AreOfAllListenersOfAGatewayWithTls) {
  const World world = policyWorld({verifying("p", kForGateway)});
  EXPECT_EQ(clientsAccepted(world), "True/Accepted") << clientsMessage(world);
  ASSERT_NE(clientsAt(world, 443), nullptr);
  EXPECT_TRUE(clientsAt(world, 443)->required);
  EXPECT_EQ(clientsAt(world, 8443), clientsAt(world, 443));
  EXPECT_EQ(test::servedListener(world, 443)->clients, clientsAt(world, 443));
  EXPECT_EQ(test::servedListener(world, 80)->clients, nullptr);
  EXPECT_EQ(world.outcome("a.test", "/", 80), "default/origin") << "it has no TLS, and is not concerned";
  EXPECT_EQ(world.outcome("a.test", "/", 443), "default/origin");
}

TEST(ClientValidations, AreOfTheListenerThatAPolicyNames) {
  const World world = policyWorld({verifying("p", kForWeb, ", optional: true")});
  ASSERT_NE(clientsAt(world, 443), nullptr);
  EXPECT_FALSE(clientsAt(world, 443)->required);
  EXPECT_EQ(clientsAt(world, 8443), nullptr);
}

TEST(ClientValidations, OfAListenerTakePrecedenceOverThoseOfItsGateway) {
  const World world = policyWorld({verifying("all", kForGateway), verifying("p", kForWeb, ", optional: true")});
  EXPECT_FALSE(clientsAt(world, 443)->required);
  EXPECT_TRUE(clientsAt(world, 8443)->required);
  EXPECT_EQ(clientsAccepted(world, "all"), "True/Accepted");
  EXPECT_EQ(clientsAccepted(world), "True/Accepted");
}

TEST(ClientValidations, OfTheOldestPolicyTakeEffect) {
  const World world = policyWorld(
      {verifying("a", kForWeb, ", optional: true", authorityRef("ca"), ", creationTimestamp: '2026-01-02T00:00:00Z'"),
       verifying("b", kForWeb, "", authorityRef("ca"), ", creationTimestamp: '2026-01-01T00:00:00Z'")});
  EXPECT_TRUE(clientsAt(world, 443)->required);
  EXPECT_EQ(clientsAccepted(world, "b"), "True/Accepted");
  EXPECT_EQ(clientsAccepted(world, "a"), "False/Conflicted");
  EXPECT_THAT(clientsMessage(world, "a"), HasSubstr("ClientTrafficPolicy default/b is for the same and comes first"));
}

TEST(ClientValidations, HaveTheNamesKeysAndListsOfThePolicy) {
  const std::string list = sluice::test::revocationList(test::authority(), {test::server()});
  const std::string pin = sluice::test::spkiPin(test::server());
  const std::string digest = sluice::test::certificateDigest(test::server());
  const World world = policyWorld(
      {verifying("p", kForWeb,
                 ", crl: {refs: [" + authorityRef("lists") + "]}, spkiHashes: ['" + pin + "'], certificateHashes: ['" +
                     digest + "'], subjectAltNames: {uris: [{type: Exact, value: 'spiffe://a.test/ns/a/sa/b'}]}"),
       test::configMap("lists", "ca.crl", list)});
  const auto clients = clientsAt(world, 443);
  ASSERT_NE(clients, nullptr) << clientsMessage(world);
  EXPECT_THAT(clients->rules->keys, SizeIs(1));
  EXPECT_THAT(clients->rules->certificates, SizeIs(1));
  ASSERT_THAT(clients->rules->names, SizeIs(1));
  EXPECT_EQ(clients->rules->names[0].text, "spiffe://a.test/ns/a/sa/b");
  EXPECT_NE(clients->rules->trust->listsExpire(), base::WallTime::max());
}

TEST(ClientValidations, AreTheSameObjectAfterARecompilation) {
  World world = policyWorld({verifying("p", kForWeb)});
  const auto before = clientsAt(world, 443);
  ASSERT_NE(before, nullptr);
  world.recompile();
  EXPECT_EQ(clientsAt(world, 443), before);
  const World ofGateway =
      policyWorld({verifying("p", kForWeb), verifying("q", kForGateway + ", sectionName: second", ", optional: true")});
  EXPECT_NE(clientsAt(ofGateway, 443), clientsAt(ofGateway, 8443));
}

TEST(ClientValidations, CloseTheListenerIfTheyCannotBeServed) {
  const std::string lists = authorityRef("lists");
  struct {
    std::string refs;
    std::string more;
    const char* message;
  } const broken[] = {
      {authorityRef("absent"), "", "ConfigMap default/absent: it does not exist"},
      {authorityRef("ca") + ", " + authorityRef("absent"), "", "ConfigMap default/absent: it does not exist"},
      {authorityRef("ca", ", namespace: vault"), "", "no ReferenceGrant in namespace vault"},
      {authorityRef("ca"), ", crl: {refs: [" + lists + "]}", "ConfigMap default/lists: it has no ca.crl"},
      {authorityRef("ca"), ", crl: {refs: [" + authorityRef("bad") + "]}", "spec.tls.clientValidation: "}};
  for (const auto& each : broken) {
    const World world = policyWorld({verifying("p", kForWeb, each.more, each.refs),
                                     test::configMap("lists", "other", "x"), test::configMap("bad", "ca.crl", "x")});
    EXPECT_EQ(clientsAccepted(world), "False/Invalid") << each.message;
    EXPECT_THAT(clientsMessage(world), HasSubstr(each.message));
    EXPECT_EQ(world.outcome("a.test", "/", 443), "500") << each.message;
    EXPECT_THAT(world.message("Gateway", "egress", "Degraded"),
                AllOf(HasSubstr("ClientTrafficPolicy default/p: "), HasSubstr(each.message)));
    EXPECT_EQ(world.outcome("a.test", "/", 8443), "default/origin");
  }
}

TEST(ClientValidations, CloseListenersWhoseClientsTheGatewayVerifiesToo) {
  const std::string gateway = with(twoListeners(), "  listeners:",
                                   "  tls: {frontend: {default: {" + test::validationBy(authorityRef("ca")) +
                                       "}, perPort: [{port: 8443, tls: {}}]}}\n  listeners:");
  const World world = policyWorld({verifying("p", kForGateway)}, gateway);
  EXPECT_EQ(clientsAccepted(world), "False/Conflicted");
  EXPECT_THAT(clientsMessage(world),
              HasSubstr("spec.tls.frontend.default.validation of the Gateway says how clients of "
                        "the listener web are verified"));
  EXPECT_EQ(world.outcome("a.test", "/", 443), "500");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/Conflicted");
  EXPECT_EQ(world.outcome("a.test", "/", 8443), "default/origin") << "the Gateway does not verify its clients";
  EXPECT_NE(clientsAt(world, 8443), nullptr);
}

// Both listeners have the certificate that a handshake for either name is made with.
TEST(ClientValidations, CloseTheListenerWhoseNamesAnotherOneVerifiesOtherwise) {
  const std::string web = httpsListener("web", 443, ", hostname: a.test");
  const std::string open = httpsListener("open", 443, ", hostname: b.test");
  for (const std::string& listeners : {web + ", " + open, open + ", " + web}) {
    const World world = policyWorld({verifying("p", kForWeb)}, test::gatewayWith(listeners));
    EXPECT_EQ(world.outcome("a.test", "/", 443), "500") << listeners;
    EXPECT_EQ(world.outcome("b.test", "/", 443), "default/origin") << listeners;
    EXPECT_EQ(clientsAt(world, 443), nullptr) << "clients of the other one are asked for no certificate";
    EXPECT_EQ(clientsAccepted(world), "False/Conflicted");
    EXPECT_THAT(clientsMessage(world), HasSubstr("a name in common with those of listener open"));
  }
}

TEST(ClientValidations, CloseAListenerWithoutTlsThatTheyName) {
  const World named = policyWorld({verifying("p", kForGateway + ", sectionName: plain")});
  EXPECT_EQ(clientsAccepted(named), "False/UnsupportedRule");
  EXPECT_EQ(named.outcome("a.test", "/", 80), "500") << "its clients were to be verified";
  EXPECT_EQ(named.outcome("a.test", "/", 443), "default/origin");
  const World all =
      policyWorld({verifying("p", kForGateway)}, test::gatewayWith("{name: plain, protocol: HTTP, port: 80}"));
  EXPECT_EQ(clientsAccepted(all), "False/UnsupportedRule");
  EXPECT_THAT(clientsMessage(all), HasSubstr("no listener there has TLS"));
}

TEST(ClientValidations, CloseTargetsThatAreNoGateways) {
  const World world = policyWorld({verifying("p", kApiGroup + "kind: HTTPRoute, name: route")});
  EXPECT_EQ(world.outcome("a.test", "/", 443), "500");
  EXPECT_EQ(clientsAccepted(world), "False/UnsupportedValue");
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"),
              HasSubstr("policies of this kind are supported for Gateways and their listeners only"));
}

TEST(ClientValidations, AreNotServedBesideOtherRestrictions) {
  const World world = policyWorld({with(verifying("p", kForWeb), "tls: {", "tls: {minVersion: '1.3', ")});
  EXPECT_EQ(clientsAccepted(world), "False/Invalid");
  EXPECT_EQ(world.outcome("a.test", "/", 443), "500");
  EXPECT_EQ(world.outcome("a.test", "/", 8443), "default/origin");
}

TEST(ClientValidations, NeedSecretsThatThePodsMayRead) {
  const std::string ref = "{group: '', kind: Secret, name: ca, namespace: vault}";
  const auto grantFrom = [](const std::string& group, const std::string& kind) {
    return test::grantIn("vault", "{group: " + group + ", kind: " + kind + ", namespace: default}",
                         "{group: '', kind: Secret}");
  };
  const std::vector<std::string> objects = {
      verifying("p", kForWeb, "", ref),
      test::inNamespace("vault", test::secret("ca", {{"ca.crt", test::authority().certificate}})),
      grantFrom("gateway.envoyproxy.io", "ClientTrafficPolicy")};
  World refused = policyWorld(objects);
  EXPECT_NE(clientsAt(refused, 443), nullptr) << "nobody keeps Pods";
  refused.recompileWithController("sluice-system");
  EXPECT_EQ(clientsAccepted(refused), "False/RefNotPermitted");
  EXPECT_EQ(refused.outcome("a.test", "/", 443), "500");
  std::vector<std::string> more = objects;
  more.push_back(grantFrom("gateway.networking.k8s.io", "Gateway"));
  World granted = policyWorld(more);
  granted.recompileWithController("sluice-system");
  EXPECT_EQ(clientsAccepted(granted), "True/Accepted") << clientsMessage(granted);
  const base::ObjectNames& secrets = granted.result().secrets.at({"Gateway", "default", "egress"});
  EXPECT_TRUE(secrets.contains({"vault", "ca"}));
  EXPECT_TRUE(secrets.contains({"default", "pair"}));
}

}  // namespace
}  // namespace sluice::compile
