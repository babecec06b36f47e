#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadHttpRoute(const std::string& spec) {
  return loadText(object("gateway.networking.k8s.io/v1", "HTTPRoute", "r", "spec:\n" + spec));
}

std::vector<std::string> problemsOfHttpRoute(const std::string& spec) { return rendered(loadHttpRoute(spec).problems); }
std::vector<std::string> problemsOfHttpRule(const std::string& rule) {
  return problemsOfHttpRoute("  rules:\n  - " + rule + "\n");
}
std::vector<std::string> problemsOfHttpMatch(const std::string& match) {
  return problemsOfHttpRule("matches: [" + match + "]");
}
std::vector<std::string> problemsOfPath(const std::string& path) { return problemsOfHttpMatch("{path: " + path + "}"); }

TEST(HttpRoute, FillsInTheDefaultsOfTheApi) {
  const Configuration configuration = loadHttpRoute(
      "  parentRefs: [{name: g, sectionName: a}]\n  hostnames: [example.com, '*.example.org']\n  rules:\n"
      "  - name: first\n    matches: [{path: {value: /v1}}, {method: POST}, {headers: [{name: X-A, value: b}]}]\n"
      "    backendRefs: [{name: s, port: 80}, {group: gateway.networking.k8s.io, kind: Backend, name: b, weight: 0}]\n "
      " - {}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRoute& route = configuration.model.all<HttpRoute>().at(0);
  const ParentRef& parent = route.parentRefs.at(0);
  EXPECT_EQ(parent.object.group, kGatewayGroup);
  EXPECT_EQ(parent.object.kind, "Gateway");
  EXPECT_EQ(parent.object.nameSpace, "");
  EXPECT_EQ(parent.sectionName, "a");
  EXPECT_EQ(parent.port, 0);
  ASSERT_EQ(route.rules.size(), 2u);
  const HttpRouteRule& rule = route.rules[0];
  ASSERT_EQ(rule.matches.size(), 3u);
  EXPECT_EQ(rule.matches[0].path.type, PathMatchType::kPathPrefix);
  EXPECT_EQ(rule.matches[0].path.value, "/v1");
  EXPECT_EQ(rule.matches[1].path.value, "/");
  EXPECT_EQ(rule.matches[1].method, "POST");
  EXPECT_EQ(rule.matches[2].headers.at(0).type, ValueMatchType::kExact);
  ASSERT_EQ(rule.backendRefs.size(), 2u);
  EXPECT_EQ(rule.backendRefs[0].object.kind, "Service");
  EXPECT_EQ(rule.backendRefs[0].weight, 1u);
  EXPECT_EQ(rule.backendRefs[1].weight, 0u);
  EXPECT_EQ(rule.backendRefs[1].object.path, "spec.rules[0].backendRefs[1]");
  ASSERT_EQ(route.rules[1].matches.size(), 1u);
  EXPECT_EQ(route.rules[1].matches[0].path.value, "/");
}

TEST(HttpRoute, WithoutRulesMatchesEverything) {
  const Configuration configuration = loadHttpRoute("  parentRefs: [{name: g}]\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  ASSERT_EQ(configuration.model.all<HttpRoute>().at(0).rules.size(), 1u);
  EXPECT_EQ(configuration.model.all<HttpRoute>()[0].rules[0].matches.size(), 1u);
  EXPECT_THAT(problemsOfHttpRoute("  rules: []\n"), ElementsAre(EndsWith("spec.rules: must have at least one item")));
}

TEST(HttpRoute, NamesLineAndFieldOfAMisspeltField) {
  EXPECT_THAT(
      problemsOfHttpRule("backendRef: []"),
      ElementsAre("config.yaml:6:5: error: HTTPRoute default/r: spec.rules[0].backendRef: unknown field: did you mean "
                  "backendRefs?"));
}

TEST(HttpRoute, ChecksPaths) {
  EXPECT_THAT(problemsOfPath("{type: Exact, value: /a%20b}"), IsEmpty());
  EXPECT_THAT(problemsOfPath("{type: RegularExpression, value: '/a[0-9]+//'}"), IsEmpty());
  EXPECT_THAT(problemsOfPath("{type: Exact, value: a}"),
              ElementsAre(HasSubstr("path.value: must be an absolute path")));
  EXPECT_THAT(problemsOfPath("{value: /a/../b}"), ElementsAre(HasSubstr("must be an absolute path")));
  EXPECT_THAT(problemsOfPath("{value: ''}"), ElementsAre(HasSubstr("must not be empty")));
  EXPECT_THAT(problemsOfPath("{type: Prefix, value: /}"),
              ElementsAre(EndsWith("must be Exact, PathPrefix or RegularExpression, but is \"Prefix\"")));
  EXPECT_THAT(problemsOfPath("{value: /" + std::string(1023, 'a') + "}"), IsEmpty());
  EXPECT_THAT(problemsOfPath("{value: /" + std::string(1024, 'a') + "}"),
              ElementsAre(HasSubstr("longer than 1024 bytes")));
}

TEST(HttpRoute, ChecksHeadersQueryParametersAndMethods) {
  EXPECT_THAT(problemsOfHttpMatch("{headers: [{name: 'a b', value: c}]}"),
              ElementsAre(HasSubstr("must be a header name")));
  EXPECT_THAT(problemsOfHttpMatch("{headers: [{name: a}]}"), ElementsAre(EndsWith("headers[0].value: is required")));
  EXPECT_THAT(problemsOfHttpMatch("{headers: [{name: a, value: \"b\\r\\nc\"}]}"),
              ElementsAre(HasSubstr("must be a header value, but is \"b\\x0d\\x0ac\"")));
  EXPECT_THAT(problemsOfHttpMatch("{queryParams: [{name: a, value: 'b c&d'}]}"), IsEmpty());
  EXPECT_THAT(problemsOfHttpMatch("{method: get}"), ElementsAre(HasSubstr("method: must be GET, HEAD")));
}

TEST(HttpRoute, UsesOnlyTheFirstOfHeadersWithOneName) {
  const Configuration configuration = loadHttpRoute(
      "  rules:\n  - matches: [{headers: [{name: A, value: x}, {name: a, value: y}], queryParams: [{name: A, value: "
      "x}, {name: a, value: y}]}]\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRouteMatch& match = configuration.model.all<HttpRoute>().at(0).rules.at(0).matches.at(0);
  ASSERT_EQ(match.headers.size(), 1u);
  EXPECT_EQ(match.headers[0].value, "x");
  EXPECT_EQ(match.queryParams.size(), 2u);
}

TEST(HttpRoute, ReadsHeaderModifiers) {
  const Configuration configuration = loadHttpRoute(R"(  rules:
  - filters:
    - type: RequestHeaderModifier
      requestHeaderModifier: {set: [{name: A, value: b}], add: [{name: C, value: d e}], remove: [F]}
    - {type: ResponseHeaderModifier, responseHeaderModifier: {remove: [Server]}}
    backendRefs:
    - {name: s, port: 80, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: A, value: b}]}}]}
)");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRouteRule& rule = configuration.model.all<HttpRoute>().at(0).rules.at(0);
  EXPECT_EQ(rule.filters.requestHeaders->set.at(0).name, "A");
  EXPECT_EQ(rule.filters.requestHeaders->add.at(0).value, "d e");
  EXPECT_THAT(rule.filters.requestHeaders->remove, ElementsAre("F"));
  EXPECT_THAT(rule.filters.responseHeaders->remove, ElementsAre("Server"));
  EXPECT_EQ(rule.backendRefs.at(0).filters.requestHeaders->add.size(), 1u);
  EXPECT_TRUE(rule.unsupported.empty());
}

