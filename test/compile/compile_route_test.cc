#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::routeWithRules;
using test::with;
using test::World;

constexpr std::string_view kParents = "parentRefs: [{name: egress}]";
constexpr std::string_view kOriginRef = "{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}";

std::string ruleToOrigin(std::string_view fields) {
  return "{" + std::string(fields) + ", backendRefs: [" + std::string(kOriginRef) + "]}";
}
World worldWithRoute(const std::string& route) { return World({kClass, kGateway, kBackend, route}); }

TEST(CompileRoute, WritesItsConditionsForEachParent) {
  const World world = worldWithRoute(std::string(kRoute));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "PartiallyInvalid"), "");
  const config::ParentStatus& parent = world.status("HTTPRoute", "route")->parents.front();
  EXPECT_EQ(parent.parentRef.object.name, "egress");
  EXPECT_EQ(parent.controllerName, config::kControllerName);
  EXPECT_EQ(parent.conditions.front().observedGeneration, 6);
  const routing::RouteMatch found =
      routing::routesOf(world.bind(80)->service).match(test::RequestMaker("GET", "a.test", "/x").head());
  ASSERT_NE(found.rule, nullptr);
  EXPECT_EQ(found.rule->route, "default/route");
  EXPECT_EQ(found.listener->gateway, "default/egress");
  EXPECT_EQ(found.listener->section, "web");
  EXPECT_EQ(found.listener->port, 80);
}

TEST(CompileRoute, AttachesToTheListenersThatItsParentRefSelects) {
  const std::string gateway =
      with(kGateway, "port: 80}",
           "port: 80}, {name: other, protocol: HTTP, port: 81}, {name: third, protocol: HTTP, port: 82}");
  const auto attached = [&](std::string_view parentRefs) {
    const World world({kClass, gateway, kBackend, with(kRoute, kParents, parentRefs)});
    std::string ports;
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{80, 81, 82}) {
      if (world.outcome("a.test", "/", port) != "404") ports += std::to_string(port) + " ";
    }
    return ports + world.condition("HTTPRoute", "route", "Accepted");
  };
  EXPECT_EQ(attached("parentRefs: [{name: egress}]"), "80 81 82 True/Accepted");
  EXPECT_EQ(attached("parentRefs: [{name: egress, sectionName: other}]"), "81 True/Accepted");
  EXPECT_EQ(attached("parentRefs: [{name: egress, port: 82}]"), "82 True/Accepted");
  EXPECT_EQ(attached("parentRefs: [{name: egress, sectionName: web}, {name: egress, port: 80}]"), "80 True/Accepted");
  EXPECT_EQ(attached("parentRefs: [{name: egress, sectionName: other, port: 82}]"), "False/NoMatchingParent");
  EXPECT_EQ(attached("parentRefs: [{name: egress, sectionName: absent}]"), "False/NoMatchingParent");
  EXPECT_EQ(attached("parentRefs: [{name: absent}]"), "False/NoMatchingParent");
  EXPECT_EQ(attached("parentRefs: [{kind: ListenerSet, name: egress}]"), "False/InvalidKind");
}

TEST(CompileRoute, CountsOnceAtAListenerThatTwoParentRefsSelect) {
  const World world = worldWithRoute(
      with(kRoute, kParents, "parentRefs: [{name: egress, sectionName: web}, {name: egress, port: 80}]"));
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
  EXPECT_EQ(world.status("HTTPRoute", "route")->parents.size(), 2U);
}

TEST(CompileRoute, LeavesParentsOfOtherApisAlone) {
  const World world = worldWithRoute(with(kRoute, kParents, "parentRefs: [{group: '', kind: Service, name: x}]"));
  EXPECT_EQ(world.status("HTTPRoute", "route"), nullptr);
}

