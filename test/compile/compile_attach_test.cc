// Tests which listeners accept which routes, and the statuses of the routes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::RequestMaker;
using test::with;
using test::World;
using ::testing::HasSubstr;

constexpr std::string_view kOld = "2024-01-01T00:00:00Z";
constexpr std::string_view kNew = "2025-01-01T00:00:00Z";

std::string gatewayFrom(std::string_view namespaces) {
  return gatewayWith("{name: web, protocol: HTTP, port: 80, allowedRoutes: {namespaces: " + std::string(namespaces) +
                     "}}");
}

std::string routeInNamespace(std::string_view nameSpace) {
  return with(with(kRoute, "{name: route,", "{name: route, namespace: " + std::string(nameSpace) + ","),
              "[{name: egress}]", "[{name: egress, namespace: default}]");
}

/// Returns a route of `kind` with this name, age and hostname. An empty hostname means that it has none.
std::string aged(const std::string& kind, const std::string& name, std::string_view created,
                 const std::string& hostname) {
  std::string text = with(kRoute, "kind: HTTPRoute", "kind: " + kind);
  text = with(text, "{name: route,", "{name: " + name + ", creationTimestamp: '" + std::string(created) + "',");
  return hostname.empty() ? text : with(text, "spec:", "spec:\n  hostnames: ['" + hostname + "']");
}

// Tests of namespaces.

TEST(AllowedRoutes, SelectorAcceptsRoutesOfTheSelectedNamespaces) {
  const std::string gateway = gatewayFrom("{from: Selector, selector: {matchLabels: {egress: 'yes'}}}");
  const std::string labelled = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {egress: 'yes'}}\n";
  const std::string other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {egress: 'no'}}\n";
  const World selected({kClass, gateway, labelled, routeInNamespace("team")});
  EXPECT_EQ(selected.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(selected.listenerStatus("egress", "web")->attachedRoutes, 1);
  for (const std::string& without : {other, std::string(kBackend)}) {
    const World refused({kClass, gateway, without, routeInNamespace("team")});
    EXPECT_EQ(refused.condition("HTTPRoute", "route", "Accepted"), "False/NotAllowedByListeners");
    EXPECT_EQ(refused.listenerStatus("egress", "web")->attachedRoutes, 0);
    EXPECT_EQ(refused.outcome(), "404");
  }
}

TEST(AllowedRoutes, SelectorFindsNamespacesByTheirNames) {
  const std::string gateway = gatewayFrom(
      "{from: Selector, selector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, "
      "values: [team]}]}}");
  EXPECT_EQ(World({kClass, gateway, routeInNamespace("team")}).condition("HTTPRoute", "route", "Accepted"),
            "True/Accepted");
  EXPECT_EQ(World({kClass, gateway, routeInNamespace("other")}).condition("HTTPRoute", "route", "Accepted"),
            "False/NotAllowedByListeners");
}

TEST(AllowedRoutes, SameAcceptsOneNamespaceAndAllAcceptsEvery) {
  EXPECT_EQ(World({kClass, gatewayFrom("{from: Same}"), routeInNamespace("team")})
                .condition("HTTPRoute", "route", "Accepted"),
            "False/NotAllowedByListeners");
  EXPECT_EQ(
      World({kClass, gatewayFrom("{from: All}"), routeInNamespace("team")}).condition("HTTPRoute", "route", "Accepted"),
      "True/Accepted");
}

// Tests of kinds of routes.

TEST(AllowedRoutes, KindsAcceptTheRoutesThatTheyName) {
  const std::string gateway = gatewayWith(
      "{name: rpc, protocol: HTTP, port: 80, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}, {name: web, protocol: HTTP, "
      "port: 81, allowedRoutes: {kinds: [{kind: HTTPRoute}, {group: other.dev, kind: GRPCRoute}]}}");
  const World world({kClass, gateway, kBackend, kRoute, aged("GRPCRoute", "rpc", kOld, "")});
  EXPECT_EQ(world.listenerStatus("egress", "rpc")->attachedRoutes, 1);
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
  EXPECT_EQ(world.listenerStatus("egress", "rpc")->supportedKinds.front().kind, "GRPCRoute");
  EXPECT_EQ(world.listenerStatus("egress", "web")->supportedKinds.size(), 1U);
  EXPECT_EQ(world.listenerCondition("egress", "web", "ResolvedRefs"), "False/InvalidRouteKinds");
  EXPECT_TRUE(world.rule(RequestMaker("POST", "a.test", "/a/b"), 80)->grpc);
  EXPECT_FALSE(world.rule(RequestMaker("POST", "a.test", "/a/b"), 81)->grpc);
}

// Tests of parentRefs.

