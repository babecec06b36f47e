// Tests the statuses of policies whose kinds are not supported.
#include <gtest/gtest.h>

#include <string>

#include "proxy/compile/status/unsupported_policy_status.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

constexpr const char* kTargetService =
    "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n";

std::string closingPolicy(const std::string& targets) {
  return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p, generation: 7}\n"
         "spec: {targetRefs: [" +
         targets + "]}\n";
}
std::string target(const std::string& kind, const std::string& name, const std::string& more = {}) {
  return "{group: gateway.networking.k8s.io, kind: " + kind + ", name: " + name + more + "}";
}

World worldWithClosingPolicy(const std::string& targets, const std::vector<std::string_view>& more = {}) {
  const std::string policy = closingPolicy(targets);
  std::vector<std::string_view> documents = {kClass, kGateway, kBackend, kRoute, policy};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents);
}

const config::ObjectStatus* policyStatus(const World& world) { return world.status("SecurityPolicy", "p"); }
std::string policyAccepted(const World& world) { return world.condition("SecurityPolicy", "p", "Accepted"); }
std::string policyMessage(const World& world) { return world.message("SecurityPolicy", "p", "Accepted"); }

TEST(PolicyStatus, HasTheTargetAsItsAncestor) {
  const World world = worldWithClosingPolicy(target("Gateway", "egress", ", sectionName: web"));
  ASSERT_NE(policyStatus(world), nullptr);
  EXPECT_EQ(config::statusJson(*policyStatus(world)),
            R"({"ancestors":[{"ancestorRef":{"group":"gateway.networking.k8s.io","kind":"Gateway",)"
            R"("namespace":"default","name":"egress","sectionName":"web"},)"
            R"("controllerName":"sluice.dev/egress-gateway","conditions":[{"type":"Accepted","status":"False",)"
            R"("reason":"Invalid","message":"kind: policies of this kind are not supported: its targets answer )"
            R"(500","observedGeneration":7}]}]})");
  EXPECT_FALSE(config::isHealthy(*policyStatus(world)));
}

TEST(PolicyStatus, IsWrittenForEveryKindOfTarget) {
  const std::string route = test::routeWithRules("rules: [{backendRefs: [{name: s, port: 80}]}]");
  for (const std::string& each : {target("Gateway", "egress"), target("HTTPRoute", "route"),
                                  target("Backend", "origin"), std::string("{group: '', kind: Service, name: s}")}) {
    const World world({kClass, kGateway, kBackend, kTargetService, route, closingPolicy(each)});
    EXPECT_EQ(policyAccepted(world), "False/Invalid") << each;
  }
}

TEST(PolicyStatus, ReportsAMissingTargetOrSection) {
  for (const std::string& each :
       {target("Gateway", "other"), target("Gateway", "egress", ", sectionName: other"), target("HTTPRoute", "other"),
        target("HTTPRoute", "route", ", sectionName: other"), target("Backend", "origin", ", sectionName: other"),
        std::string("{group: '', kind: Service, name: other}")}) {
    const World world = worldWithClosingPolicy(each);
    EXPECT_EQ(policyAccepted(world), "False/TargetNotFound") << each;
    EXPECT_EQ(world.outcome(), "default/origin") << each;
  }
  const World world = worldWithClosingPolicy(target("Backend", "origin", ", sectionName: other"));
  EXPECT_EQ(policyMessage(world),
            "spec.targetRefs[0]: Backend default/origin: it has no port with the name other; no requests are refused");
}

TEST(PolicyStatus, SaysWhatATargetOfAnUnknownKindCloses) {
  EXPECT_EQ(policyMessage(worldWithClosingPolicy(target("Gatewy", "egress"))),
            "spec.targetRefs[0].kind: Gatewy.gateway.networking.k8s.io is no kind that policies can be for; did you "
            "mean Gateway of gateway.networking.k8s.io?; every Gateway, route, Backend and Service of its namespace "
            "with the name egress answers 500");
  EXPECT_EQ(policyMessage(worldWithClosingPolicy(target("Gatewy", "egress", ", sectionName: web"))),
            "spec.targetRefs[0].kind: Gatewy.gateway.networking.k8s.io is no kind that policies can be for; did you "
            "mean Gateway of gateway.networking.k8s.io?; the section web of every Gateway, route, Backend and Service "
            "of its namespace with the name egress answers 500");
}

TEST(PolicyStatus, IsNotWrittenForWhatIsNotServedHere) {
  const std::string other =
      with(with(kClass, "sluice.dev/egress-gateway", "example.com/other"), "name: sluice", "name: other");
  const std::string theirs =
      with(with(kGateway, "name: egress", "name: theirs"), "gatewayClassName: sluice", "gatewayClassName: other");
  const std::string route = with(with(kRoute, "name: route", "name: routed"), "{name: egress}", "{name: theirs}");
  for (const std::string& each : {target("Gateway", "theirs"), target("HTTPRoute", "routed"),
                                  std::string("{group: '', kind: Service, name: s}"), target("TCPRoute", "t")}) {
    EXPECT_EQ(policyStatus(worldWithClosingPolicy(each, {other, theirs, route, kTargetService})), nullptr) << each;
  }
}

TEST(PolicyStatus, HasAnAncestorForEachSelectedObject) {
  const std::string policy =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p}\n"
      "spec: {targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}}]}\n";
  const std::string one = with(kRoute, "name: route,", "name: one, labels: {team: a},");
  const std::string two = with(kRoute, "name: route,", "name: two, labels: {team: b},");
  const World world({kClass, kGateway, kBackend, one, two, policy});
  const config::ObjectStatus* status = world.status("SecurityPolicy", "p");
  ASSERT_NE(status, nullptr);
  ASSERT_EQ(status->parents.size(), 1U);
  EXPECT_EQ(status->parents.front().parentRef.object.name, "one");
}

TEST(PolicyStatus, NamesAtMostSixteenAncestors) {
  std::string text(kClass);
  text += "---\n" + std::string(kGateway) + "---\n" + std::string(kBackend);
  for (int i = 0; i < 20; ++i) {
    text += "---\n" + with(kRoute, "name: route,", "name: r" + std::to_string(i) + ", labels: {team: a},");
  }
  const World world({text,
                     "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p}\n"
                     "spec: {targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}}]}\n"});
  ASSERT_NE(world.status("SecurityPolicy", "p"), nullptr);
  EXPECT_EQ(world.status("SecurityPolicy", "p")->parents.size(), 16U);
}

TEST(PolicyStatus, SaysWhyNothingIsRefusedForAPolicyWithoutALegibleTarget) {
  const World world = worldWithClosingPolicy("{group: gateway.networking.k8s.io, kind: HTTPRoute, nam: route}");
  EXPECT_EQ(policyAccepted(world), "False/Invalid");
  EXPECT_NE(policyMessage(world).find("its targets cannot be read, so no requests are refused for it"),
            std::string::npos);
  EXPECT_EQ(world.outcome(), "default/origin");
}

TEST(PolicyStatus, SaysThatThePreviousVersionCounts) {
  const World good = worldWithClosingPolicy(target("HTTPRoute", "route"));
  const World bad({kClass, kGateway, kBackend, kRoute, with(closingPolicy(""), "spec:", "specs:")}, &good);
  EXPECT_EQ(bad.outcome(), "500");
  EXPECT_NE(policyMessage(bad).find("its previous valid version serves on"), std::string::npos);
}

}  // namespace
}  // namespace sluice::compile
