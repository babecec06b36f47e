#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string corsFilter(const std::string& cors) { return "filters: [{type: CORS, cors: {" + cors + "}}]"; }
Configuration loadCorsRule(const std::string& rule) {
  return loadText(object("gateway.networking.k8s.io/v1", "HTTPRoute", "r", "spec: {rules: [{" + rule + "}]}\n"));
}
std::vector<std::string> corsProblems(const std::string& cors) {
  return rendered(loadCorsRule(corsFilter(cors)).problems);
}

TEST(CorsFilter, IsReadFromRulesAndBackendRefs) {
  const Configuration configuration = loadCorsRule(
      corsFilter("allowOrigins: ['https://a.test', 'http://*.b.test:81'], allowMethods: [GET, PUT], allowHeaders: "
                 "[X-A], exposeHeaders: [X-B, '*'], allowCredentials: true, maxAge: 60") +
      ", backendRefs: [{group: sluice.dev, kind: Backend, name: b, " + corsFilter("") + "}]");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRouteRule& rule = configuration.model.all<HttpRoute>().at(0).rules.at(0);
  EXPECT_THAT(rule.filters.cors->allowOrigins, ElementsAre("https://a.test", "http://*.b.test:81"));
  EXPECT_THAT(rule.filters.cors->allowMethods, ElementsAre("GET", "PUT"));
  EXPECT_THAT(rule.filters.cors->allowHeaders, ElementsAre("X-A"));
  EXPECT_THAT(rule.filters.cors->exposeHeaders, ElementsAre("X-B", "*"));
  EXPECT_TRUE(rule.filters.cors->allowCredentials);
  EXPECT_EQ(rule.filters.cors->maxAge, 60);
  EXPECT_TRUE(rule.unsupported.empty());
  const CorsFilter& ofBackendRef = *rule.backendRefs.at(0).filters.cors;
  EXPECT_EQ(ofBackendRef.path, "spec.rules[0].backendRefs[0].filters[0].cors");
  EXPECT_THAT(ofBackendRef.allowOrigins, IsEmpty());
  EXPECT_FALSE(ofBackendRef.allowCredentials);
  EXPECT_EQ(ofBackendRef.maxAge, 5);
}

TEST(CorsFilter, ChecksOrigins) {
  const auto problemsOf = [](const std::string& origin) { return corsProblems("allowOrigins: ['" + origin + "']"); };
  for (const char* good : {"*", "http://a", "https://A-1.test:443", "https://*", "https://*:8443", "https://*.a.test",
                           "http://192.0.2.1:80", "https://a.test:99999"}) {
    EXPECT_THAT(problemsOf(good), IsEmpty()) << good;
  }
  for (const char* bad : {"a.test", "ftp://a.test", "https://", "https://a.test/", "https://a.test:", "https://a:1:2",
                          "https://a.*.test", "https://a*.test", "https://*a.test", "https://a..test", "https://*.",
                          "https://a.test:123456", "https://[::1]", "HTTPS://a.test", "null", "**", "https://a_b"}) {
    EXPECT_THAT(problemsOf(bad), ElementsAre(HasSubstr("allowOrigins[0]: must be \"*\" or an origin"))) << bad;
  }
}

TEST(CorsFilter, AcceptsAWildcardOnlyAlone) {
  EXPECT_THAT(corsProblems("allowOrigins: ['*', 'https://a.test']"),
              ElementsAre(EndsWith("must not have \"*\" beside others")));
  EXPECT_THAT(corsProblems("allowMethods: [GET, '*']"), ElementsAre(EndsWith("must not have \"*\" beside others")));
  EXPECT_THAT(corsProblems("allowHeaders: ['*', X-A]"), ElementsAre(EndsWith("must not have \"*\" beside others")));
  EXPECT_THAT(corsProblems("allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*']"), IsEmpty());
}

TEST(CorsFilter, ChecksItsOtherFields) {
  EXPECT_THAT(corsProblems("allowMethods: [get]"), ElementsAre(HasSubstr("allowMethods[0]: must be a method")));
  EXPECT_THAT(corsProblems("allowHeaders: [':method']"),
              ElementsAre(HasSubstr("allowHeaders[0]: must be a header name")));
  EXPECT_THAT(corsProblems("exposeHeaders: ['a b']"),
              ElementsAre(HasSubstr("exposeHeaders[0]: must be a header name")));
  EXPECT_THAT(corsProblems("allowMethods: [PUT, GET, PUT]"), ElementsAre(EndsWith("allowMethods: has \"PUT\" twice")));
  EXPECT_THAT(corsProblems("maxAge: 0"), ElementsAre(HasSubstr("maxAge")));
  EXPECT_THAT(corsProblems("maxAge: 1"), IsEmpty());
  EXPECT_THAT(corsProblems("maxAge: 2147483647"), IsEmpty());
  EXPECT_THAT(corsProblems("maxAge: 2147483648"), ElementsAre(HasSubstr("maxAge")));
  EXPECT_THAT(corsProblems("allowOrigin: ['*']"), ElementsAre(HasSubstr("allowOrigin")));
}

TEST(CorsFilter, AcceptsAsManyEntriesAsTheApiAllows) {
  const auto headers = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += "X-" + std::to_string(i) + ", ";
    return "allowHeaders: [" + list + "]";
  };
  EXPECT_THAT(corsProblems(headers(64)), IsEmpty());
  EXPECT_THAT(corsProblems(headers(65)), ElementsAre(HasSubstr("allowHeaders")));
}

TEST(CorsFilter, MustNotBeRepeated) {
  const std::string one = "{type: CORS, cors: {}}";
  EXPECT_THAT(rendered(loadCorsRule("filters: [" + one + ", " + one + "]").problems),
              ElementsAre(EndsWith("CORS must not be repeated")));
}

}  // namespace
}  // namespace sluice::config