TEST(ParentRefs, SelectListenersByNameAndPort) {
  const std::string gateway = gatewayWith(
      "{name: a, protocol: HTTP, port: 80}, {name: b, protocol: HTTP, port: 81}, {name: c, protocol: HTTP, port: 81, "
      "hostname: c.test}");
  const auto attached = [&](const std::string& parent) {
    const World world({kClass, gateway, kBackend, with(kRoute, "{name: egress}", "{name: egress" + parent + "}")});
    std::string names;
    for (const char* name : {"a", "b", "c"}) {
      if (world.listenerStatus("egress", name)->attachedRoutes == 1) names += name;
    }
    return names + " " + world.condition("HTTPRoute", "route", "Accepted");
  };
  EXPECT_EQ(attached(""), "abc True/Accepted");
  EXPECT_EQ(attached(", port: 81"), "bc True/Accepted");
  EXPECT_EQ(attached(", sectionName: b"), "b True/Accepted");
  EXPECT_EQ(attached(", sectionName: c, port: 81"), "c True/Accepted");
  EXPECT_EQ(attached(", sectionName: c, port: 80"), " False/NoMatchingParent");
  EXPECT_EQ(attached(", port: 82"), " False/NoMatchingParent");
}

TEST(ParentRefs, EachHaveTheirStatusAsWrittenAndInOrder) {
  const World world({kClass, kGateway, with(kGateway, "name: egress", "name: other"), kBackend,
                     with(kRoute, "[{name: egress}]",
                          "[{name: other, port: 9}, {name: egress, namespace: default, sectionName: web}, {group: '', "
                          "kind: Service, name: mesh}, {name: absent}]")});
  const auto& parents = world.status("HTTPRoute", "route")->parents;
  ASSERT_EQ(parents.size(), 3U) << "a Service is a mesh's to speak of";
  EXPECT_EQ(parents[0].parentRef.object.name, "other");
  EXPECT_EQ(parents[0].parentRef.object.nameSpace, "");
  EXPECT_EQ(parents[0].parentRef.port, 9);
  EXPECT_EQ(parents[1].parentRef.object.nameSpace, "default");
  EXPECT_EQ(parents[1].parentRef.sectionName, "web");
  EXPECT_EQ(parents[2].parentRef.object.name, "absent");
  EXPECT_EQ(config::findCondition(parents[1].conditions, "Accepted")->reason, "Accepted");
  EXPECT_EQ(config::findCondition(parents[2].conditions, "Accepted")->reason, "NoMatchingParent");
  for (const config::ParentStatus& parent : parents) {
    for (const config::Condition& each : parent.conditions) EXPECT_EQ(each.observedGeneration, 6);
  }
}

TEST(ParentRefs, CountAnAcceptedRouteAtAListenerThatIsNotAccepted) {
  const World world({kClass,
                     gatewayWith("{name: web, protocol: HTTP, port: 80}, {name: tls, protocol: HTTPS, port: 443, tls: "
                                 "{options: {a: b}}}"),
                     kBackend, kRoute});
  EXPECT_EQ(world.listenerCondition("egress", "tls", "Accepted"), "False/UnsupportedValue");
  EXPECT_EQ(world.listenerStatus("egress", "tls")->attachedRoutes, 1);
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
}

TEST(ParentRefs, ReportAPartiallyInvalidRouteOnlyWhereItIsAccepted) {
  const World world(
      {kClass, kGateway, kBackend,
       with(with(kRoute, "{name: egress}", "{name: egress}, {name: absent}"), "rules: [{",
            "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: a.b, kind: C, name: d}}]}, {")});
  const auto& parents = world.status("HTTPRoute", "route")->parents;
  ASSERT_EQ(parents.size(), 2U);
  EXPECT_NE(config::findCondition(parents[0].conditions, "PartiallyInvalid"), nullptr);
  EXPECT_EQ(config::findCondition(parents[1].conditions, "PartiallyInvalid"), nullptr);
}

// Tests that a hostname belongs to only one kind of route (GRPCRouteSpec.hostnames).

TEST(HostnameConflict, IsWonByTheOlderRoute) {
  for (const auto& [http, grpc] : {std::pair(kOld, kNew), std::pair(kNew, kOld)}) {
    const World world({kClass, kGateway, kBackend, aged("HTTPRoute", "web", http, "*.a.test"),
                       aged("GRPCRoute", "rpc", grpc, "x.a.test")});
    const bool httpWins = http == kOld;
    EXPECT_EQ(world.condition("HTTPRoute", "web", "Accepted"), httpWins ? "True/Accepted" : "False/HostnameConflict");
    EXPECT_EQ(world.condition("GRPCRoute", "rpc", "Accepted"), httpWins ? "False/HostnameConflict" : "True/Accepted");
    EXPECT_THAT(world.message(httpWins ? "GRPCRoute" : "HTTPRoute", httpWins ? "rpc" : "web", "Accepted"),
                HasSubstr(httpWins ? "HTTPRoute default/web has the hostname *.a.test on listener web, and a hostname "
                                     "serves one kind only: give this GRPCRoute other hostnames"
                                   : "GRPCRoute default/rpc has the hostname x.a.test on listener web"));
    EXPECT_EQ(world.rule(RequestMaker("POST", "x.a.test", "/a/b"))->grpc, !httpWins);
    EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
  }
}

