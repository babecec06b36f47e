// Tests rules whose Backends have several endpoints: which endpoints get requests, in which order, and the effect of a
// broken endpoint.
#include "proxy/compile/routes/rule_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kRegions =
    "{fqdn: {hostname: eu.test, port: 8080}, weight: 3}, {fqdn: {hostname: us.test, port: 8080}, priority: 7}, "
    "{ip: {address: 192.0.2.1, port: 443}, tls: {mode: Simple}, weight: 1}";

std::string regional(std::string_view endpoints, const std::string& more = {}, const std::string& name = "regions") {
  return "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: " + name +
         "}\nspec: {destination: {type: Endpoints, endpoints: [" + std::string(endpoints) + "]}" + more + "}\n";
}
std::string regionalRef(const std::string& more = {}, const std::string& name = "regions") {
  return "{group: sluice.dev, kind: Backend, name: " + name + more + "}";
}
std::string originRef(const std::string& more = {}) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: origin" + more + "}";
}
World regionalWorld(const std::string& refs, std::string_view endpoints = kRegions, const std::string& policies = "{}",
                    const std::string& rule = {}) {
  return World({kClass, kGateway, kBackend, regional(endpoints),
                routeWithRules("rules: [{" + rule + "backendRefs: [" + refs + "]}]"), policies});
}
const routing::Rule& regionalRule(const World& world) { return *world.rule(test::RequestMaker("GET", "a.test", "/")); }

std::vector<std::string> authoritiesOf(const routing::Rule& rule) {
  std::vector<std::string> authorities;
  for (const routing::WeightedBackend& each : rule.backends) {
    authorities.push_back(each.backend ? each.backend->authority : "broken");
  }
  return authorities;
}
std::vector<std::uint32_t> prioritiesOf(const routing::Rule& rule) {
  std::vector<std::uint32_t> priorities;
  for (const routing::FailoverMember& each : rule.failover->members) priorities.push_back(each.priority);
  return priorities;
}
std::vector<std::uint32_t> weightsOf(const routing::Rule& rule) {
  std::vector<std::uint32_t> weights;
  for (const routing::FailoverMember& each : rule.failover->members) weights.push_back(each.weight);
  return weights;
}

TEST(RuleMembers, AreTheEndpointsOfABackendByPriorityAndWeight) {
  const World world = regionalWorld(regionalRef());
  const routing::Rule& rule = regionalRule(world);
  ASSERT_TRUE(rule.failover);
  EXPECT_THAT(authoritiesOf(rule), ElementsAre("eu.test:8080", "192.0.2.1", "us.test:8080"));
  EXPECT_THAT(prioritiesOf(rule), ElementsAre(0u, 0u, 1u));
  EXPECT_THAT(weightsOf(rule), ElementsAre(3u, 1u, 4u));
  EXPECT_EQ(rule.failover->usualWeight, 4u);
  EXPECT_EQ(rule.totalWeight, 4u);
  EXPECT_TRUE(rule.backends[1].backend->tls);
  EXPECT_FALSE(rule.backends[0].backend->tls);
  EXPECT_EQ(rule.failover->members[0].passive.errors, 5u) << "they rest by the defaults of a fail-over";
  EXPECT_EQ(rule.failover->longestRest, std::chrono::minutes(1));
}

TEST(RuleMembers, ShareTheWeightOfTheirBackendRef) {
  const World world = regionalWorld(regionalRef(", weight: 2") + ", " + originRef(", weight: 6"));
  const routing::Rule& rule = regionalRule(world);
  EXPECT_THAT(weightsOf(rule), ElementsAre(3u, 1u, 4u, 12u));
  EXPECT_THAT(prioritiesOf(rule), ElementsAre(0u, 0u, 1u, 0u));
}

TEST(RuleMembers, KeepTheirPrioritiesWithinThoseThatAPolicyGivesToTheirBackends) {
  const std::string policy =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: route}], failover: {maxRetryAfter: 3s, priorities: "
      "[{backendRef: " +
      originRef() + ", priority: 0}, {backendRef: " + regionalRef() + ", priority: 1}]}}\n";
  const World world = regionalWorld(regionalRef(", weight: 0") + ", " + originRef(), kRegions, policy);
  const routing::Rule& rule = regionalRule(world);
  EXPECT_THAT(prioritiesOf(rule), ElementsAre(1u, 1u, 2u, 0u));
  EXPECT_THAT(weightsOf(rule), ElementsAre(3u, 1u, 1u, 1u)) << "they stand by";
  EXPECT_EQ(rule.failover->longestRest, std::chrono::seconds(3));
}

TEST(RuleMembers, OfABackendWithoutWeightGetNoRequests) {
  const World world = regionalWorld(regionalRef(", weight: 0") + ", " + originRef());
  EXPECT_THAT(weightsOf(regionalRule(world)), ElementsAre(0u, 0u, 0u, 1u));
}

