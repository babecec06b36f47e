// Tests that each step names the object in which its use is written, and shares its health with no other use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::with;
using test::World;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::string useNamed(const std::string& name) {
  return "{name: " + name + ", type: 'sluice.dev/Test:v1', phase: request-headers}";
}

std::string processorOf(const std::string& name, const std::string& target) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: " + name +
         "}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, " + target + "}\n  processors: [" +
         useNamed("of-" + name) + "]\n";
}

void addObjects(const processing::Chain* chain, std::vector<std::string>& objects) {
  if (chain == nullptr) return;
  for (const processing::Step& step : chain->all()) objects.push_back(step.name + " of " + step.object);
}

routing::RouteMatch matchOf(const World& world) {
  return routing::routesOf(world.bind(80)->service).match(test::RequestMaker("GET", "a.test", "/").head());
}

TEST(StepObjects, AreThoseInWhichUsesAreWritten) {
  const std::string route = test::routeWithRules(
      "rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [" + useNamed("inline") +
      "]}, {type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: q}}], "
      "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]");
  const std::string pipeline =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {name: q}\nspec: {processors: [" +
      useNamed("in-pipeline") + "]}\n";
  const std::string backend = with(kBackend, "spec: {", "spec: {extensions: [" + useNamed("of-backend") + "], ");
  const World world({kClass, kGateway, backend, route, pipeline, processorOf("guard", "kind: HTTPRoute, name: route"),
                     processorOf("wide", "kind: Gateway, name: egress")},
                    nullptr, test::processorTypes());
  std::vector<std::string> objects;
  const auto match = matchOf(world);
  addObjects(match.listener->chain.get(), objects);
  addObjects(match.rule->chain.get(), objects);
  addObjects(match.rule->backends.at(0).backend->chain.get(), objects);
  EXPECT_THAT(objects, UnorderedElementsAre(
                           "of-wide of PayloadProcessor default/wide", "inline of HTTPRoute default/route",
                           "in-pipeline of PayloadProcessingPipeline default/q",
                           "of-guard of PayloadProcessor default/guard", "of-backend of Backend default/origin"));
}

TEST(StepObjects, AreThoseOfPolicies) {
  const std::string policy =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyExtensionPolicy\nmetadata: {name: p}\nspec:\n"
      "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}]\n"
      "  extProc: [{backendRefs: [{name: guard, port: 9002}]}]\n";
  const World world({kClass, kGateway, kBackend, test::kRoute, policy,
                     "apiVersion: v1\nkind: Service\nmetadata: {name: guard}\nspec: {ports: [{port: 9002}]}\n"},
                    nullptr, test::typesWithServers());
  const auto match = matchOf(world);
  ASSERT_NE(match.rule->chain, nullptr);
  EXPECT_EQ(match.rule->chain->all().front().object, "EnvoyExtensionPolicy default/p");
  EXPECT_EQ(match.listener->object, "Gateway default/egress");
}

TEST(StepObjects, HaveOneHealthForEachUse) {
  const World world({kClass, kGateway, kBackend, test::kRoute, processorOf("a", "kind: HTTPRoute, name: route"),
                     processorOf("b", "kind: HTTPRoute, name: route")},
                    nullptr, test::processorTypes());
  const auto match = matchOf(world);
  const std::vector<processing::Step> steps = match.rule->chain->all();
  ASSERT_EQ(steps.size(), 2U);
  ASSERT_NE(steps[0].health, nullptr);
  EXPECT_NE(steps[0].health, steps[1].health);
}

}  // namespace
}  // namespace sluice::compile
