// Tests that a Gateway may narrow the identity of its class, and what takes effect if it wants more.
#include "proxy/compile/policies/gateway_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/gateways/verified_gateway.h"

namespace sluice::compile {
namespace {

using test::with;
using test::World;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns a World whose class has these settings, and whose Gateway has these parameters.
World identifiedWorld(const std::string& settings, const std::string& parameters) {
  const std::string gateway =
      with(test::verifyingGateway("{default: {" + test::validationBy(test::authorityRef("ca")) + "}}",
                                  test::httpsListener("web", 443) + ", {name: plain, protocol: HTTP, port: 80}"),
           "  tls:",
           "  infrastructure: {parametersRef: {group: sluice.dev, kind: GatewayParameters, name: ours}}\n"
           "  tls:");
  const std::string ofClass =
      with(test::kClass, "sluice.dev/egress-gateway",
           "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: default, name: s}");
  const std::string map = test::configMap("s", "settings.yaml", settings);
  const std::string ours =
      "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {name: ours}\nspec: {" + parameters + "}\n";
  const std::string pair = test::keyPair("pair", test::server());
  const std::string authorities = test::authoritiesNamed("ca");
  return World({ofClass, map, gateway, ours, pair, authorities, test::kBackend, test::kRoute});
}

std::string sourceOf(const std::string& trustDomains) {
  return "sources: [{type: ClientCertificate, trustDomains: [" + trustDomains + "]}]";
}
const std::string kOfClass = "identity: {" + sourceOf("a.test, b.test") + ", forward: {header: x-caller}}";

std::string acceptedGateway(const World& world) { return world.condition("Gateway", "egress", "Accepted"); }

TEST(EffectiveIdentity, IsNoneIfNobodyAsksForIt) {
  const World world = identifiedWorld("workers: 1", "replicas: 1");
  EXPECT_FALSE(test::clientsAt(world, 443)->namesCallers);
  EXPECT_EQ(test::servedListener(world, 443)->identityHeader, "");
}

TEST(EffectiveIdentity, IsThatOfTheClass) {
  const World world = identifiedWorld(kOfClass, "replicas: 1");
  const auto clients = test::clientsAt(world, 443);
  ASSERT_NE(clients, nullptr);
  EXPECT_TRUE(clients->namesCallers);
  EXPECT_THAT(clients->trustDomains, ElementsAre("a.test", "b.test"));
  EXPECT_EQ(test::servedListener(world, 443)->identityHeader, "x-caller");
  EXPECT_EQ(test::servedListener(world, 80)->identityHeader, "x-caller") << "clients cannot set it there either";
}

TEST(EffectiveIdentity, IsThatOfTheGatewayIfItsClassHasNone) {
  const World world = identifiedWorld("workers: 1", "identity: {" + sourceOf("c.test") + ", forward: {header: x-own}}");
  EXPECT_EQ(acceptedGateway(world), "True/Accepted");
  EXPECT_TRUE(test::clientsAt(world, 443)->namesCallers);
  EXPECT_THAT(test::clientsAt(world, 443)->trustDomains, ElementsAre("c.test"));
  EXPECT_EQ(test::servedListener(world, 443)->identityHeader, "x-own");
}

TEST(EffectiveIdentity, HasFewerTrustDomainsIfTheGatewayWantsThat) {
  const World world = identifiedWorld(kOfClass, "identity: {" + sourceOf("b.test") + "}");
  EXPECT_EQ(acceptedGateway(world), "True/Accepted");
  EXPECT_THAT(test::clientsAt(world, 443)->trustDomains, ElementsAre("b.test"));
  EXPECT_EQ(test::servedListener(world, 443)->identityHeader, "x-caller") << "Backends rely on it";
}

TEST(EffectiveIdentity, HasNoSourceIfTheGatewayWantsNone) {
  const World world = identifiedWorld(kOfClass, "identity: {sources: [], forward: {header: X-Caller}}");
  EXPECT_EQ(acceptedGateway(world), "True/Accepted");
  EXPECT_FALSE(test::clientsAt(world, 443)->namesCallers);
  EXPECT_THAT(test::clientsAt(world, 443)->trustDomains, IsEmpty());
  EXPECT_EQ(test::servedListener(world, 443)->identityHeader, "x-caller");
}

struct WiderIdentity {
  std::string ofClass;
  std::string ofGateway;
  const char* message;
};

TEST(EffectiveIdentity, StaysThatOfTheClassIfTheGatewayWantsMore) {
  const WiderIdentity wider[] = {
      {kOfClass, sourceOf("a.test, c.test"), "spec.identity.sources: \"c.test\" is no trust domain of the class"},
      {kOfClass, sourceOf("b.test") + ", forward: {header: x-other}",
       "spec.identity.forward.header: is that of the class, which the Gateway cannot change"},
      {"identity: {forward: {header: x-caller}}", sourceOf(""),
       "spec.identity.sources: the class has no source ClientCertificate"}};
  for (const WiderIdentity& each : wider) {
    const World world = identifiedWorld(each.ofClass, "identity: {" + each.ofGateway + "}");
    EXPECT_EQ(acceptedGateway(world), "False/InvalidParameters") << each.ofGateway;
    EXPECT_THAT(world.message("Gateway", "egress", "Accepted"),
                AllOf(HasSubstr("spec.infrastructure.parametersRef: GatewayParameters default/ours: "),
                      HasSubstr(each.message), HasSubstr("the identity of the class stays in force")));
    EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "True/Programmed") << "it is served";
    const World ofClass = identifiedWorld(each.ofClass, "replicas: 1");
    EXPECT_EQ(test::clientsAt(world, 443)->namesCallers, test::clientsAt(ofClass, 443)->namesCallers);
    EXPECT_EQ(test::clientsAt(world, 443)->trustDomains, test::clientsAt(ofClass, 443)->trustDomains);
    EXPECT_EQ(test::servedListener(world, 443)->identityHeader, "x-caller");
  }
}

}  // namespace
}  // namespace sluice::compile
