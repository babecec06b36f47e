#include "proxy/routing/policy/cors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/routing/preflight.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::RequestMaker;
using test::with;
using test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string corsFilter(const std::string& cors) { return "filters: [{type: CORS, cors: {" + cors + "}}], "; }
std::string routeWithRuleFields(const std::string& ofRule) { return with(kRoute, "rules: [{", "rules: [{" + ofRule); }

/// Compiles a filter from its YAML.
std::shared_ptr<const routing::Cors> cors(const std::string& yaml) {
  const World world({kClass, kGateway, kBackend, routeWithRuleFields(corsFilter(yaml))});
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  EXPECT_NE(rule, nullptr);
  return rule == nullptr ? nullptr : rule->cors;
}

/// Returns the header fields of a response with `fields`, each line as "name: value".
std::vector<std::string> applied(const routing::Cors& cors, const RequestMaker& request,
                                 RequestMaker::Fields fields = {}) {
  const RequestMaker answer("", "", "", fields);
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers headers = answer.head().headers.copy(arena);
  cors.apply(arena, request.head(), headers);
  std::vector<std::string> lines;
  for (const http::Field& field : headers) lines.push_back(std::string(field.name) + ": " + std::string(field.value));
  return lines;
}

struct RequestFrom : RequestMaker {
  explicit RequestFrom(std::string_view origin) : RequestMaker("GET", "a.test", "/", {{"origin", origin}}) {}
};
struct Preflight : RequestMaker {
  explicit Preflight(std::string_view method, std::string_view headers = "")
      : RequestMaker("OPTIONS", "a.test", "/",
                     {{"origin", "https://shop.test"}, {"access-control-request-method", method}}) {
    if (!headers.empty()) add("access-control-request-headers", headers);
  }
};

TEST(Cors, AllowsTheConfiguredOrigins) {
  const auto named = cors("allowOrigins: ['https://a.test', 'http://b.test:81', 'http://c.test:80']");
  EXPECT_TRUE(named->allows("https://a.test"));
  EXPECT_TRUE(named->allows("https://A.test"));
  EXPECT_TRUE(named->allows("https://a.test:443"));
  EXPECT_TRUE(named->allows("http://b.test:81"));
  EXPECT_TRUE(named->allows("http://c.test"));
  for (const char* other : {"http://a.test", "https://a.test:8443", "https://b.test:81", "http://b.test", "null", "",
                            "https://a.test.evil.test", "https://evila.test", "https://sub.a.test", "https://a.test/",
                            "a.test", "https://a.test:", "https://a.test:443x", "https://a.test, https://evil.test"}) {
    EXPECT_FALSE(named->allows(other)) << other;
  }
}

// In a CORSOrigin, "*" matches any number of labels to the left. Alone, it matches every host.
TEST(Cors, MatchesWildcardsToTheLeft) {
  const auto wild = cors("allowOrigins: ['https://*.bar.test', 'http://*:8080']");
  EXPECT_TRUE(wild->allows("https://www.bar.test"));
  EXPECT_TRUE(wild->allows("https://a.b.c.bar.test:443"));
  EXPECT_TRUE(wild->allows("http://anything.test:8080"));
  EXPECT_TRUE(wild->allows("http://[2001:db8::1]:8080"));
  for (const char* other : {"https://bar.test", "https://.bar.test", "https://foobar.test", "http://www.bar.test",
                            "https://www.bar.test:8443", "http://anything.test", "https://evil.test/.bar.test",
                            "https://evil.test#.bar.test", "https://evil.test?.bar.test", "https://x@evil.test"}) {
    EXPECT_FALSE(wild->allows(other)) << other;
  }
}

TEST(Cors, AllowsEveryOriginByAWildcardAlone) {
  const auto all = cors("allowOrigins: ['*']");
  EXPECT_TRUE(all->allows("https://a.test:8443"));
  EXPECT_TRUE(all->allows("null"));
  EXPECT_TRUE(all->allows("chrome-extension://abc"));
  EXPECT_FALSE(all->allows(""));
  EXPECT_FALSE(all->allows("https://a.test, https://b.test"));
  EXPECT_FALSE(all->allows("https://a.test\" x=\""));
}

