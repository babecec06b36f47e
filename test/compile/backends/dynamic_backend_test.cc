// Tests how Backends are compiled whose destinations requests name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/routing/dynamic_targets.h"
#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kDynamicBackend = R"(
apiVersion: sluice.dev/v1alpha1
kind: Backend
metadata: {name: any, generation: 2}
spec:
  destination:
    type: Dynamic
    dynamic: {hostnames: [API.test, "*.models.test"], ports: [{number: 443, tls: {mode: Simple}}, {number: 8080}]}
)";
constexpr std::string_view kToAny = "rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: any}]}]";

World dynamicWorld(std::string_view backend = kDynamicBackend, std::string_view rules = kToAny,
                   const std::vector<std::string_view>& more = {}, const World* previous = nullptr) {
  const std::string route = routeWithRules(rules);
  std::vector<std::string_view> documents = {kClass, kGateway, backend, route};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, previous);
}

std::shared_ptr<const routing::BackendPlan> dynamicPlanIn(const World& world) {
  const routing::Rule* const rule = world.rule(test::RequestMaker("GET", "a.test", "/"));
  return rule->backends.at(0).backend;
}

std::vector<std::uint16_t> portsIn(const routing::BackendPlan& plan) {
  std::vector<std::uint16_t> numbers;
  for (const auto& each : plan.dynamic->ports) numbers.push_back(each->port);
  return numbers;
}