TEST(HostnameConflict, IsWonByTheFirstNameAmongRoutesOfOneAge) {
  const World world({kClass, kGateway, kBackend, aged("HTTPRoute", "b", kOld, ""), aged("GRPCRoute", "a", kOld, "")});
  EXPECT_EQ(world.condition("GRPCRoute", "a", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("HTTPRoute", "b", "Accepted"), "False/HostnameConflict");
  EXPECT_THAT(world.message("HTTPRoute", "b", "Accepted"),
              HasSubstr(": GRPCRoute default/a has all hostnames on listener web, and a hostname serves one kind only: "
                        "give this HTTPRoute hostnames, or another listener"));
}

TEST(HostnameConflict, IsWonByTheHttpRouteAmongRoutesWithoutATime) {
  const auto undated = [](const std::string& kind, const std::string& name) {
    return with(with(kRoute, "kind: HTTPRoute", "kind: " + kind), "{name: route,", "{name: " + name + ",");
  };
  const std::string call = with(undated("GRPCRoute", "a"), "spec:", "spec:\n  hostnames: [x.a.test]");
  const World world({kClass, kGateway, kBackend, call, undated("HTTPRoute", "b")});
  EXPECT_EQ(world.condition("HTTPRoute", "b", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("GRPCRoute", "a", "Accepted"), "False/HostnameConflict");
  EXPECT_THAT(
      world.message("GRPCRoute", "a", "Accepted"),
      HasSubstr("HTTPRoute default/b has all hostnames on listener web, and a hostname serves one kind only: give this "
                "GRPCRoute other hostnames, or another listener; without times of creation an HTTPRoute goes before a "
                "GRPCRoute, but in a cluster the older route does"));
  EXPECT_EQ(world.outcome("x.a.test"), "default/origin");
}

TEST(HostnameConflict, RequiresACommonHostAndAListener) {
  const World apart({kClass, kGateway, kBackend, aged("HTTPRoute", "web", kOld, "a.test"),
                     aged("GRPCRoute", "rpc", kNew, "*.a.test")});
  EXPECT_EQ(apart.condition("GRPCRoute", "rpc", "Accepted"), "True/Accepted");
  const std::string two = gatewayWith("{name: web, protocol: HTTP, port: 80}, {name: rpc, protocol: HTTP, port: 81}");
  const std::string old = with(kRoute, "name: route,", "name: route, creationTimestamp: '" + std::string(kOld) + "',");
  const World listeners({kClass, two, kBackend, with(old, "{name: egress}", "{name: egress, sectionName: web}"),
                         aged("GRPCRoute", "rpc", kNew, "")});
  EXPECT_EQ(listeners.condition("GRPCRoute", "rpc", "Accepted"), "True/Accepted") << "one listener took it";
  EXPECT_NE(listeners.message("GRPCRoute", "rpc", "Accepted").find("listener web"), std::string::npos)
      << "and the other is spoken of";
}

// Tests of routes with equal matches.

TEST(EqualMatch, IsWonByTheOlderRouteAndReportedToTheOther) {
  const World world(
      {kClass, kGateway, kBackend, aged("HTTPRoute", "old", kOld, "a.test"), aged("HTTPRoute", "new", kNew, "a.test")});
  EXPECT_EQ(world.condition("HTTPRoute", "new", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.message("HTTPRoute", "new", "Accepted"),
            "spec.rules[0].matches[0]: for a.test the same match of HTTPRoute default/old comes first on listener web "
            "and takes "
            "its requests");
  EXPECT_EQ(world.message("HTTPRoute", "old", "Accepted"), "");
  EXPECT_EQ(world.rule(RequestMaker("GET", "a.test", "/"))->route, "default/old");
}

TEST(EqualMatch, IsReportedABoundedNumberOfTimes) {
  std::string matches;
  for (int i = 0; i < 20; ++i) matches += "{path: {value: /" + std::to_string(i) + "}}, ";
  const std::string route = with(kRoute, "rules: [{", "rules: [{matches: [" + matches + "], ");
  const World world({kClass, kGateway, kBackend, route, with(route, "name: route,", "name: second,")});
  const std::string message = world.message("HTTPRoute", "second", "Accepted");
  EXPECT_NE(message.find("matches[2]"), std::string::npos);
  EXPECT_EQ(message.find("matches[3]"), std::string::npos);
  EXPECT_NE(message.find("and more"), std::string::npos);
}

}  // namespace
}  // namespace sluice::compile