TEST(Cors, AllowsNobodyWithoutOrigins) { EXPECT_FALSE(cors("")->allows("https://a.test")); }

TEST(Cors, AnswersAnAllowedOriginAndReplacesTheBackendsFields) {
  const auto some = cors("allowOrigins: ['https://a.test'], exposeHeaders: [X-A, X-B], allowMethods: [PUT]");
  EXPECT_THAT(
      applied(*some, RequestFrom("https://a.test"),
              {{"access-control-allow-origin", "*"}, {"access-control-allow-credentials", "true"}, {"server", "s"}}),
      UnorderedElementsAre("server: s", "access-control-allow-origin: https://a.test",
                           "access-control-expose-headers: X-A, X-B", "vary: origin"));
}

TEST(Cors, RemovesTheBackendsFieldsForOtherOrigins) {
  const auto some = cors("allowOrigins: ['https://a.test'], allowCredentials: true");
  const RequestMaker::Fields backends = {{"access-control-allow-origin", "*"}, {"x-a", "1"}};
  EXPECT_THAT(applied(*some, RequestFrom("https://b.test"), backends), ElementsAre("x-a: 1", "vary: origin"));
  EXPECT_THAT(applied(*some, RequestMaker("GET", "a.test", "/"), backends), ElementsAre("x-a: 1", "vary: origin"));
  EXPECT_THAT(
      applied(*some, RequestMaker("GET", "a.test", "/", {{"origin", "https://a.test"}, {"origin", "https://a.test"}})),
      ElementsAre("vary: origin"));
}

TEST(Cors, AddsOriginToVaryOnce) {
  const auto some = cors("allowOrigins: ['https://a.test']");
  const RequestMaker request("GET", "a.test", "/");
  EXPECT_THAT(applied(*some, request, {{"vary", "accept"}}), ElementsAre("vary: accept", "vary: origin"));
  EXPECT_THAT(applied(*some, request, {{"vary", "accept, Origin"}}), ElementsAre("vary: accept, Origin"));
  EXPECT_THAT(applied(*some, request, {{"vary", "*"}}), ElementsAre("vary: *"));
}

TEST(Cors, AnswersPreflightsAsConfigured) {
  const auto some = cors(
      "allowOrigins: ['https://shop.test'], allowMethods: [GET, OPTIONS], allowHeaders: [x-1, X-2], "
      "exposeHeaders: [x-3], allowCredentials: true, maxAge: 3600");
  EXPECT_THAT(
      applied(*some, Preflight("DELETE", "x-9")),
      UnorderedElementsAre("access-control-allow-origin: https://shop.test", "access-control-allow-credentials: true",
                           "access-control-allow-methods: GET, OPTIONS", "access-control-allow-headers: x-1, X-2",
                           "access-control-expose-headers: x-3", "access-control-max-age: 3600", "vary: origin"));
}

TEST(Cors, LeavesUnconfiguredFieldsOutOfPreflights) {
  EXPECT_THAT(applied(*cors("allowOrigins: ['*']"), Preflight("PUT", "x-9")),
              UnorderedElementsAre("access-control-allow-origin: https://shop.test", "access-control-max-age: 5",
                                   "vary: origin"));
}

// In responses to requests with credentials, browsers treat "*" as a literal name. So the requested names are echoed.
TEST(Cors, EchoesRequestedNamesInPlaceOfWildcards) {
  for (const char* credentials : {"true", "false"}) {
    const auto all = cors("allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'], allowCredentials: " +
                          std::string(credentials));
    const auto lines = applied(*all, Preflight("PUT", "x-1, x-2"));
    EXPECT_THAT(lines,
                testing::IsSupersetOf({"access-control-allow-methods: PUT", "access-control-allow-headers: x-1, x-2"}));
    for (const std::string& line : applied(*all, Preflight("*", "x-1, *")))
      EXPECT_THAT(line, testing::Not(HasSubstr("*")));
    for (const std::string& line : applied(*all, Preflight("PUT", "x-1; <b>")))
      EXPECT_THAT(line, testing::Not(HasSubstr("allow-headers")));
  }
}

