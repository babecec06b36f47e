// Tests credentials that a PayloadProcessor of a Gateway adds to requests. Whether they are added depends on the
// Backend.
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
using test::RequestMaker;
using test::stepNames;
using test::with;
using test::World;
using testing::HasSubstr;
using testing::Not;

const std::string kPlain(kBackend);
const std::string kSecure =
    with(with(kBackend, "name: origin,", "name: secure,"), "spec: {", "spec: {tls: {mode: Terminate}, ");
const std::string kToken = test::secret("token", {{"key", "value"}});

std::string credentialBackend(const std::string& name) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name + ", port: 8080}";
}
std::string ruleFor(const std::string& path, const std::string& refs) {
  return "{matches: [{path: {value: " + path + "}}], backendRefs: [" + refs + "]}, ";
}
const std::string kRules = "rules: [" + ruleFor("/secure", credentialBackend("secure")) +
                           ruleFor("/plain", credentialBackend("origin")) +
                           ruleFor("/both", credentialBackend("secure") + ", " + credentialBackend("origin")) + "]";

std::string credential(const std::string& more = {}, const std::string& spec = {}) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n" + spec +
         "  targetRef: {kind: Gateway, name: egress}\n  processors: [{name: c, type: 'sluice.dev/Test:v1', phase: "
         "request-headers, config: {secret: token}" +
         more + "}]\n";
}

World worldWith(const std::string& processor, const std::string& rules = kRules) {
  const std::string route = test::routeWithRules(rules);
  return World({kClass, kGateway, kPlain, kSecure, kToken, processor, route}, nullptr, test::processorTypes());
}

routing::RouteMatch matchAt(const World& world, const std::string& path) {
  return routing::routesOf(world.bind(80)->service).match(RequestMaker("GET", "a.test", path).head());
}
std::string useCondition(const World& world) {
  return world.condition("PayloadProcessor", "p", "extension.sluice.dev/c");
}

TEST(GatewayCredential, IsGivenToRequestsThatLeadToTls) {
  const World world = worldWith(credential(), "rules: [" + ruleFor("/secure", credentialBackend("secure")) + "]");
  EXPECT_EQ(world.outcome("a.test", "/secure"), "default/secure");
  EXPECT_EQ(stepNames(matchAt(world, "/secure").rule->chain.get()), "c;");
  EXPECT_EQ(useCondition(world), "");
  EXPECT_EQ(world.condition("PayloadProcessor", "p", "Degraded"), "");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Degraded"), "");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "PartiallyInvalid"), "");
}

TEST(GatewayCredential, RefusesOnlyWhatLeadsOutWithoutTls) {
  const World world = worldWith(credential());
  EXPECT_EQ(world.outcome("a.test", "/secure"), "default/secure");
  EXPECT_EQ(stepNames(matchAt(world, "/secure").rule->chain.get()), "c;");
  EXPECT_EQ(world.outcome("a.test", "/plain"), "500");
  const routing::Rule& both = *matchAt(world, "/both").rule;
  EXPECT_EQ(stepNames(both.chain.get()), "c;");
  EXPECT_FALSE(both.backends[0].failure);
  ASSERT_TRUE(both.backends[1].failure);
  EXPECT_EQ(both.backends[1].failure->status, 500);
  EXPECT_EQ(both.backends[1].backend, nullptr);
  EXPECT_EQ(useCondition(world), "False/InsecureCredential");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  const std::string message = world.message("HTTPRoute", "route", "PartiallyInvalid");
  EXPECT_THAT(message, HasSubstr("spec.rules[1]: PayloadProcessor default/p: "));
  EXPECT_THAT(message, HasSubstr("spec.rules[2]: PayloadProcessor default/p: "));
  EXPECT_THAT(message, Not(HasSubstr("spec.rules[0]")));
  EXPECT_EQ(world.listenerCondition("egress", "web", "Degraded"), "") << "other routes are served";
}

