// Tests many matches with many hostnames at many listeners: which parts they share, and the limit of one route.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/compile/compile_world.h"

namespace sluice::compile::test {
namespace {

using testing::HasSubstr;

std::string classWithLimit(int matches) {
  return with(kClass, "spec: {",
              "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ") +
         "---\n" + configMap("settings", "settings.yaml", "limits: {matches: " + std::to_string(matches) + "}");
}

/// Returns kGateway with this number of listeners, which differ by hostname.
std::string gatewayOfListeners(int count) {
  std::string listeners = "{name: web, protocol: HTTP, port: 80}";
  for (int i = 1; i < count; ++i) {
    listeners += ", {name: web" + std::to_string(i) + ", protocol: HTTP, port: 80, hostname: '*.l" + std::to_string(i) +
                 ".test'}";
  }
  return gatewayWith(listeners);
}

/// Returns kRoute with these hostnames and a rule of two matches.
std::string routeOfTwoMatches(const std::string& name, const std::string& hostnames) {
  const std::string rules =
      "rules:\n  - matches: [{path: {value: /a}}, {path: {value: /b}}]\n    backendRefs: [{group: "
      "gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]";
  return with(with(routeWithRules(rules), "name: route", "name: " + name), "spec:", "spec:\n  hostnames: " + hostnames);
}

TEST(CompileMatches, HostnamesAndListenersShareThem) {
  const std::string route = routeOfTwoMatches("route", "[x.l1.test, y.l1.test, x.l2.test, a.test]");
  const World world({kClass, gatewayOfListeners(3), kBackend, route});
  EXPECT_EQ(world.outcome("x.l1.test", "/a"), "default/origin");
  EXPECT_EQ(world.outcome("x.l2.test", "/b"), "default/origin");
  EXPECT_EQ(world.outcome("a.test", "/b/c"), "default/origin");
  const auto* const first = world.rule(RequestMaker("GET", "x.l1.test", "/a"));
  EXPECT_EQ(world.rule(RequestMaker("GET", "a.test", "/b")), first);
}

TEST(CompileMatches, ARouteWithTooManyEntriesIsRefusedByNameAndAlone) {
  // The first route has 2 matches: with 3 hostnames at the listener for all hosts, and with 2 hostnames at the other
  // one.
  const std::string large = routeOfTwoMatches("large", "[x.l1.test, y.l1.test, a.test]");
  const std::string small = routeOfTwoMatches("small", "[a.test]");
  const World enough({classWithLimit(10), gatewayOfListeners(2), kBackend, large, small});
  EXPECT_EQ(enough.condition("HTTPRoute", "large", "Accepted"), "True/Accepted");
  const World world({classWithLimit(9), gatewayOfListeners(2), kBackend, large, small});
  EXPECT_EQ(world.condition("HTTPRoute", "large", "Accepted"), "False/UnsupportedValue");
  EXPECT_THAT(world.message("HTTPRoute", "large", "Accepted"),
              HasSubstr("its 2 matches make 10 entries, one for each hostname of each listener, of which "
                        "limits.matches allows 9"));
  EXPECT_EQ(world.condition("HTTPRoute", "small", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
  EXPECT_EQ(world.outcome("a.test", "/a"), "default/origin") << "the other route of the hostname is served";
  EXPECT_EQ(world.outcome("a.test", "/c"), "500");
  EXPECT_EQ(world.outcome("x.l1.test", "/a"), "500") << "no less specific route takes its requests";
  EXPECT_EQ(world.outcome("z.test", "/a"), "404");
}

TEST(CompileMatches, AListenerThatDoesNotAdmitTheRouteCountsNoEntries) {
  const std::string gateway = gatewayWith(
      "{name: web, protocol: HTTP, port: 80}, {name: calls, protocol: HTTP, port: 80, hostname: '*.l1.test', "
      "allowedRoutes: {kinds: [{kind: GRPCRoute}]}}");
  const World world({classWithLimit(2), gateway, kBackend, routeOfTwoMatches("route", "[x.l1.test]")});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
}

TEST(CompileMatches, ARefusedRouteGivesWayToEveryOtherOneOfItsHostname) {
  const std::string old = with(routeOfTwoMatches("old", "[x.l1.test, a.test]"), "generation: 6",
                               "generation: 6, creationTimestamp: \"2020-01-01T00:00:00Z\"");
  const std::string all = with(kRoute, "spec:", "spec:\n  hostnames: [a.test]");
  const World world({classWithLimit(5), gatewayOfListeners(2), kBackend, old, all});
  EXPECT_EQ(world.condition("HTTPRoute", "old", "Accepted"), "False/UnsupportedValue");
  EXPECT_EQ(world.outcome("a.test", "/a"), "default/origin");
  EXPECT_EQ(world.outcome("x.l1.test", "/a"), "500");
}

TEST(CompileMatches, ExpressionsOfOneRouteHaveBoundedRoom) {
  std::string matches;
  for (int i = 0; i < 20; ++i) {
    matches += "\n      - {path: {type: RegularExpression, value: \"/" + std::to_string(i) + "a{1000}\"}}";
  }
  const std::string rules = "rules:\n  - matches:" + matches +
                            "\n    backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, "
                            "port: 8080}]";
  const std::string other = with(with(kRoute, "name: route", "name: other"), "spec:", "spec:\n  hostnames: [a.test]");
  const World world({kClass, kGateway, kBackend, routeWithRules(rules), other});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"),
              HasSubstr("].path: the regular expressions of one route are too large: together they may have 16384 "
                        "instructions of RE2"));
  EXPECT_EQ(world.condition("HTTPRoute", "other", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.outcome("a.test", "/"), "default/origin");
}

}  // namespace
}  // namespace sluice::compile::test
