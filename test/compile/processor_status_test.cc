// Tests the statuses of PayloadProcessors and pipelines.
#include "proxy/compile/status/processor_status.h"

#include <gtest/gtest.h>

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

constexpr const char* kGoodUse = "{name: a, type: 'sluice.dev/Test:v1', phase: request-headers}";
constexpr const char* kAbsent = "{name: b, type: 'x.test/Absent:v1', phase: connect}";
constexpr const char* kAbsentOpen = "{name: c, type: 'x.test/Absent:v1', phase: connect, failOpen: true}";

std::string processor(const std::string& target, const std::string& uses = kGoodUse,
                      const std::string& group = "sluice.dev") {
  return "apiVersion: " + group +
         "/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p, generation: 7}\nspec:\n  targetRef: {group: "
         "gateway.networking.k8s.io, " +
         target + "}\n  processors: [" + uses + "]\n";
}

World worldWithProcessor(const std::string& document, const std::vector<std::string_view>& more = {}) {
  const std::string route = with(kRoute, "rules: [{", "rules: [{name: main, ");
  std::vector<std::string_view> documents = {kClass, kGateway, kBackend, route, document};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, nullptr, test::processorTypes());
}

std::string accepted(const World& world) { return world.condition("PayloadProcessor", "p", "Accepted"); }
std::string processorDegraded(const World& world) { return world.condition("PayloadProcessor", "p", "Degraded"); }

TEST(ProcessorStatus, HasTheTargetAsItsAncestor) {
  const World world = worldWithProcessor(processor("kind: Gateway, name: egress, sectionName: web"));
  const config::ObjectStatus* status = world.status("PayloadProcessor", "p");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(config::statusJson(*status),
            R"({"ancestors":[{"ancestorRef":{"group":"gateway.networking.k8s.io","kind":"Gateway",)"
            R"("namespace":"default","name":"egress","sectionName":"web"},)"
            R"("controllerName":"sluice.dev/egress-gateway","conditions":[{"type":"Accepted","status":"True",)"
            R"("reason":"Accepted","message":"","observedGeneration":7}]}]})");
  EXPECT_TRUE(config::isHealthy(*status));
}

TEST(ProcessorStatus, IsAcceptedForEveryKindOfTarget) {
  for (const char* target : {"kind: Gateway, name: egress", "kind: HTTPRoute, name: route",
                             "kind: HTTPRoute, name: route, sectionName: main"}) {
    EXPECT_EQ(accepted(worldWithProcessor(processor(target))), "True/Accepted") << target;
    EXPECT_EQ(accepted(worldWithProcessor(processor(target, kGoodUse, "gateway.networking.k8s.io"))), "True/Accepted")
        << target;
    EXPECT_EQ(processorDegraded(worldWithProcessor(processor(target))), "") << target;
  }
}

TEST(ProcessorStatus, ReportsAMissingTargetOrSection) {
  for (const char* target :
       {"kind: Gateway, name: other", "kind: Gateway, name: egress, sectionName: other", "kind: HTTPRoute, name: other",
        "kind: HTTPRoute, name: route, sectionName: other", "kind: GRPCRoute, name: route"}) {
    const World world = worldWithProcessor(processor(target));
    EXPECT_EQ(accepted(world), "False/TargetNotFound") << target;
    EXPECT_EQ(world.outcome(), "default/origin");
  }
  const World world = worldWithProcessor(processor("kind: Gateway, name: egress, sectionName: other"));
  EXPECT_EQ(world.message("PayloadProcessor", "p", "Accepted"),
            "spec.targetRef: Gateway default/egress: it has no listener other; nothing is attached");
}

TEST(ProcessorStatus, RefusesListenerSetsAsTargets) {
  const World world = worldWithProcessor(processor("kind: ListenerSet, name: egress"));
  EXPECT_EQ(accepted(world), "False/UnsupportedValue");
  EXPECT_NE(world.message("PayloadProcessor", "p", "Accepted").find("spec.targetRef.kind"), std::string::npos);
}