TEST(DynamicBackends, HaveNamesAndPorts) {
  const World world = dynamicWorld();
  EXPECT_EQ(world.condition("Backend", "any", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(world.outcome(), "default/any");
  const auto plan = dynamicPlanIn(world);
  ASSERT_NE(plan->dynamic, nullptr);
  EXPECT_THAT(plan->dynamic->hostnames, ElementsAre("api.test", "*.models.test"));
  EXPECT_THAT(portsIn(*plan), ElementsAre(443, 8080));
  EXPECT_TRUE(plan->dynamic->ports[0]->tls);
  EXPECT_EQ(plan->dynamic->ports[0]->tls->serverName, "");
  EXPECT_NE(plan->dynamic->ports[0]->http11, nullptr);
  EXPECT_FALSE(plan->dynamic->ports[1]->tls);
  EXPECT_FALSE(plan->tls) << "one of the ports is without TLS";
  EXPECT_EQ(plan->reach, nullptr);
}

TEST(DynamicBackends, HaveThePortOfAReferenceThatNamesOne) {
  const auto rules = [](const std::string& port) {
    return "rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: any, port: " + port + "}]}]";
  };
  EXPECT_THAT(portsIn(*dynamicPlanIn(dynamicWorld(kDynamicBackend, rules("8080")))), ElementsAre(8080));
  const World other = dynamicWorld(kDynamicBackend, rules("80"));
  EXPECT_EQ(other.outcome(), "500");
  EXPECT_THAT(other.message("HTTPRoute", "route", "ResolvedRefs"), HasSubstr("it has no port 80"));
}

TEST(DynamicBackends, StayTheSameUntilTheyChange) {
  const World before = dynamicWorld();
  const World same = dynamicWorld(kDynamicBackend, kToAny, {}, &before);
  EXPECT_EQ(dynamicPlanIn(same)->identity, dynamicPlanIn(before)->identity);
  const std::string changed = with(kDynamicBackend, "API.test", "other.test");
  EXPECT_NE(dynamicPlanIn(dynamicWorld(changed))->identity, dynamicPlanIn(before)->identity);
  EXPECT_EQ(dynamicPlanIn(dynamicWorld(changed))->dynamic->ports[0]->identity,
            dynamicPlanIn(before)->dynamic->ports[0]->identity)
      << "connections stay";
}

TEST(DynamicBackends, TakeSettingsOfPoliciesAtEachPort) {
  const World world = dynamicWorld(kDynamicBackend, kToAny,
                                   {"apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: t}\nspec:\n"
                                    "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}]\n"
                                    "  circuitBreaker: {maxConnections: 3}\n"});
  const auto plan = dynamicPlanIn(world);
  for (const auto& each : plan->dynamic->ports) {
    EXPECT_EQ(each->connection.bounds.connections, 3U);
    const std::string port = ":" + std::to_string(each->port);
    const std::string nameOfA = "api.test" + port;
    const std::string nameOfB = "b.models.test" + port;
    const auto a = routing::requestedPlan(*plan->dynamic->targetOf({nameOfA}));
    const auto b = routing::requestedPlan(*plan->dynamic->targetOf({nameOfB}));
    EXPECT_NE(a->boundedAs(), b->boundedAs()) << "each destination has its own bounds";
    EXPECT_NE(a->countedAs(), b->countedAs());
  }
}

TEST(DynamicBackends, SpeakHttp2ForGrpcRoutes) {
  const World world({kClass, kGateway, kDynamicBackend,
                     "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {name: calls}\nspec:\n"
                     "  parentRefs: [{name: egress}]\n"
                     "  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: any, port: 443}]}]\n"});
  const auto* const rule = world.rule(test::RequestMaker("POST", "a.test", "/s/m"));
  ASSERT_NE(rule, nullptr);
  const auto plan = rule->backends.at(0).backend;
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->dynamic->ports.at(0)->protocol, routing::UpstreamProtocol::kHttp2);
}

TEST(DynamicBackends, AreForBackendRefsOfRoutesAlone) {
  const World world = dynamicWorld(
      kDynamicBackend,
      "rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: any}], filters: [{type: RequestMirror, "
      "requestMirror: {backendRef: {group: sluice.dev, kind: Backend, name: any}}}]}]");
  EXPECT_THAT(world.message("HTTPRoute", "route", "ResolvedRefs"),
              HasSubstr("requests name its destination, so only the backendRefs of routes may refer to it"));
  EXPECT_TRUE(world.rule(test::RequestMaker("GET", "a.test", "/"))->mirrors.empty());
  EXPECT_EQ(world.outcome(), "default/any") << "the request itself goes there";
}

TEST(DynamicBackends, TakeNoPolicyThatNamesOneServer) {
  const World world =
      dynamicWorld(kDynamicBackend, kToAny,
                   {"apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: tls}\nspec:\n"
                    "  targetRefs: [{group: sluice.dev, kind: Backend, name: any}]\n"
                    "  validation: {hostname: a.test, wellKnownCACertificates: System}\n"});
  EXPECT_EQ(world.outcome(), "500");
}

TEST(DynamicBackends, WithOtherProcessorsAtOnePortNeedAReferenceForEach) {
  const std::string ofOnePort =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: guard}\nspec:\n"
      "  targetRef: {group: sluice.dev, kind: Backend, name: any, sectionName: '8080'}\n"
      "  processors: [{name: guard, type: 'sluice.dev/Test:v1', phase: request-headers}]\n";
  const auto worldOf = [&](std::string_view rules) {
    const std::string route = routeWithRules(rules);
    return World({kClass, kGateway, kDynamicBackend, route, ofOnePort}, nullptr, test::processorTypes());
  };
  const World all = worldOf(kToAny);
  EXPECT_EQ(all.outcome(), "500");
  EXPECT_THAT(all.message("HTTPRoute", "route", "ResolvedRefs"), HasSubstr("its ports have different processors"));
  const auto rules = [](const std::string& port) {
    return "rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: any, port: " + port + "}]}]";
  };
  EXPECT_NE(dynamicPlanIn(worldOf(rules("8080")))->chain, nullptr);
  EXPECT_EQ(dynamicPlanIn(worldOf(rules("443")))->chain, nullptr);
}

TEST(DynamicBackends, MayBeAnyOfEnvoyGateway) {
  const World world = dynamicWorld(
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {name: any}\n"
      "spec: {type: DynamicResolver, tls: {wellKnownCACertificates: System}}\n",
      "rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: any}]}]");
  EXPECT_EQ(world.condition("Backend", "any", "Accepted"), "True/Accepted");
  const auto plan = dynamicPlanIn(world);
  EXPECT_TRUE(plan->dynamic->hostnames.empty());
  EXPECT_THAT(portsIn(*plan), ElementsAre(0));
  EXPECT_TRUE(plan->tls);
}

}  // namespace
}  // namespace sluice::compile
