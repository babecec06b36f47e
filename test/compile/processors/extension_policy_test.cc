// Tests the compilation of extension policies: which policy takes effect for a rule, which steps it runs there, and its
// conditions.
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
using test::routeWithRules;
using test::ruleSteps;
using test::with;
using test::World;
using testing::HasSubstr;

constexpr const char* kGuards = R"(
apiVersion: v1
kind: Service
metadata: {name: guard}
spec: {ports: [{port: 9002}]}
)";
constexpr const char* kTwoRules =
    "rules: [{name: main, matches: [{path: {value: /main}}], backendRefs: [{group: gateway.networking.k8s.io, kind: "
    "Backend, name: origin, port: 8080}]}, {backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
    "origin, port: 8080}]}]";

/// Returns a policy with `count` external processors.
std::string extensionPolicy(const std::string& name, const std::string& target, int count = 1,
                            const std::string& fields = {}, const std::string& more = {}) {
  std::string text =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyExtensionPolicy\nmetadata: {name: " + name +
      ", generation: 8}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, " + target + "}]\n" + more +
      "  extProc: [";
  for (int i = 0; i < count; ++i) text += "{backendRefs: [{name: guard, port: 9002}]" + fields + "}, ";
  return text + "]\n";
}

World worldWithPolicies(const std::vector<std::string>& policies, const std::string& gateway = std::string(kGateway)) {
  const std::string route = routeWithRules(kTwoRules);
  std::vector<std::string_view> documents = {kClass, gateway, kBackend, kGuards, route};
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents, nullptr, test::typesWithServers());
}

constexpr const char* kWholeGateway = "kind: Gateway, name: egress";
constexpr const char* kWholeRoute = "kind: HTTPRoute, name: route";
constexpr const char* kMainRule = "kind: HTTPRoute, name: route, sectionName: main";

std::string acceptance(const World& world, const std::string& name = "p") {
  return world.condition("EnvoyExtensionPolicy", name, "Accepted");
}

TEST(ExtensionPolicy, RunsInEveryRuleOfWhatItNames) {
  for (const char* target : {kWholeGateway, "kind: Gateway, name: egress, sectionName: web", kWholeRoute}) {
    const World world = worldWithPolicies({extensionPolicy("p", target, 2)});
    EXPECT_EQ(ruleSteps(world), "ext-proc-0;ext-proc-1;") << target;
    EXPECT_EQ(ruleSteps(world, "a.test", "/main"), "ext-proc-0;ext-proc-1;") << target;
    EXPECT_EQ(acceptance(world), "True/Accepted") << target;
    EXPECT_TRUE(config::isHealthy(*world.status("EnvoyExtensionPolicy", "p"))) << target;
  }
  const World rule = worldWithPolicies({extensionPolicy("p", kMainRule)});
  EXPECT_EQ(ruleSteps(rule), "");
  EXPECT_EQ(ruleSteps(rule, "a.test", "/main"), "ext-proc-0;");
}

TEST(ExtensionPolicy, GivesWayToAMoreSpecificOneOfTheSameOwner) {
  const std::string ofGateway = extensionPolicy("gateway", kWholeGateway, 1);
  const std::string ofListener = extensionPolicy("listener", "kind: Gateway, name: egress, sectionName: web", 2);
  const std::string ofRoute = extensionPolicy("route", kWholeRoute, 3);
  const std::string ofRule = extensionPolicy("rule", kMainRule, 0);
  const auto stepsIn = [](const std::vector<std::string>& policies) {
    const World world = worldWithPolicies(policies);
    for (const char* name : {"gateway", "listener", "route", "rule"}) {
      if (world.status("EnvoyExtensionPolicy", name) == nullptr) continue;
      EXPECT_EQ(acceptance(world, name), "True/Accepted") << name;
    }
    return std::pair(ruleSteps(world), ruleSteps(world, "a.test", "/main"));
  };
  EXPECT_EQ(stepsIn({ofGateway, ofListener}).first, "ext-proc-0;ext-proc-1;");
  EXPECT_EQ(stepsIn({ofRoute, ofRule}), std::pair(std::string("ext-proc-0;ext-proc-1;ext-proc-2;"), std::string()));
}

// A user who may write a route and a policy for it must not be able to remove steps that the owner of the Gateway
// demands for all requests.
TEST(ExtensionPolicy, OfARouteAddsToThatOfItsGateway) {
  const std::string ofGateway = extensionPolicy("gateway", kWholeGateway, 1);
  const std::string ofListener = extensionPolicy("listener", "kind: Gateway, name: egress, sectionName: web", 2);
  const std::string ofRoute = extensionPolicy("route", kWholeRoute, 3);
  const std::string ofRule = extensionPolicy("rule", kMainRule, 0);
  const std::string three = "ext-proc-0;ext-proc-1;ext-proc-2;";
  const auto stepsIn = [](const std::vector<std::string>& policies) {
    const World world = worldWithPolicies(policies);
    return std::pair(ruleSteps(world), ruleSteps(world, "a.test", "/main"));
  };
  EXPECT_EQ(stepsIn({ofGateway, ofRoute}).first, "ext-proc-0;" + three);
  EXPECT_EQ(stepsIn({ofListener, ofRoute}).first, "ext-proc-0;ext-proc-1;" + three);
  EXPECT_EQ(stepsIn({ofGateway, ofRoute, ofRule}), std::pair("ext-proc-0;" + three, std::string("ext-proc-0;")));
  EXPECT_EQ(stepsIn({ofListener, ofRule}),
            std::pair(std::string("ext-proc-0;ext-proc-1;"), std::string("ext-proc-0;ext-proc-1;")));
}