TEST(Cors, ExposesEveryFieldByNameWithCredentials) {
  const auto open = cors("allowOrigins: ['*'], exposeHeaders: ['*']");
  EXPECT_THAT(applied(*open, RequestFrom("https://a.test"), {{"x-a", "1"}}),
              testing::Contains("access-control-expose-headers: *"));
  const auto closed = cors("allowOrigins: ['*'], exposeHeaders: ['*'], allowCredentials: true");
  EXPECT_THAT(applied(*closed, RequestFrom("https://a.test"),
                      {{"x-a", "1"}, {"set-cookie", "a=b"}, {"etag", "e"}, {"x-a", "2"}}),
              testing::Contains("access-control-expose-headers: x-a, etag"));
}

TEST(Cors, RecognizesAPreflightByMethodOriginAndRequestedMethod) {
  EXPECT_TRUE(routing::isPreflight(Preflight("PUT").head()));
  EXPECT_FALSE(routing::isPreflight(RequestMaker("OPTIONS", "a", "/", {{"origin", "https://a.test"}}).head()));
  EXPECT_FALSE(
      routing::isPreflight(RequestMaker("OPTIONS", "a", "/", {{"access-control-request-method", "PUT"}}).head()));
  EXPECT_FALSE(routing::isPreflight(Preflight("P UT").head()));
  EXPECT_FALSE(routing::isPreflight(
      RequestMaker("GET", "a", "/", {{"origin", "https://a.test"}, {"access-control-request-method", "PUT"}}).head()));
}

TEST(CompileCors, RefusesAnInvalidPort) {
  for (const char* port : {"0", "65536"}) {
    const World world({kClass, kGateway, kBackend,
                       routeWithRuleFields(corsFilter("allowOrigins: ['https://a.test:" + std::string(port) + "']"))});
    EXPECT_EQ(world.outcome(), "500");
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
    EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"),
                HasSubstr("spec.rules[0].filters[0].cors.allowOrigins"));
  }
  EXPECT_TRUE(cors("allowOrigins: ['https://a.test:65535']")->allows("https://a.test:65535"));
}

TEST(CompileCors, AppliesToARuleOrAWeightedBackend) {
  const World world(
      {kClass, kGateway, kBackend, with(kRoute, "port: 8080}", "port: 8080, filters: [{type: CORS, cors: {}}]}")});
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->cors, nullptr);
  EXPECT_NE(rule->backends.at(0).cors, nullptr);
}

// Tests which rule a preflight matches.

/// GET matches a rule with `ofGet`, and every other method matches another rule. Returns "GET" or "other".
std::string metBy(const RequestMaker& request, const std::string& ofGet) {
  const std::string ref = "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}";
  const World world({kClass, kGateway, kBackend,
                     with(kRoute, "rules: [{", "rules: [{matches: [{method: GET}], " + ofGet + ref + ", {")});
  const routing::RouteTable& routes = routing::routesOf(world.bind(80)->service);
  const routing::Rule* rule = routing::matchRequest(routes, request.head(), "").rule;
  return rule == routes.match(RequestMaker("GET", "a.test", "/").head()).rule ? "GET" : "other";
}

TEST(PreflightMatch, FindsTheRuleOfTheRequestedMethod) {
  EXPECT_EQ(metBy(Preflight("GET"), corsFilter("")), "GET");
  EXPECT_EQ(metBy(Preflight("PUT"), corsFilter("")), "other");
  EXPECT_EQ(metBy(RequestMaker("OPTIONS", "a.test", "/"), corsFilter("")), "other");
}

TEST(PreflightMatch, TreatsPreflightsAsOptionsRequestsForRulesWithoutTheFilter) {
  EXPECT_EQ(metBy(Preflight("GET"), ""), "other");
}

}  // namespace
}  // namespace sluice::compile