TEST(HttpRoute, ChecksThatFiltersMatchTheirType) {
  EXPECT_THAT(problemsOfHttpRule("filters: [{type: RequestHeaderModifier}]"),
              ElementsAre(EndsWith("requestHeaderModifier: is required when type is RequestHeaderModifier")));
  EXPECT_THAT(problemsOfHttpRule("filters: [{type: CORS, cors: {}, urlRewrite: {}}]"),
              ElementsAre(EndsWith("urlRewrite: must not be given when type is CORS")));
  EXPECT_THAT(problemsOfHttpRule("filters: [{type: Other}]"),
              ElementsAre(HasSubstr("type: must be RequestHeaderModifier, ")));
  EXPECT_THAT(problemsOfHttpRule("filters: [{requestHeaderModifier: {}}]"),
              ElementsAre(EndsWith("filters[0].type: is required")));
  const std::string filter = "{type: RequestHeaderModifier, requestHeaderModifier: {}}";
  EXPECT_THAT(problemsOfHttpRule("filters: [" + filter + ", " + filter + "]"),
              ElementsAre(EndsWith("RequestHeaderModifier must not be repeated")));
}

TEST(HttpRoute, RemembersUnsupportedFieldsAtTheirRuleOrBackendRef) {
  const Configuration configuration = loadHttpRoute(R"(  rules:
  - filters: [{type: ExtensionRef, extensionRef: {group: acme.test, kind: Guard, name: g}}]
  - backendRefs:
    - {name: s, port: 80, filters: [{type: ExtensionRef, extensionRef: {group: acme.test, kind: Guard, name: g}}]}
)");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRoute& route = configuration.model.all<HttpRoute>().at(0);
  std::vector<std::string> paths;
  for (const UnsupportedField& unsupported : route.rules.at(0).unsupported) {
    paths.push_back(unsupported.path);
    EXPECT_TRUE(unsupported.altersTraffic);
  }
  EXPECT_THAT(paths, ElementsAre("spec.rules[0].filters[0]"));
  EXPECT_EQ(route.rules[0].unsupported[0].message, "filter ExtensionRef is not supported");
  EXPECT_TRUE(route.rules.at(1).unsupported.empty());
  EXPECT_EQ(route.rules[1].backendRefs.at(0).unsupported.at(0).path, "spec.rules[1].backendRefs[0].filters[0]");
}

