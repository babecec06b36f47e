// Tests the objects in the samples of the prototype: EgressGateways, and references of kind Backend that lead to an
// XBackendDestination.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using testing::HasSubstr;

constexpr const char* kGroup = "ainetworking.prototype.x-k8s.io";
constexpr const char* kRef = "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080";

/// An EgressGateway with the name of kGateway, on another port.
const std::string kEgress = with(with(kGateway, "gateway.networking.k8s.io/v1\nkind: Gateway",
                                      std::string(kGroup) + "/v0alpha0\nkind: EgressGateway"),
                                 "port: 80", "port: 81");
const std::string kParent = std::string("{group: ") + kGroup + ", kind: EgressGateway, name: egress}";
const std::string kEgressRoute = with(kRoute, "{name: egress}", kParent);

std::string prototype(const std::string& kind, const std::string& hostname, const std::string& nameSpace = "default") {
  return std::string("apiVersion: ") + kGroup + "/v0alpha0\nkind: " + kind +
         "\nmetadata: {name: origin, namespace: " + nameSpace +
         "}\nspec: {destination: {type: Fqdn, fqdn: {hostname: " + hostname +
         "}, ports: [{number: 8080, protocol: HTTP}]}}\n";
}

std::string routeTo(const std::string& more = {}) {
  return with(kRoute, kRef, std::string("group: ") + kGroup + ", kind: Backend, name: origin" + more);
}