TEST(ExtensionPolicy, IsConflictedByAnOlderOneForTheSame) {
  const World world = worldWithPolicies({extensionPolicy("b", kWholeRoute, 2), extensionPolicy("a", kWholeRoute, 1)});
  EXPECT_EQ(ruleSteps(world), "ext-proc-0;");
  EXPECT_EQ(acceptance(world, "a"), "True/Accepted");
  EXPECT_EQ(acceptance(world, "b"), "False/Conflicted");
  EXPECT_THAT(world.message("EnvoyExtensionPolicy", "b", "Accepted"), HasSubstr("EnvoyExtensionPolicy default/a"));
}

TEST(ExtensionPolicy, WithoutATimeIsTheYounger) {
  const std::string dated = with(extensionPolicy("b", kWholeRoute, 2), "generation: 8",
                                 "generation: 8, creationTimestamp: '2025-01-01T00:00:00Z'");
  const World world = worldWithPolicies({extensionPolicy("a", kWholeRoute, 1), dated});
  EXPECT_EQ(ruleSteps(world), "ext-proc-0;ext-proc-1;");
  EXPECT_EQ(acceptance(world, "a"), "False/Conflicted");
}

TEST(ExtensionPolicy, SelectsObjectsByTheirLabels) {
  const std::string policy = with(extensionPolicy("p", kWholeRoute),
                                  "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}]",
                                  "targetSelectors: [{kind: Gateway, matchLabels: {a: b}}]");
  EXPECT_EQ(ruleSteps(worldWithPolicies({policy})), "");
  const World world = worldWithPolicies({policy}, with(kGateway, "name: egress,", "name: egress, labels: {a: b},"));
  EXPECT_EQ(ruleSteps(world), "ext-proc-0;");
  EXPECT_EQ(acceptance(world), "True/Accepted");
}

TEST(ExtensionPolicy, ClosesRulesWithoutItsServerUnlessItFailsOpen) {
  for (const char* target : {kWholeGateway, kWholeRoute}) {
    const std::string closed = with(extensionPolicy("p", target), "name: guard", "name: absent");
    const World refusing = worldWithPolicies({closed});
    EXPECT_EQ(refusing.outcome(), "500") << target;
    EXPECT_EQ(acceptance(refusing), "True/Accepted") << target;
    EXPECT_EQ(refusing.condition("EnvoyExtensionPolicy", "p", "Degraded"), "True/BackendNotFound") << target;
    EXPECT_EQ(refusing.condition("EnvoyExtensionPolicy", "p", "extension.sluice.dev/ext-proc-0"),
              "False/BackendNotFound")
        << target;
    const World open = worldWithPolicies({with(closed, "port: 9002}]", "port: 9002}], failOpen: true")});
    EXPECT_EQ(open.outcome(), "default/origin") << target;
    EXPECT_EQ(ruleSteps(open), "") << target;
    EXPECT_EQ(open.condition("EnvoyExtensionPolicy", "p", "Degraded"), "True/BackendNotFound") << target;
  }
}

TEST(ExtensionPolicy, OfAGatewayClosesRulesThatHaveTheirOwnToo) {
  const World world = worldWithPolicies(
      {with(extensionPolicy("p", kWholeGateway), "name: guard", "name: absent"), extensionPolicy("own", kMainRule)});
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.outcome("a.test", "/main"), "500");
  EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "True/BackendNotFound");
}

TEST(ExtensionPolicy, ClosesRulesIfItHasExtensionsOfOtherTypes) {
  for (const char* target : {kWholeGateway, kWholeRoute}) {
    const World world =
        worldWithPolicies({extensionPolicy("p", target, 1, ", failOpen: true", "  wasm: [{name: w}]\n")});
    EXPECT_EQ(world.outcome(), "500") << target;
    EXPECT_EQ(acceptance(world), "False/UnsupportedValue") << target;
    EXPECT_THAT(world.message("EnvoyExtensionPolicy", "p", "Accepted"), HasSubstr("spec.wasm")) << target;
  }
}

TEST(ExtensionPolicy, ClosesRulesIfItsSchemaRefusesIt) {
  for (const char* target : {kWholeGateway, kWholeRoute}) {
    const World world = worldWithPolicies({extensionPolicy("p", target, 1, {}, "  surprise: 1\n")});
    EXPECT_EQ(world.outcome(), "500") << target;
    EXPECT_EQ(acceptance(world), "False/Invalid") << target;
  }
}

TEST(ExtensionPolicy, ReportsATargetThatIsNotThere) {
  for (const char* target : {"kind: Gateway, name: other", "kind: HTTPRoute, name: route, sectionName: other"}) {
    const World world = worldWithPolicies({extensionPolicy("p", target)});
    EXPECT_EQ(world.outcome(), "default/origin") << target;
    EXPECT_EQ(acceptance(world), "False/TargetNotFound") << target;
  }
}

TEST(ExtensionPolicy, TakesAGrantToServersOfOtherNamespaces) {
  const std::string policy = with(extensionPolicy("p", kWholeRoute), "name: guard", "name: guard, namespace: guards");
  const std::string server = with(kGuards, "name: guard", "name: guard, namespace: guards");
  EXPECT_EQ(worldWithPolicies({policy, server}).condition("EnvoyExtensionPolicy", "p", "Degraded"),
            "True/RefNotPermitted");
  const World granted = worldWithPolicies(
      {policy, server,
       "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: guards}\nspec:\n"
       "  from: [{group: gateway.envoyproxy.io, kind: EnvoyExtensionPolicy, namespace: default}]\n"
       "  to: [{group: '', kind: Service}]\n"});
  EXPECT_EQ(granted.outcome(), "default/origin");
  EXPECT_EQ(ruleSteps(granted), "ext-proc-0;");
}

}  // namespace
}  // namespace sluice::compile
