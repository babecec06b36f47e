#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadRewriteRule(const std::string& rule) {
  return loadText(object("gateway.networking.k8s.io/v1", "HTTPRoute", "r", "spec: {rules: [" + rule + "]}\n"));
}
std::string rewriteFilter(const std::string& rewrite) {
  return "filters: [{type: URLRewrite, urlRewrite: " + rewrite + "}]";
}
std::vector<std::string> rewriteProblems(const std::string& rule) { return rendered(loadRewriteRule(rule).problems); }

constexpr const char* kPrefix = "{path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}";
constexpr const char* kMatch = "matches: [{path: {value: /old}}], ";

TEST(UrlRewriteFilter, IsReadFromRulesAndBackendRefs) {
  const Configuration configuration = loadRewriteRule(
      "{" + std::string(kMatch) +
      rewriteFilter("{hostname: api.example.com, path: {type: ReplaceFullPath, replaceFullPath: /all}}") +
      ", backendRefs: [{group: sluice.dev, kind: Backend, name: b, " + rewriteFilter(kPrefix) + "}]}");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRouteRule& rule = configuration.model.all<HttpRoute>().at(0).rules.at(0);
  EXPECT_EQ(rule.filters.urlRewrite->hostname, "api.example.com");
  EXPECT_EQ(rule.filters.urlRewrite->path->type, PathModifierType::kReplaceFullPath);
  EXPECT_EQ(rule.filters.urlRewrite->path->value, "/all");
  const UrlRewriteFilter& ofBackendRef = *rule.backendRefs.at(0).filters.urlRewrite;
  EXPECT_EQ(ofBackendRef.hostname, "");
  EXPECT_EQ(ofBackendRef.path->type, PathModifierType::kReplacePrefixMatch);
  EXPECT_EQ(ofBackendRef.path->value, "/new");
  EXPECT_EQ(ofBackendRef.path->path, "spec.rules[0].backendRefs[0].filters[0].urlRewrite.path");
  EXPECT_TRUE(rule.unsupported.empty());
}

TEST(UrlRewriteFilter, ChecksItsFields) {
  const auto problemsOf = [](const std::string& rewrite) {
    return rewriteProblems("{" + rewriteFilter(rewrite) + "}");
  };
  EXPECT_THAT(problemsOf("{hostname: 'a.test:80'}"), ElementsAre(HasSubstr("hostname: must be a hostname")));
  EXPECT_THAT(problemsOf("{hostname: '*.a.test'}"), ElementsAre(HasSubstr("hostname: must be a hostname")));
  EXPECT_THAT(problemsOf("{path: {}}"), ElementsAre(EndsWith("path.type: is required")));
  EXPECT_THAT(problemsOf("{path: {type: Other, replaceFullPath: /}}"), ElementsAre(HasSubstr("path.type: must be")));
  EXPECT_THAT(problemsOf("{path: {type: ReplaceFullPath}}"),
              ElementsAre(EndsWith("replaceFullPath: is required when type is ReplaceFullPath")));
  EXPECT_THAT(problemsOf("{path: {type: ReplacePrefixMatch, replaceFullPath: /}}"),
              ElementsAre(EndsWith("replacePrefixMatch: is required when type is ReplacePrefixMatch"),
                          EndsWith("replaceFullPath: must not be given when type is ReplacePrefixMatch")));
  const auto long_ = [](std::size_t size) {
    return "{path: {type: ReplaceFullPath, replaceFullPath: /" + std::string(size - 1, 'a') + "}}";
  };
  EXPECT_THAT(problemsOf(long_(1024)), IsEmpty());
  EXPECT_THAT(problemsOf(long_(1025)), ElementsAre(HasSubstr("longer than 1024")));
  EXPECT_THAT(problemsOf("{path: {type: ReplacePrefixMatch, replacePrefixMatch: ''}}"), IsEmpty());
}

TEST(UrlRewriteFilter, ReplacesAPrefixOnlyWhereThereIsExactlyOne) {
  const auto inRule = [](const std::string& matches) {
    return rewriteProblems("{" + matches + rewriteFilter(kPrefix) + "}");
  };
  const auto inBackendRef = [](const std::string& matches) {
    return rewriteProblems("{" + matches + "backendRefs: [{name: a, port: 80, " + rewriteFilter(kPrefix) + "}]}");
  };
  for (const std::string matches : {"", kMatch, "matches: [{path: {type: PathPrefix, value: /a}, method: GET}], "}) {
    EXPECT_THAT(inRule(matches), IsEmpty()) << matches;
    EXPECT_THAT(inBackendRef(matches), IsEmpty()) << matches;
  }
  for (const std::string matches :
       {"matches: [{path: {value: /a}}, {path: {value: /b}}], ", "matches: [{path: {type: Exact, value: /a}}], ",
        "matches: [{path: {type: RegularExpression, value: '/a.*'}}], "}) {
    const auto needsOne = ElementsAre(HasSubstr("needs a rule with exactly one match, of type PathPrefix"));
    EXPECT_THAT(inRule(matches), needsOne) << matches;
    EXPECT_THAT(inBackendRef(matches), needsOne) << matches;
  }
}

TEST(UrlRewriteFilter, ExcludesARedirect) {
  EXPECT_THAT(rewriteProblems("{filters: [{type: URLRewrite, urlRewrite: {hostname: a.test}}, {type: RequestRedirect, "
                              "requestRedirect: {hostname: b.test}}]}"),
              Contains(HasSubstr("must not have both RequestRedirect and URLRewrite")));
}

}  // namespace
}  // namespace sluice::config