TEST(EgressGateway, ServesTheRoutesThatNameItAsParent) {
  const World world({kClass, kEgress, kBackend, kEgressRoute});
  EXPECT_EQ(world.outcome("a.test", "/", 81), "default/origin");
  EXPECT_EQ(world.condition("EgressGateway", "egress", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  const config::ObjectRef& parent = world.status("HTTPRoute", "route")->parents.at(0).parentRef.object;
  EXPECT_EQ(parent.group, kGroup);
  EXPECT_EQ(parent.kind, "EgressGateway");
  const config::ObjectStatus* status = world.status("EgressGateway", "egress");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->group, kGroup);
  EXPECT_EQ(status->listeners.at(0).attachedRoutes, 1);
}

TEST(EgressGateway, DoesNotMixWithAGatewayOfItsName) {
  const World world({kClass, kGateway, kEgress, kBackend, kEgressRoute});
  EXPECT_EQ(world.outcome("a.test", "/", 80), "404");
  EXPECT_EQ(world.outcome("a.test", "/", 81), "default/origin");
  EXPECT_EQ(world.status("Gateway", "egress")->listeners.at(0).attachedRoutes, 0);
  const World other({kClass, kGateway, kEgress, kBackend, kRoute});
  EXPECT_EQ(other.outcome("a.test", "/", 80), "default/origin");
  EXPECT_EQ(other.outcome("a.test", "/", 81), "404");
  EXPECT_EQ(other.status("EgressGateway", "egress")->listeners.at(0).attachedRoutes, 0);
  const World absent({kClass, kGateway, kBackend, kEgressRoute});
  EXPECT_EQ(absent.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  EXPECT_EQ(absent.outcome("a.test", "/", 80), "404");
}

TEST(EgressGateway, OfTheSameNameAndPortAsAGatewayLosesItWhateverTheOrder) {
  const std::string same = with(kEgress, "port: 81", "port: 80");
  for (const bool first : {true, false}) {
    const World world(first ? std::vector<std::string_view>{kClass, same, kGateway, kBackend, kRoute}
                            : std::vector<std::string_view>{kClass, kGateway, same, kBackend, kRoute});
    EXPECT_EQ(world.condition("EgressGateway", "egress", "Programmed"), "True/Programmed");
    EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/Invalid") << "E comes before G";
    const config::Condition* why =
        config::findCondition(world.status("Gateway", "egress")->listeners.at(0).conditions, "Accepted");
    EXPECT_THAT(why->message, HasSubstr("belongs to EgressGateway default/egress"));
  }
}

TEST(EgressGateway, IsAParentInTheStatusOfAnXBackend) {
  const std::string backend =
      "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {name: origin}\nspec: {type: "
      "ExternalHostname, externalHostname: {hostname: origin.test}, port: {port: 8080}}\n";
  const std::string route =
      with(kEgressRoute, kRef, "group: gateway.networking.x-k8s.io, kind: XBackend, name: origin");
  const World world({kClass, kGateway, kEgress, backend, route});
  const config::ObjectStatus* status = world.status("XBackend", "origin");
  ASSERT_EQ(status->parents.size(), 1U);
  EXPECT_EQ(status->parents[0].parentRef.object.kind, "EgressGateway");
  EXPECT_EQ(status->parents[0].parentRef.object.group, kGroup);
}

TEST(EgressGateway, IsATargetOfPayloadProcessorsThatNameItsKind) {
  const auto processor = [](const std::string& target) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {" +
           target + ", name: egress}\n  processors: [{name: a, type: 'sluice.dev/Test:v1', phase: backend-request}]\n";
  };
  const std::string own = processor(std::string("group: ") + kGroup + ", kind: EgressGateway");
  const auto chainAt = [](const World& world, std::uint16_t port) {
    const auto& routes = routing::routesOf(world.bind(port)->service);
    return routes.match(test::RequestMaker("GET", "a.test", "/").head()).listener->chain;
  };
  const std::string both = with(kRoute, "{name: egress}", "{name: egress}, " + kParent);
  const World world({kClass, kGateway, kEgress, kBackend, both, own}, nullptr, test::processorTypes());
  EXPECT_EQ(world.condition("PayloadProcessor", "p", "Accepted"), "True/Accepted");
  EXPECT_EQ(chainAt(world, 80), nullptr);
  EXPECT_NE(chainAt(world, 81), nullptr);
  const std::string others = processor("kind: Gateway");
  const World other({kClass, kGateway, kEgress, kBackend, both, others}, nullptr, test::processorTypes());
  EXPECT_NE(chainAt(other, 80), nullptr);
  EXPECT_EQ(chainAt(other, 81), nullptr);
  const World absent({kClass, kGateway, kBackend, kRoute, own}, nullptr, test::processorTypes());
  EXPECT_EQ(absent.condition("PayloadProcessor", "p", "Accepted"), "False/TargetNotFound");
  const std::string wrong = processor(std::string("group: ") + kGroup + ", kind: Gateway");
  EXPECT_EQ(World({kClass, kGateway, kEgress, wrong}).condition("PayloadProcessor", "p", "Accepted"), "False/Invalid");
}

TEST(EgressGateway, HasCertificatesByGrantsThatNameItsKind) {
  const std::string gateway =
      with(kEgress, "{name: web, protocol: HTTP, port: 81}",
           "{name: web, protocol: HTTPS, port: 81, tls: {certificateRefs: [{name: site, namespace: team}]}}");
  const std::string pair = with(test::keyPair("site", test::server()), "{name: site}", "{name: site, namespace: team}");
  const auto granted = [&](const std::string& from) {
    const std::string grant =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: team}\n"
        "spec: {from: [{" +
        from + ", namespace: default}], to: [{group: '', kind: Secret}]}\n";
    return World({kClass, gateway, kBackend, kEgressRoute, pair, grant}).outcome("a.test", "/", 81);
  };
  EXPECT_EQ(granted(std::string("group: ") + kGroup + ", kind: EgressGateway"), "default/origin");
  EXPECT_EQ(granted("group: gateway.networking.k8s.io, kind: Gateway"), "refused");
}

TEST(EgressGateway, IsTheOnlyParentOfItsGroup) {
  const std::string route = with(kEgressRoute, "kind: EgressGateway", "kind: Gateway");
  EXPECT_EQ(World({kClass, kEgress, kBackend, route}).condition("HTTPRoute", "route", "Accepted"), "False/InvalidKind");
}

TEST(PrototypeReference, ToABackendMeansTheXBackendDestinationOfThatName) {
  const World world({kClass, kGateway, prototype("XBackendDestination", "meant.test"), routeTo()});
  ASSERT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(test::firstPlan(world).hostname, "meant.test");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(World({kClass, kGateway, routeTo()}).condition("HTTPRoute", "route", "ResolvedRefs"),
            "False/BackendNotFound");
}

TEST(PrototypeReference, MeansTheBackendItselfIfThereIsOne) {
  const std::string destination = prototype("XBackendDestination", "other.test");
  const World world({kClass, kGateway, destination, prototype("Backend", "meant.test"), routeTo()});
  ASSERT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(test::firstPlan(world).hostname, "meant.test");
  const World refused({kClass, kGateway, destination, prototype("Backend", "localhost"), routeTo()});
  EXPECT_EQ(refused.outcome(), "500") << "a Backend that its schema refuses is not replaced by another object";
  const World seed({kClass, kGateway, destination, kRoute});
  EXPECT_EQ(seed.outcome(), "500") << "kind Backend of another group is never an XBackendDestination";
}

TEST(PrototypeReference, IsGrantedByTheKindThatItIsWrittenWith) {
  const auto granted = [](const std::string& kind) {
    const std::string grant =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: team}\n"
        "spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default}], to: [{group: " +
        std::string(kGroup) + ", kind: " + kind + "}]}\n";
    const World world({kClass, kGateway, prototype("XBackendDestination", "meant.test", "team"),
                       routeTo(", namespace: team"), grant});
    return world.condition("HTTPRoute", "route", "ResolvedRefs");
  };
  EXPECT_EQ(granted("Backend"), "True/ResolvedRefs");
  EXPECT_EQ(granted("XBackendDestination"), "False/RefNotPermitted");
}

}  // namespace
}  // namespace sluice::compile