TEST(RuleMembers, OfABackendWithoutWeightDoNotStandByAtThePriorityOfAnotherThatHasOne) {
  const std::string policy =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: route}], failover: {priorities: [{backendRef: " +
      originRef() + ", priority: 0}, {backendRef: " + regionalRef() + ", priority: 0}]}}\n";
  const World world = regionalWorld(regionalRef(", weight: 0") + ", " + originRef(), kRegions, policy);
  EXPECT_THAT(weightsOf(regionalRule(world)), ElementsAre(0u, 0u, 0u, 1u));
}

TEST(RuleMembers, KeepTheProportionOfUnevenWeights) {
  std::string endpoints = "{fqdn: {hostname: a.test, port: 80}, weight: 1}";
  for (int i = 0; i < 15; ++i) {
    endpoints += ", {fqdn: {hostname: b" + std::to_string(i) + ".test, port: 80}, weight: 1000}";
  }
  const World world = regionalWorld(regionalRef(), endpoints);
  EXPECT_EQ(weightsOf(regionalRule(world)).at(0), 1u);
  EXPECT_EQ(weightsOf(regionalRule(world)).at(1), 1000u);
}

TEST(RuleMembers, AreBrokenByThemselves) {
  const World world = regionalWorld(regionalRef(),
                                    "{fqdn: {hostname: eu.test, port: 443}, tls: {caBundleRef: [{name: missing}]}}, "
                                    "{fqdn: {hostname: us.test, port: 80}}");
  EXPECT_THAT(authoritiesOf(regionalRule(world)), ElementsAre("broken", "us.test"));
  EXPECT_EQ(regionalRule(world).failover->usualWeight, 0u) << "the broken one is left out";
  EXPECT_THAT(world.condition("Backend", "regions", "ResolvedRefs"), StartsWith("False/"));
  EXPECT_THAT(world.condition("HTTPRoute", "route", "ResolvedRefs"), StartsWith("False/"));
}

TEST(RuleMembers, AreMeantByReferencesThatNameNoPort) {
  const World world = regionalWorld(regionalRef(", port: 8080"));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/BackendNotFound");
  EXPECT_THAT(world.message("HTTPRoute", "route", "ResolvedRefs"),
              HasSubstr("each of its endpoints has a port, so the reference must name none"));
}

TEST(RuleMembers, AreNoMoreThanARuleMayHave) {
  std::string endpoints;
  for (int i = 0; i < 16; ++i) {
    endpoints += (i > 0 ? ", " : "") + std::string("{fqdn: {hostname: a") + std::to_string(i) + ".test, port: 80}}";
  }
  std::string refs;
  for (int i = 0; i < 5; ++i) refs += (i > 0 ? ", " : "") + regionalRef();
  const World world = regionalWorld(refs, endpoints);
  EXPECT_TRUE(regionalRule(world).failure);
  EXPECT_TRUE(regionalRule(world).backends.empty());
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"),
              HasSubstr("rules[0].backendRefs: the Backends have 80 endpoints in all; a rule may have 64"));
}

TEST(RuleMembers, HaveSessionsOfTheirOwn) {
  const World world = regionalWorld(regionalRef() + ", " + originRef(), kRegions, "{}", "sessionPersistence: {}, ");
  const routing::Rule& rule = regionalRule(world);
  ASSERT_TRUE(rule.session);
  const std::set<std::uint64_t> shares(rule.session->shares.begin(), rule.session->shares.end());
  EXPECT_EQ(shares.size(), 4u);
}

TEST(Fallbacks, ComeAfterTheOtherBackendsOfTheirRules) {
  const auto backend = [](const std::string& name, const std::string& more) {
    return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {name: " + name +
           "}\nspec: {endpoints: [{fqdn: {hostname: " + name + ".test, port: 80}}]" + more + "}\n";
  };
  const auto ref = [](const std::string& name) {
    return "{group: gateway.envoyproxy.io, kind: Backend, name: " + name + "}";
  };
  const World world(
      {kClass, kGateway, backend("active", ""), backend("passive", ", fallback: true"),
       routeWithRules("rules: [{backendRefs: [" + ref("passive") + ", " + ref("active") +
                      "]}, {matches: [{path: {value: /alone}}], backendRefs: [" + ref("passive") + "]}]")});
  const routing::Rule& rule = regionalRule(world);
  ASSERT_TRUE(rule.failover);
  EXPECT_THAT(prioritiesOf(rule), ElementsAre(1u, 0u));
  const routing::Rule& alone = *world.rule(test::RequestMaker("GET", "a.test", "/alone"));
  EXPECT_FALSE(alone.failover) << "there is no other";
  EXPECT_EQ(alone.totalWeight, 1u);
  ASSERT_NE(world.status("Backend", "active"), nullptr);
  EXPECT_EQ(config::findCondition(world.status("Backend", "active")->conditions, "Available")->reason, "Available");
}

TEST(EndpointOutages, DegradeTheBackendAsLongAsOthersServe) {
  World world = regionalWorld(regionalRef());
  const auto fail = [&](const std::string& endpoint) {
    for (const BackendHealth& each : world.result().health) {
      if (each.endpoint != endpoint || each.reach == nullptr) continue;
      for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) {
        each.reach->onFailure(base::Error::upstream(base::ErrorType::kConnectionRefused, "connection refused"),
                              base::WallTime(std::chrono::hours(1)));
      }
      each.reach->announce(base::WallTime(std::chrono::hours(1)));
    }
    world.recompile();
  };
  EXPECT_EQ(world.condition("Backend", "regions", "Available"), "True/Available");
  fail("us.test:8080");
  fail("eu.test:8080");
  EXPECT_EQ(world.condition("Backend", "regions", "Available"), "True/Available");
  EXPECT_EQ(world.condition("Backend", "regions", "Degraded"), "True/Unreachable");
  EXPECT_THAT(world.message("Backend", "regions", "Degraded"), HasSubstr("us.test:8080 takes no connections"));
  fail("192.0.2.1:443");
  EXPECT_EQ(world.condition("Backend", "regions", "Available"), "False/Unreachable");
  EXPECT_EQ(world.condition("Backend", "regions", "Degraded"), "");
}

}  // namespace
}  // namespace sluice::compile