TEST(HttpRoute, ReadsTimeouts) {
  const Configuration configuration = loadHttpRoute(
      "  rules:\n  - timeouts: {request: 10s, backendRequest: 500ms}\n  - timeouts: {request: 0s}\n  - {}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const auto& rules = configuration.model.all<HttpRoute>().at(0).rules;
  EXPECT_EQ(rules.at(0).requestTimeout, std::chrono::seconds(10));
  EXPECT_EQ(rules.at(0).backendRequestTimeout, std::chrono::milliseconds(500));
  EXPECT_EQ(rules.at(1).requestTimeout, base::Duration::zero());
  EXPECT_EQ(rules.at(2).requestTimeout, std::nullopt);
}

TEST(HttpRoute, ReadsRedirects) {
  const Configuration configuration = loadHttpRoute(
      "  rules:\n  - filters: [{type: RequestRedirect, requestRedirect: {scheme: https, hostname: a.test, port: 8443, "
      "statusCode: 308, path: {type: ReplaceFullPath, replaceFullPath: /new}}}]\n"
      "  - filters: [{type: RequestRedirect, requestRedirect: {}}]\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const auto& rules = configuration.model.all<HttpRoute>().at(0).rules;
  const RequestRedirectFilter& redirect = *rules.at(0).filters.requestRedirect;
  EXPECT_EQ(redirect.scheme, "https");
  EXPECT_EQ(redirect.hostname, "a.test");
  EXPECT_EQ(redirect.port, 8443);
  EXPECT_EQ(redirect.statusCode, 308);
  EXPECT_EQ(redirect.path->value, "/new");
  EXPECT_EQ(rules.at(1).filters.requestRedirect->statusCode, 302);
}

TEST(HttpRoute, ChecksRedirects) {
  const auto problemsOfRedirect = [](const std::string& redirect) {
    return problemsOfHttpRule("filters: [{type: RequestRedirect, requestRedirect: {" + redirect + "}}]");
  };
  EXPECT_THAT(problemsOfRedirect("scheme: ftp"), ElementsAre(HasSubstr("scheme: must be http or https")));
  EXPECT_THAT(problemsOfRedirect("hostname: '*.a.test'"), ElementsAre(HasSubstr("hostname: must be a hostname")));
  for (const char* code : {"300", "304", "309"}) {
    EXPECT_THAT(problemsOfRedirect(std::string("statusCode: ") + code),
                ElementsAre(EndsWith("statusCode: must be 301, 302, 303, 307 or 308")));
  }
  EXPECT_THAT(problemsOfRedirect("port: 0"), ElementsAre(HasSubstr("port: ")));
  EXPECT_THAT(problemsOfHttpRule("{matches: [{path: {type: Exact, value: /a}}], filters: [{type: RequestRedirect, "
                                 "requestRedirect: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /b}}}]}"),
              ElementsAre(HasSubstr("needs a rule with exactly one match, of type PathPrefix")));
  EXPECT_THAT(problemsOfHttpRule(
                  "{filters: [{type: RequestRedirect, requestRedirect: {}}], backendRefs: [{name: s, port: 80}]}"),
              ElementsAre(EndsWith("backendRefs: must not be given together with a RequestRedirect filter")));
}

TEST(HttpRoute, ChecksTimeouts) {
  EXPECT_THAT(problemsOfHttpRule("timeouts: {request: 1}"),
              ElementsAre(HasSubstr("request: must be a duration like 10s")));
  EXPECT_THAT(problemsOfHttpRule("timeouts: {request: 1s, backendRequest: 2s}"),
              ElementsAre(EndsWith("backendRequest: must not be longer than request")));
  EXPECT_THAT(problemsOfHttpRule("timeouts: {request: 0s, backendRequest: 2s}"), IsEmpty());
}

TEST(HttpRoute, ChecksBackendRefs) {
  EXPECT_THAT(problemsOfHttpRule("backendRefs: [{name: s}]"), ElementsAre(EndsWith("port: is required for a Service")));
  EXPECT_THAT(problemsOfHttpRule("backendRefs: [{kind: Backend, group: a.b, name: s}]"), IsEmpty());
  EXPECT_THAT(problemsOfHttpRule("backendRefs: [{name: s, port: 80, weight: 1000000}]"), IsEmpty());
  EXPECT_THAT(problemsOfHttpRule("backendRefs: [{name: s, port: 80, weight: 1000001}]"),
              ElementsAre(HasSubstr("between 0 and 1000000")));
  EXPECT_THAT(problemsOfHttpRule("backendRefs: [{name: s, port: 80, weight: -1}]"),
              ElementsAre(HasSubstr("between 0 and 1000000")));
}

TEST(HttpRoute, RefusesParentsThatRepeatEachOther) {
  EXPECT_THAT(problemsOfHttpRoute("  parentRefs: [{name: g, sectionName: a}, {name: g, sectionName: b}, {name: h}]\n"),
              IsEmpty());
  EXPECT_THAT(problemsOfHttpRoute("  parentRefs: [{name: g, port: 1}, {name: g, port: 1}]\n"),
              ElementsAre(EndsWith("repeats spec.parentRefs[0]")));
  EXPECT_THAT(problemsOfHttpRoute("  parentRefs: [{name: g}, {name: g, port: 1}]\n"),
              ElementsAre(HasSubstr("refers to one parent twice")));
}

TEST(HttpRoute, BoundsRulesAndMatches) {
  std::string matches = "matches: [";
  for (int i = 0; i < 64; ++i) matches += "{method: GET}, ";
  matches += "]";
  EXPECT_THAT(problemsOfHttpRoute("  rules:\n  - " + matches + "\n  - " + matches + "\n"), IsEmpty());
  EXPECT_THAT(problemsOfHttpRoute("  rules:\n  - " + matches + "\n  - " + matches + "\n  - {}\n"),
              ElementsAre(HasSubstr("have 129 matches together")));
  EXPECT_THAT(problemsOfHttpRoute("  rules:\n  - {name: a}\n  - {name: a}\n"),
              ElementsAre(EndsWith("spec.rules[1].name: repeats the name of spec.rules[0]")));
}

const Rejected& rejectedRoute(const Configuration& configuration) { return configuration.model.rejected.at(0); }

TEST(RejectedHttpRoute, KeepsItsLegibleMatches) {
  const Configuration configuration = loadHttpRoute(R"(  parentRefs: [{name: g}, {name: H}, {nam: x}]
  hostnames: [a.b, 'NO']
  rules:
  - {matches: [{path: {value: /a}}, {path: {valu: /b}}], filters: [{type: Nothing}]}
  - {matches: [{pth: {}}]}
  - {match: [{path: {value: /c}}]}
)");
  EXPECT_TRUE(configuration.model.all<HttpRoute>().empty());
  ASSERT_NE(rejectedRoute(configuration).legible<HttpRoute>(), nullptr);
  const HttpRoute& route = *rejectedRoute(configuration).legible<HttpRoute>();
  EXPECT_EQ(route.parentRefs.size(), 2u);
  EXPECT_THAT(route.hostnames, ElementsAre("a.b"));
  ASSERT_EQ(route.rules.size(), 3u);
  ASSERT_EQ(route.rules[0].matches.size(), 1u);
  EXPECT_EQ(route.rules[0].matches[0].path.value, "/a");
  for (const HttpRouteRule& rule : route.rules) EXPECT_TRUE(rule.coversRest) << "one of its matches is not legible";
  EXPECT_THAT(route.rules[1].matches, IsEmpty());
  EXPECT_THAT(route.rules[2].matches, IsEmpty());
}

TEST(RejectedHttpRoute, KeepsThePathOfAMatchWhoseOtherConditionsAreNotLegible) {
  const Configuration configuration = loadHttpRoute(R"(  parentRefs: [{name: g}]
  rules:
  - matches:
    - {path: {value: /a}, method: FETCH}
    - {path: {value: /b}, headers: [{name: x, value: y}, {name: z}]}
    - {path: {value: /c}, header: []}
)");
  const HttpRouteRule& rule = rejectedRoute(configuration).legible<HttpRoute>()->rules.at(0);
  ASSERT_EQ(rule.matches.size(), 3u);
  for (const HttpRouteMatch& match : rule.matches) EXPECT_TRUE(match.widened) << match.path.value;
  EXPECT_FALSE(rule.coversRest);
  EXPECT_EQ(rule.matches[0].method, "");
  ASSERT_EQ(rule.matches[1].headers.size(), 1u);
  EXPECT_EQ(rule.matches[1].headers[0].name, "x");
}

TEST(RejectedHttpRoute, CoversTheRestForAMatchWithoutALegiblePath) {
  for (const char* match : {"{path: {value: a}}", "{path: {value: /}, method: FETCH}", "{headers: [{name: x}]}", "[]",
                            "{path: {type: Suffix, value: /a}, method: GET}"}) {
    const Configuration configuration =
        loadHttpRoute("  parentRefs: [{name: g}]\n  rules: [{matches: [" + std::string(match) + "]}]\n");
    const HttpRouteRule& rule = rejectedRoute(configuration).legible<HttpRoute>()->rules.at(0);
    EXPECT_THAT(rule.matches, IsEmpty()) << match;
    EXPECT_TRUE(rule.coversRest) << match;
  }
}

TEST(RejectedHttpRoute, CoversTheRestIfItsRulesAreNotLegible) {
  for (const char* rules : {"ruls: []", "rules: []", "rules: {}", "rules: [a]"}) {
    const Configuration configuration =
        loadHttpRoute("  parentRefs: [{name: g}]\n  hostnames: [a.b]\n  " + std::string(rules) + "\n");
    ASSERT_NE(rejectedRoute(configuration).legible<HttpRoute>(), nullptr) << rules;
    const HttpRoute& route = *rejectedRoute(configuration).legible<HttpRoute>();
    ASSERT_EQ(route.rules.size(), 1u) << rules;
    EXPECT_THAT(route.rules[0].matches, IsEmpty()) << rules;
    EXPECT_TRUE(route.rules[0].coversRest) << rules;
  }
}

TEST(RejectedHttpRoute, MeansTheWholeParentIfItsSectionIsNotLegible) {
  for (const char* section : {"sectionName: 'Not one'", "port: 0", "section: web"}) {
    const Configuration configuration =
        loadHttpRoute("  parentRefs: [{name: g, " + std::string(section) + "}, {nam: h}]\n");
    const HttpRoute& route = *rejectedRoute(configuration).legible<HttpRoute>();
    ASSERT_EQ(route.parentRefs.size(), 1u) << section;
    EXPECT_EQ(route.parentRefs[0].object.name, "g") << section;
    EXPECT_EQ(route.parentRefs[0].sectionName, "") << section;
    EXPECT_EQ(route.parentRefs[0].port, 0) << section;
  }
}

TEST(RejectedHttpRoute, KeepsListsThatAreTooLong) {
  std::string hostnames;
  std::string rules;
  for (int i = 0; i < 17; ++i) {
    hostnames += "h" + std::to_string(i) + ".test, ";
    rules += "{matches: [{path: {value: /" + std::to_string(i) + "}}]}, ";
  }
  const Configuration configuration =
      loadHttpRoute("  parentRefs: [{name: g}]\n  hostnames: [" + hostnames + "]\n  rules: [" + rules + "]\n");
  ASSERT_NE(rejectedRoute(configuration).legible<HttpRoute>(), nullptr);
  EXPECT_EQ(rejectedRoute(configuration).legible<HttpRoute>()->hostnames.size(), 17u);
  EXPECT_EQ(rejectedRoute(configuration).legible<HttpRoute>()->rules.size(), 17u);
}

TEST(RejectedHttpRoute, ClaimsNothingIfItsHostnamesAreNotLegible) {
  const std::string rest = "  parentRefs: [{name: g}]\n  rules: [{matches: [{method: GET}], x: y}]\n";
  EXPECT_NE(rejectedRoute(loadHttpRoute(rest)).legible<HttpRoute>(), nullptr);
  EXPECT_EQ(rejectedRoute(loadHttpRoute(rest + "  hostnams: [a.b]\n")).legible<HttpRoute>(), nullptr);
  EXPECT_EQ(rejectedRoute(loadHttpRoute(rest + "  hostnames: [A.b]\n")).legible<HttpRoute>(), nullptr);
}

}  // namespace
}  // namespace sluice::config