TEST(GatewayCredential, LeavesWhatLeadsOutWithoutTlsOutOfHealthChecksAndOfTheUsualChoice) {
  const std::string policy =
      "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: t}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: route}], failover: {}, healthCheck: {active: {type: TCP}}}\n";
  const World world = worldWith(credential() + policy);
  const routing::Rule& both = *matchAt(world, "/both").rule;
  ASSERT_TRUE(both.failover);
  EXPECT_EQ(both.failover->usualWeight, 0u) << "one of them is broken";
  ASSERT_EQ(both.healthChecks.size(), 2u);
  EXPECT_NE(both.healthChecks[0], nullptr);
  EXPECT_EQ(both.healthChecks[1], nullptr);
  ASSERT_EQ(world.snapshot().checked.size(), 1u);
  EXPECT_EQ(world.snapshot().checked[0].backend->name, "default/secure");
}

TEST(GatewayCredential, IsLeftOutOfRulesThatLeadOutWithoutTlsIfItFailsOpen) {
  const World world = worldWith(credential(", failOpen: true"));
  EXPECT_EQ(stepNames(matchAt(world, "/secure").rule->chain.get()), "c;");
  EXPECT_EQ(world.outcome("a.test", "/plain"), "default/origin");
  EXPECT_EQ(stepNames(matchAt(world, "/plain").rule->chain.get()), "");
  EXPECT_EQ(stepNames(matchAt(world, "/both").rule->chain.get()), "");
  EXPECT_FALSE(matchAt(world, "/both").rule->backends[1].failure);
  EXPECT_EQ(useCondition(world), "False/InsecureCredential");
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"), HasSubstr("fails open and is left out"));
}

TEST(GatewayCredential, ComesAndGoesWithTheRuleAndBeforeTheStepsOfTheRoute) {
  const std::string inlined = with(kRules, "{matches:",
                                   "{filters: [{type: PayloadProcessing, payloadProcessing: [{name: own, "
                                   "type: 'sluice.dev/Test:v1', phase: request-headers}]}], matches:");
  const World world = worldWith(credential(), inlined);
  const routing::RouteMatch match = matchAt(world, "/secure");
  EXPECT_EQ(stepNames(match.rule->chain.get()), "c;own;");
  EXPECT_EQ(match.rule->chain->all().front().scope, processing::Scope::kRoute);
  EXPECT_EQ(match.listener->chain, nullptr);
}

TEST(GatewayCredential, IsRefusedEverywhereIfItCannotRunAtAll) {
  const World world = worldWith(with(credential(), "secret: token", "secret: absent"));
  EXPECT_EQ(stepNames(matchAt(world, "/secure").listener->chain.get()), "InvalidSecretRef;")
      << "it refuses every request";
  EXPECT_EQ(world.listenerCondition("egress", "web", "Degraded"), "True/InvalidSecretRef");
}

TEST(GatewayCredential, BeforeRoutingRefusesWhatLeadsOutWithoutTls) {
  const World world = worldWith(credential("", "  phase: PreRouting\n"));
  EXPECT_EQ(stepNames(matchAt(world, "/secure").listener->preRouting.get()), "c;");
  EXPECT_EQ(stepNames(matchAt(world, "/secure").rule->chain.get()), "");
  EXPECT_EQ(world.outcome("a.test", "/secure"), "default/secure");
  EXPECT_EQ(world.outcome("a.test", "/plain"), "500");
  const World open = worldWith(credential(", failOpen: true", "  phase: PreRouting\n"));
  EXPECT_EQ(matchAt(open, "/secure").listener->preRouting, nullptr) << "no rule is known then";
  EXPECT_EQ(open.outcome("a.test", "/plain"), "default/origin");
  EXPECT_EQ(useCondition(open), "False/InsecureCredential");
}

TEST(GatewayCredential, MayGoToServicesOfTheClusterWithoutTls) {
  const std::string service =
      "apiVersion: v1\nkind: Service\nmetadata: {name: inside}\nspec: {ports: [{port: 8080}]}\n";
  const std::string route = test::routeWithRules("rules: [{backendRefs: [{name: inside, port: 8080}]}]");
  const World world({kClass, kGateway, service, kToken, credential(), route}, nullptr, test::processorTypes());
  EXPECT_EQ(stepNames(matchAt(world, "/").rule->chain.get()), "c;");
  EXPECT_FALSE(matchAt(world, "/").rule->backends[0].failure);
}

}  // namespace
}  // namespace sluice::compile
