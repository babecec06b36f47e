// Tests the notes about settings of TrafficPolicies that mean nothing, or not what was meant, for one of their targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::World;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kInheritedCheck = "HTTPRoutes inherit this check by GRPC";
constexpr const char* kOwnCheck = "healthCheck: {active: {type: GRPC}}";
constexpr const char* kNotedGateway = "group: gateway.networking.k8s.io, kind: Gateway, name: egress";
constexpr const char* kNotedBackend = "group: gateway.networking.k8s.io, kind: Backend, name: origin";
constexpr const char* kGrpcRoute =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {name: grpc}\nspec: {parentRefs: [{name: "
    "egress}], rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: "
    "8080}]}]}\n";
std::string notedPolicy(const std::string& target, const std::string& fields,
                        const std::string& kind = "TrafficPolicy") {
  const std::string group = kind == "TrafficPolicy" ? "sluice.dev" : "gateway.envoyproxy.io";
  return "apiVersion: " + group + "/v1alpha1\nkind: " + kind + "\nmetadata: {name: p}\nspec: {targetRefs: [{" + target +
         "}], " + fields + "}\n";
}

/// Returns the message of the condition Accepted, which must be true.
std::string noteIn(const World& world, const std::string& kind = "TrafficPolicy") {
  EXPECT_EQ(world.condition(kind, "p", "Accepted"), "True/Accepted");
  return world.message(kind, "p", "Accepted");
}

TEST(TrafficPolicyNotes, NameAGrpcCheckThatHttpRoutesInherit) {
  const World own({kClass, kGateway, kBackend, kRoute, notedPolicy(kNotedGateway, kOwnCheck)});
  EXPECT_THAT(noteIn(own), HasSubstr("spec.healthCheck.active: " + std::string(kInheritedCheck)));
  EXPECT_EQ(own.outcome(), "default/origin") << "a note closes nothing";
  const std::string envoy = "BackendTrafficPolicy";
  const World shipped({kClass, kGateway, kBackend, kRoute, notedPolicy(kNotedGateway, kOwnCheck, envoy)});
  EXPECT_THAT(noteIn(shipped, envoy), HasSubstr("spec.healthCheck.active: " + std::string(kInheritedCheck)));
  const World proposed(
      {kClass, kGateway, kBackend, kRoute,
       notedPolicy(kNotedGateway, "healthChecking: {activeChecks: [{type: grpc, grpc: {upstreamName: a}}]}", envoy)});
  EXPECT_THAT(noteIn(proposed, envoy), HasSubstr("spec.healthChecking.activeChecks[0]: HTTPRoutes inherit"));
}

TEST(TrafficPolicyNotes, LeaveOutAGrpcCheckThatIsMeant) {
  const World ofCalls({kClass, kGateway, kBackend, kGrpcRoute, notedPolicy(kNotedGateway, kOwnCheck)});
  EXPECT_EQ(ofCalls.condition("GRPCRoute", "grpc", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_THAT(noteIn(ofCalls), Not(HasSubstr("HTTPRoutes")));
  const World ofRoute({kClass, kGateway, kBackend, kRoute,
                       notedPolicy("group: gateway.networking.k8s.io, kind: HTTPRoute, name: route", kOwnCheck)});
  EXPECT_THAT(noteIn(ofRoute), Not(HasSubstr("HTTPRoutes")));
  const World byHttp({kClass, kGateway, kBackend, kRoute,
                      notedPolicy(kNotedGateway, "healthCheck: {active: {type: HTTP, http: {path: /}}}")});
  EXPECT_THAT(noteIn(byHttp), Not(HasSubstr("HTTPRoutes")));
}

TEST(TrafficPolicyNotes, NameAPortThatIsAPartOfTheDestination) {
  const std::string gateway =
      gatewayWith("{name: web, protocol: HTTP, port: 81}, {name: proxy, protocol: sluice.dev/HTTPPROXY, port: 80}");
  const std::string note = "spec.matching.stripAuthorityPort: has no effect at the listener proxy";
  const std::string fields = "matching: {stripAuthorityPort: true}";
  EXPECT_THAT(noteIn(World({kClass, gateway, kBackend, kRoute, notedPolicy(kNotedGateway, fields)})), HasSubstr(note));
  const std::string section = std::string(kNotedGateway) + ", sectionName: web";
  EXPECT_THAT(noteIn(World({kClass, gateway, kBackend, kRoute, notedPolicy(section, fields)})), Not(HasSubstr(note)));
}

TEST(TrafficPolicyNotes, NameABackendWithoutAService) {
  const std::string note =
      "spec.integrations.addLinkerdHeaders: has no effect, because this Backend leads to no Service";
  const auto noted = [](const std::string& target, const std::string& value) {
    const std::string policy = notedPolicy(target, "integrations: {addLinkerdHeaders: " + value + "}");
    return noteIn(World({kClass, kGateway, kBackend, kRoute, policy}));
  };
  EXPECT_THAT(noted(kNotedBackend, "true"), HasSubstr(note));
  EXPECT_THAT(noted(kNotedBackend, "false"), Not(HasSubstr(note)));
  EXPECT_THAT(noted(kNotedGateway, "true"), Not(HasSubstr(note)));
}

TEST(TrafficPolicyNotes, NameZonesThatNothingHas) {
  const auto noted = [](const std::string& target, const std::string& fields) {
    const std::string policy = notedPolicy(target, "loadBalancing: {" + fields + "}");
    return noteIn(World({kClass, kGateway, kBackend, kRoute, policy}));
  };
  const std::string note = "spec.loadBalancing.zone: has no effect, because this Backend leads to no Service";
  EXPECT_THAT(noted(kNotedBackend, "zone: Prefer"), HasSubstr(note));
  EXPECT_THAT(noted(kNotedGateway, "zone: Prefer"), Not(HasSubstr(note)));
  EXPECT_THAT(noted(kNotedGateway, "minEndpointsInZone: 2"),
              HasSubstr("spec.loadBalancing.minEndpointsInZone: has no effect without zone: Prefer"));
  EXPECT_THAT(noted(kNotedGateway, "zone: Prefer, minEndpointsInZone: 2"), Not(HasSubstr("without zone")));
}

TEST(TrafficPolicyNotes, NameAnIntervalOfChecksThatIsRaised) {
  const std::string check = "healthCheck: {active: {type: TCP, interval: 200ms}}";
  const std::string note = "interval: is shorter than 1s, which applies instead";
  EXPECT_THAT(noteIn(World({kClass, kGateway, kBackend, kRoute, notedPolicy(kNotedGateway, check)})),
              HasSubstr("spec.healthCheck.active." + note));
  const std::string proposed =
      "healthChecking: {activeChecks: [{type: grpc, unhealthyCheckInterval: 200ms, grpc: {upstreamName: a}}]}";
  const std::string envoy = "BackendTrafficPolicy";
  EXPECT_THAT(noteIn(World({kClass, kGateway, kBackend, kRoute, notedPolicy(kNotedGateway, proposed, envoy)}), envoy),
              HasSubstr("spec.healthChecking.activeChecks[0].unhealthyCheckInterval: is shorter than 1s"));
  const World ofBackend({kClass,
                         "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: p}\nspec: {destination: "
                         "{type: FQDN, fqdn: {hostname: api.example.com, port: 443}}, " +
                             check + "}\n"});
  EXPECT_THAT(noteIn(ofBackend, "Backend"), HasSubstr("spec.healthCheck.active." + note));
}

TEST(TrafficPolicyNotes, NameBoundsForAPriorityThatNoRuleHas) {
  const std::string bounds = notedPolicy(kNotedGateway, "circuitBreaker: {high: {maxConnections: 1}}");
  const std::string note = "spec.circuitBreaker.high: bounds nothing for high priority";
  EXPECT_THAT(noteIn(World({kClass, kGateway, kBackend, kRoute, bounds})), HasSubstr(note));
  const std::string high =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: high}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: route}], priority: High}\n";
  EXPECT_THAT(noteIn(World({kClass, kGateway, kBackend, kRoute, bounds, high})), Not(HasSubstr(note)));
}

}  // namespace
}  // namespace sluice::compile