TEST(CompileRoute, RequiresTheListenersPermissionFromAnotherNamespace) {
  const std::string route = with(with(kRoute, "name: route", "name: route, namespace: team"), "{name: egress}",
                                 "{name: egress, namespace: default}");
  const std::string backend = with(kBackend, "name: origin", "name: origin, namespace: team");
  const World refused({kClass, kGateway, backend, route});
  EXPECT_EQ(refused.condition("HTTPRoute", "route", "Accepted"), "False/NotAllowedByListeners");
  EXPECT_EQ(refused.outcome(), "404");
  const World allowed(
      {kClass, with(kGateway, "port: 80}", "port: 80, allowedRoutes: {namespaces: {from: All}}}"), backend, route});
  EXPECT_EQ(allowed.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(allowed.outcome(), "team/origin");
}

TEST(CompileRoute, AttachesOnlyWhereHostnamesIntersect) {
  const std::string gateway = with(kGateway, "port: 80}", "port: 80, hostname: '*.example.com'}");
  const World apart({kClass, gateway, kBackend, with(kRoute, "spec:", "spec:\n  hostnames: [example.com, a.test]")});
  EXPECT_EQ(apart.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingListenerHostname");
  const World met({kClass, gateway, kBackend, with(kRoute, "spec:", "spec:\n  hostnames: [a.example.com, a.test]")});
  EXPECT_EQ(met.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(met.outcome("a.example.com"), "default/origin");
  EXPECT_EQ(met.outcome("b.example.com"), "404");
  EXPECT_EQ(met.outcome("a.test"), "404");
}

TEST(CompileRoute, ComparesPathsInTheNormalFormOfRequests) {
  const World world = worldWithRoute(
      routeWithRules("rules: [" + ruleToOrigin("matches: [{path: {type: Exact, value: /a%2Db/%7ec}}]") + "]"));
  EXPECT_EQ(world.outcome("a.test", "/a-b/~c"), "default/origin");
  EXPECT_EQ(world.outcome("a.test", "/a-b"), "404");
}

TEST(CompileRoute, MatchesByAllCriteriaOfTheApi) {
  const World world = worldWithRoute(routeWithRules(
      "rules: [" +
      ruleToOrigin(
          "matches: [{path: {type: RegularExpression, value: '/v[0-9]/.*'}, method: GET, headers: [{name: X-A, "
          "type: RegularExpression, value: 'a+'}], queryParams: [{name: q, value: '1'}]}]") +
      "]"));
  EXPECT_NE(world.rule(test::RequestMaker("GET", "a.test", "/v1/x?q=1", {{"x-a", "aaa"}})), nullptr);
  EXPECT_EQ(world.rule(test::RequestMaker("GET", "a.test", "/v1/x?q=2", {{"x-a", "aaa"}})), nullptr);
  EXPECT_EQ(world.rule(test::RequestMaker("GET", "a.test", "/v1/x?q=1", {{"x-a", "b"}})), nullptr);
  EXPECT_EQ(world.rule(test::RequestMaker("PUT", "a.test", "/v1/x?q=1", {{"x-a", "aaa"}})), nullptr);
}

TEST(CompileRoute, FailsARuleWithAMatchThatCannotBeEvaluatedForAllThatItCouldMean) {
  for (const std::string match :
       {"path: {type: RegularExpression, value: '/('}", "path: {value: /bad%zz}",
        "headers: [{name: Connection, value: close}]", "headers: [{name: x, type: RegularExpression, value: '('}]",
        "queryParams: [{name: x, type: RegularExpression, value: '('}]"}) {
    World world =
        worldWithRoute(routeWithRules("rules: [" + ruleToOrigin("matches: [{path: {value: /bad}}, {" + match + "}]") +
                                      ", " + ruleToOrigin("matches: [{path: {value: /good}}]") + "]"));
    if (world.model().all<config::HttpRoute>().empty()) continue;  // its schema has refused it already
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted") << match;
    EXPECT_EQ(world.condition("HTTPRoute", "route", "PartiallyInvalid"), "True/UnsupportedValue") << match;
    EXPECT_EQ(world.outcome("a.test", "/bad"), "500") << match;
    EXPECT_EQ(world.outcome("a.test", "/good"), "default/origin") << match;
    EXPECT_EQ(world.outcome("a.test", "/other"), "500") << match;
  }
}

TEST(CompileRoute, Answers500ForARuleWithAnUnsupportedFilter) {
  const std::string mirror = "filters: [{type: ExtensionRef, extensionRef: {group: a.test, kind: X, name: x}}]";
  const World some =
      worldWithRoute(routeWithRules("rules: [" + ruleToOrigin("matches: [{path: {value: /a}}], " + mirror) + ", " +
                                    ruleToOrigin("matches: [{path: {value: /b}}]") + "]"));
  EXPECT_EQ(some.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(some.message("HTTPRoute", "route", "PartiallyInvalid").find("Dropped Rule: spec.rules["), 0U);
  EXPECT_EQ(some.condition("HTTPRoute", "route", "PartiallyInvalid"), "True/UnsupportedValue");
  EXPECT_EQ(some.outcome("a.test", "/a"), "500");
  EXPECT_EQ(some.outcome("a.test", "/b"), "default/origin");
  const World all = worldWithRoute(routeWithRules("rules: [" + ruleToOrigin(mirror) + "]"));
  EXPECT_EQ(all.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
  EXPECT_EQ(all.condition("HTTPRoute", "route", "PartiallyInvalid"), "");
  EXPECT_EQ(all.listenerStatus("egress", "web")->attachedRoutes, 0);
  EXPECT_EQ(all.outcome(), "500");
}

TEST(CompileRoute, Answers500ForABackendRefWithAnUnsupportedFilter) {
  const World world = worldWithRoute(with(kRoute, "port: 8080}",
                                          "port: 8080, filters: [{type: ExtensionRef, extensionRef: {group: a.test, "
                                          "kind: X, name: x}}]}"));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "PartiallyInvalid"), "True/UnsupportedValue");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileRoute, CompilesHeaderModifiersOfRulesAndBackendRefs) {
  const World world = worldWithRoute(with(
      routeWithRules(
          "rules: [" +
          ruleToOrigin("filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: "
                       "'Other.Test:81'}, {name: X-A, value: '1'}], remove: [X-B]}}, {type: ResponseHeaderModifier, "
                       "responseHeaderModifier: {add: [{name: X-C, value: '2'}]}}]") +
          "]"),
      "port: 8080}",
      "port: 8080, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: X-D, value: "
      "'3'}]}}]}"));
  const routing::Rule* found = world.rule(test::RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->requestHeaders->authority, "other.test:81");
  EXPECT_EQ(found->requestHeaders->set, (std::vector<std::pair<std::string, std::string>>{{"x-a", "1"}}));
  EXPECT_EQ(found->requestHeaders->remove, std::vector<std::string>{"x-b"});
  EXPECT_EQ(found->responseHeaders->add, (std::vector<std::pair<std::string, std::string>>{{"x-c", "2"}}));
  EXPECT_EQ(found->backends.front().requestHeaders->add,
            (std::vector<std::pair<std::string, std::string>>{{"x-d", "3"}}));
}

TEST(CompileRoute, Answers500ForModifiersOfFieldsThatBelongToTheGateway) {
  const World world = worldWithRoute(routeWithRules(
      "rules: [" +
      ruleToOrigin("filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [Content-Length]}}]") +
      "]"));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileRoute, KeepsTheWeightsOfBrokenReferences) {
  const World world = worldWithRoute(with(kRoute, "port: 8080}",
                                          "port: 8080, weight: 9}, {group: gateway.networking.k8s.io, kind: "
                                          "Backend, name: absent}"));
  const routing::Rule* found = world.rule(test::RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->totalWeight, 10U);
  ASSERT_EQ(found->backends.size(), 2U);
  EXPECT_NE(found->backends[0].backend, nullptr);
  EXPECT_EQ(found->backends[1].backend, nullptr);
  EXPECT_EQ(found->backends[1].failure->status, 500);
  EXPECT_EQ(found->backends[1].failure->detail.find("absent"), std::string::npos) << "clients learn no names";
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/BackendNotFound");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
}

TEST(CompileRoute, Answers500WithoutBackendsOrIfAllWeightsAreZero) {
  EXPECT_EQ(worldWithRoute(with(kRoute, "port: 8080}", "port: 8080, weight: 0}")).outcome(), "500");
  const World none = worldWithRoute(routeWithRules("rules: [{matches: [{path: {value: /a}}]}]"));
  EXPECT_EQ(none.outcome("a.test", "/a"), "500");
  EXPECT_NE(none.message("HTTPRoute", "route", "Accepted").find("no backendRefs"), std::string::npos);
}

TEST(CompileRoute, Answers500ForBrokenReferences) {
  const auto reasonFor = [](std::string_view ref) {
    const World world({kClass, kGateway, kBackend, with(kBackend, "name: origin", "name: origin, namespace: team"),
                       with(kRoute, kOriginRef, ref)});
    EXPECT_EQ(world.outcome(), "500") << ref;
    return world.condition("HTTPRoute", "route", "ResolvedRefs");
  };
  EXPECT_EQ(reasonFor("{name: origin, port: 8080}"), "False/BackendNotFound") << "a Service";
  EXPECT_EQ(reasonFor("{group: example.com, kind: Bucket, name: origin}"), "False/InvalidKind");
  EXPECT_EQ(reasonFor("{group: gateway.networking.k8s.io, kind: Backend, name: origin, namespace: team}"),
            "False/RefNotPermitted");
  EXPECT_EQ(reasonFor("{group: gateway.networking.k8s.io, kind: Backend, name: gone, namespace: team}"),
            "False/RefNotPermitted");
  EXPECT_EQ(reasonFor("{group: gateway.networking.k8s.io, kind: Backend, name: absent}"), "False/BackendNotFound");
  EXPECT_EQ(reasonFor("{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 81}"),
            "False/BackendNotFound");
  EXPECT_EQ(reasonFor("{group: gateway.networking.x-k8s.io, kind: XBackend, name: origin}"), "False/BackendNotFound");
}

TEST(CompileRoute, UsesTheOnlyPortIfTheReferenceNamesNone) {
  EXPECT_EQ(worldWithRoute(with(kRoute, ", port: 8080}", "}")).outcome(), "default/origin");
}

TEST(CompileRoute, Answers500ForARouteThatItsSchemaRefuses) {
  const std::string broken = routeWithRules(
      "rules: [" + ruleToOrigin("matches: [{path: {value: /a}}], retry: {attempts: many}, surprise: 1") + "]");
  const World world = worldWithRoute(broken);
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.outcome("a.test", "/a"), "500");
  EXPECT_EQ(world.outcome("a.test", "/b"), "404");
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 0);
}

TEST(CompileRoute, PrefersTheOlderRoute) {
  const std::string other = with(kBackend, "name: origin", "name: other");
  const std::string older = with(with(kRoute, "name: route", "name: zz, creationTimestamp: '2023-01-01T00:00:00Z'"),
                                 "name: origin", "name: other");
  const std::string newer = with(kRoute, "name: route", "name: aa, creationTimestamp: '2024-01-01T00:00:00Z'");
  EXPECT_EQ(World({kClass, kGateway, kBackend, other, newer, older}).outcome(), "default/other");
}

TEST(CompileRoute, WithoutATimeTakesNoRequestsAndNoHostnameOfAnother) {
  const std::string other = with(kBackend, "name: origin", "name: other");
  const std::string dated = with(with(kRoute, "name: route", "name: zz, creationTimestamp: '2023-01-01T00:00:00Z'"),
                                 "name: origin", "name: other");
  const std::string undated = with(kRoute, "name: route", "name: aa");
  EXPECT_EQ(World({kClass, kGateway, kBackend, other, undated, dated}).outcome(), "default/other");
  const World mixed({kClass, kGateway, kBackend, other, with(undated, "HTTPRoute", "GRPCRoute"), dated});
  EXPECT_EQ(mixed.condition("GRPCRoute", "aa", "Accepted"), "False/HostnameConflict");
  EXPECT_EQ(mixed.condition("HTTPRoute", "zz", "Accepted"), "True/Accepted");
}

TEST(CompileRoute, ComparesTimesOfDifferentZones) {
  const std::string other = with(kBackend, "name: origin", "name: other");
  const std::string older =
      with(with(kRoute, "name: route", "name: zz, creationTimestamp: '2024-01-01T01:00:00+02:00'"), "name: origin",
           "name: other");
  const std::string newer = with(kRoute, "name: route", "name: aa, creationTimestamp: '2024-01-01T00:00:00Z'");
  EXPECT_EQ(World({kClass, kGateway, kBackend, other, newer, older}).outcome(), "default/other");
}

TEST(CompileRoute, WithATimeThatIsNoneTakesNoRequestsOfAnother) {
  const std::string good = with(kRoute, "name: route", "name: zz, creationTimestamp: '2024-01-01T00:00:00Z'");
  const std::string broken = with(kRoute, "name: route", "name: aa, creationTimestamp: yesterday");
  const World world({kClass, kGateway, kBackend, broken, good});
  EXPECT_EQ(world.condition("HTTPRoute", "aa", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(World({kClass, kGateway, kBackend, broken}).outcome(), "500");
}

TEST(CompileRoute, CompilesRetries) {
  const World world = worldWithRoute(
      routeWithRules("rules: [" + ruleToOrigin("retry: {codes: [500, 503], attempts: 4, backoff: 200ms}") + "]"));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  const routing::Rule* found = world.rule(test::RequestMaker("GET", "a.test", "/"));
  ASSERT_TRUE(found != nullptr && found->retry);
  EXPECT_TRUE(found->retry->covers(500));
  EXPECT_TRUE(found->retry->covers(503));
  for (const int other : {200, 399, 400, 502, 599, 600, 999}) {
    EXPECT_FALSE(found->retry->covers(static_cast<std::uint16_t>(other)));
  }
  EXPECT_EQ(found->retry->attempts, 4U);
  EXPECT_EQ(found->retry->backoff, std::chrono::milliseconds(200));
  EXPECT_FALSE(worldWithRoute(std::string(kRoute)).rule(test::RequestMaker("GET", "a.test", "/"))->retry);
}

TEST(CompileRoute, NotesThatMoreRetriesAreConfiguredThanAreMade) {
  const World world = worldWithRoute(routeWithRules("rules: [" + ruleToOrigin("retry: {attempts: 11}") + "]"));
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_NE(world.message("HTTPRoute", "route", "Accepted").find("spec.rules[0].retry.attempts: at most 10 are made"),
            std::string::npos);
  EXPECT_EQ(world.outcome(), "default/origin");
}

}  // namespace
}  // namespace sluice::compile
