// Tests the compilation of the prototype's XPayloadProcessor: its step in the rules that refer to it, its reference to
// a server, and its conditions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::ruleSteps;
using test::with;
using test::World;
using testing::HasSubstr;

constexpr const char* kServers = R"(
apiVersion: v1
kind: Service
metadata: {name: guard}
spec: {ports: [{port: 9002, appProtocol: kubernetes.io/h2c}, {port: 80}]}
)";

std::string externalProcessor(const std::string& backendRef = "name: guard, port: 9002",
                              const std::string& failureMode = "Closed") {
  return "apiVersion: ainetworking.prototype.x-k8s.io/v0alpha0\nkind: XPayloadProcessor\nmetadata: {name: edits, "
         "generation: 9}\nspec: {backendRef: {" +
         backendRef + "}, failureMode: " + failureMode + "}\n";
}

std::string routeWithReference(const std::string& name = "edits") {
  return with(kRoute, "rules: [{",
              "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: ainetworking.prototype.x-k8s.io, kind: "
              "XPayloadProcessor, name: " +
                  name + "}}], ");
}

World worldWithServer(const std::string& processor, const std::string& route = routeWithReference(),
                      const std::string& more = {}) {
  return World({kClass, kGateway, kBackend, kServers, route, processor, more}, nullptr, test::typesWithServers());
}

std::string conditionOf(const World& world, std::string_view type) {
  return world.condition("XPayloadProcessor", "edits", type);
}

TEST(XPayloadProcessors, RunInTheRulesThatReferToThem) {
  const World world = worldWithServer(externalProcessor());
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(ruleSteps(world), "edits;");
  EXPECT_EQ(conditionOf(world, "Accepted"), "True/Accepted");
  EXPECT_EQ(conditionOf(world, "ResolvedRefs"), "True/ResolvedRefs");
  const config::ObjectStatus* status = world.status("XPayloadProcessor", "edits");
  ASSERT_NE(status, nullptr);
  EXPECT_THAT(config::statusJson(*status), testing::StartsWith(R"({"conditions":[{"type":"Accepted")"));
  EXPECT_TRUE(config::isHealthy(*status));
}

TEST(XPayloadProcessors, ReportAPolicyThatClosesTheirServer) {
  const World world =
      worldWithServer(externalProcessor(), routeWithReference(),
                      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\n"
                      "spec: {targetRefs: [{group: '', kind: Service, name: guard}], retry: {attempts: 1}}\n");
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(conditionOf(world, "ResolvedRefs"), "False/Invalid");
  EXPECT_THAT(world.message("XPayloadProcessor", "edits", "ResolvedRefs"),
              HasSubstr("TrafficPolicy default/p: spec.retry: is for Gateways and routes alone"));
}

TEST(XPayloadProcessors, KeepTheirTimeoutAndFailureMode) {
  const World world = worldWithServer(externalProcessor("name: guard, port: 9002", "Open, messageTimeout: 3s"));
  const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule, nullptr);
  ASSERT_NE(rule->chain, nullptr);
  EXPECT_TRUE(rule->chain->all().front().failOpen);
  EXPECT_EQ(rule->chain->all().front().timeout, std::chrono::seconds(3));
}

TEST(XPayloadProcessors, CloseTheirRulesWithoutAServerUnlessTheyFailOpen) {
  for (const auto& [ref, reason] :
       {std::pair("name: absent, port: 9002", "BackendNotFound"), std::pair("name: guard, port: 1", "BackendNotFound"),
        std::pair("kind: Pod, name: guard", "InvalidKind"),
        std::pair("name: guard, port: 80, namespace: other", "RefNotPermitted")}) {
    const World closed = worldWithServer(externalProcessor(ref));
    EXPECT_EQ(closed.outcome(), "500") << ref;
    EXPECT_EQ(conditionOf(closed, "ResolvedRefs"), "False/" + std::string(reason)) << ref;
    EXPECT_EQ(conditionOf(closed, "Degraded"), "True/" + std::string(reason)) << ref;
    const World open = worldWithServer(externalProcessor(ref, "Open"));
    EXPECT_EQ(open.outcome(), "default/origin") << ref;
    EXPECT_EQ(ruleSteps(open), "") << ref;
    EXPECT_EQ(conditionOf(open, "ResolvedRefs"), "False/" + std::string(reason)) << ref;
  }
}

TEST(UsesInRoutes, HaveTheirReferencesToServersInTheConditionOfTheRoute) {
  const auto worldOf = [](const std::string& name) {
    const std::string route =
        with(kRoute, "rules: [{",
             "rules: [{filters: [{type: PayloadProcessing, payloadProcessing: [{name: guard, type: "
             "'sluice.dev/ExtProc:v1', config: {backendRefs: [{name: " +
                 name + ", port: 9002}]}}]}], ");
    return worldWithServer(externalProcessor(), route);
  };
  EXPECT_EQ(worldOf("guard").condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  const World broken = worldOf("absent");
  EXPECT_EQ(broken.condition("HTTPRoute", "route", "ResolvedRefs"), "False/BackendNotFound");
  EXPECT_EQ(broken.outcome(), "500");
}

TEST(XPayloadProcessors, SayThatTheirServerIsAbsentBeforeARuleRefersToThem) {
  const World world = worldWithServer(externalProcessor("name: absent, port: 9002"), std::string(kRoute));
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(conditionOf(world, "ResolvedRefs"), "False/BackendNotFound");
  EXPECT_THAT(world.message("XPayloadProcessor", "edits", "ResolvedRefs"), HasSubstr("spec.backendRef: Service"));
  EXPECT_EQ(conditionOf(world, "Accepted"), "True/Accepted");
}

TEST(XPayloadProcessors, TakeAGrantToServersOfOtherNamespaces) {
  const std::string server = with(with(kServers, "name: guard", "name: guard, namespace: guards"), "80}]", "81}]");
  const std::string grant =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: guards}\n"
      "spec:\n  from: [{group: ainetworking.prototype.x-k8s.io, kind: XPayloadProcessor, namespace: default}]\n"
      "  to: [{group: '', kind: Service}]\n";
  const std::string processor = externalProcessor("name: guard, namespace: guards, port: 9002");
  EXPECT_EQ(worldWithServer(processor, routeWithReference(), server).outcome(), "500");
  const World granted = worldWithServer(processor, routeWithReference(), server + grant);
  EXPECT_EQ(granted.outcome(), "default/origin");
  EXPECT_EQ(conditionOf(granted, "ResolvedRefs"), "True/ResolvedRefs");
}

TEST(XPayloadProcessors, AreMissedByTheRouteThatRefersToNone) {
  const World absent = worldWithServer(externalProcessor(), routeWithReference("other"));
  EXPECT_EQ(absent.outcome(), "500");
  EXPECT_EQ(absent.condition("HTTPRoute", "route", "Accepted"), "False/InvalidExtensionRef");
  const World refused = worldWithServer(externalProcessor("name: guard, port: 9002", "FailOpen"));
  EXPECT_EQ(refused.outcome(), "500");
  EXPECT_EQ(conditionOf(refused, "Accepted"), "False/Invalid");
}

}  // namespace
}  // namespace sluice::compile