TEST(ProcessorStatus, ReportsWhyItsSchemaRefusesAnObject) {
  const World world =
      worldWithProcessor(with(processor("kind: Gateway, name: egress"), "spec:", "spec:\n  surprise: 1"));
  EXPECT_EQ(accepted(world), "False/Invalid");
  ASSERT_NE(world.status("PayloadProcessor", "p"), nullptr);
  EXPECT_EQ(world.status("PayloadProcessor", "p")->parents.front().parentRef.object.name, "egress");
  const World illegible =
      worldWithProcessor("apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\n");
  EXPECT_EQ(accepted(illegible), "False/Invalid");
  EXPECT_NE(illegible.message("PayloadProcessor", "p", "Accepted").find("so no requests are refused for it"),
            std::string::npos);
  EXPECT_EQ(illegible.outcome(), "default/origin");
}

TEST(ProcessorStatus, SaysWhatATargetOfAnIllegibleKindCloses) {
  const World route = worldWithProcessor(processor("kind: HttpRoute, name: route"));
  EXPECT_EQ(route.outcome(), "500");
  EXPECT_EQ(accepted(route), "False/Invalid");
  EXPECT_NE(route.message("PayloadProcessor", "p", "Accepted")
                .find("every Gateway, route, Backend and Service of its namespace with the name route answers 500"),
            std::string::npos);
  const World gateway = worldWithProcessor(processor("kind: Gatewya, name: egress"));
  EXPECT_EQ(gateway.condition("Gateway", "egress", "Degraded"), "True/UnsupportedValue");
  EXPECT_EQ(worldWithProcessor(processor("kind: HttpRoute, name: other")).outcome(), "default/origin");
  EXPECT_EQ(
      worldWithProcessor(with(processor("kind: HttpRoute, name: route"), "name: p", "name: p, namespace: n")).outcome(),
      "default/origin");
}

TEST(ProcessorStatus, IsDegradedByUsesThatCannotRun) {
  for (const char* target : {"kind: Gateway, name: egress", "kind: HTTPRoute, name: route"}) {
    const World world =
        worldWithProcessor(processor(target, std::string(kGoodUse) + ", " + kAbsentOpen + ", " + kAbsent));
    EXPECT_EQ(accepted(world), "True/Accepted") << target;
    EXPECT_EQ(processorDegraded(world), "True/UnsupportedExtensionType") << target;
    const std::string message = world.message("PayloadProcessor", "p", "Degraded");
    EXPECT_LT(message.find("; requests that need it get 500"), message.find("left out")) << message;
    EXPECT_EQ(message.find("spec.processors[2]"), message.rfind("spec.processors[2]")) << message;
  }
}

TEST(ProcessorStatus, IsNotWrittenForGatewaysOfOtherControllers) {
  const std::string other = with(kClass, "sluice.dev/egress-gateway", "example.com/other");
  const std::string theirs =
      with(with(kGateway, "name: egress", "name: theirs"), "gatewayClassName: sluice", "gatewayClassName: other");
  const World world = worldWithProcessor(processor("kind: Gateway, name: theirs"),
                                         {with(other, "name: sluice", "name: other"), theirs});
  EXPECT_EQ(world.status("PayloadProcessor", "p"), nullptr);
}

TEST(ProcessorStatus, ReportsTheUsesOfPipelines) {
  const std::string pipeline =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {name: q}\n"
      "spec: {processors: [" +
      std::string(kAbsent) + "]}\n";
  const World unused({kClass, kGateway, kBackend, kRoute, pipeline}, nullptr, test::processorTypes());
  EXPECT_EQ(unused.condition("PayloadProcessingPipeline", "q", "Accepted"), "True/Accepted");
  EXPECT_EQ(unused.condition("PayloadProcessingPipeline", "q", "Degraded"), "");
  const std::string route = with(kRoute, "rules: [{",
                                 "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: "
                                 "PayloadProcessingPipeline, name: q}}], ");
  const World used({kClass, kGateway, kBackend, route, pipeline}, nullptr, test::processorTypes());
  EXPECT_EQ(used.condition("PayloadProcessingPipeline", "q", "Degraded"), "True/UnsupportedExtensionType");
  const World refused({kClass, kGateway, kBackend, kRoute, with(pipeline, "spec: {", "spec: {surprise: 1, ")}, nullptr,
                      test::processorTypes());
  EXPECT_EQ(refused.condition("PayloadProcessingPipeline", "q", "Accepted"), "False/Invalid");
}

}  // namespace
}  // namespace sluice::compile
