#include "proxy/routing/policy/url_rewrite.h"

#include <gtest/gtest.h>

#include "proxy/http/target.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::routeWithRules;
using test::with;
using test::World;

std::string rewriteFilters(const std::string& rewrite) {
  return "filters: [{type: URLRewrite, urlRewrite: " + rewrite + "}]";
}
std::string pathFilter(const std::string& type, const std::string& field, const std::string& value) {
  return rewriteFilters("{path: {type: " + type + ", " + field + ": '" + value + "'}}");
}
std::string prefixFilter(const std::string& value) {
  return pathFilter("ReplacePrefixMatch", "replacePrefixMatch", value);
}
std::string fullFilter(const std::string& value) { return pathFilter("ReplaceFullPath", "replaceFullPath", value); }
World worldWithRule(const std::string& match, const std::string& rule, const std::string& backendRef = {}) {
  return World(
      {kClass, kGateway, kBackend,
       routeWithRules("rules: [{matches: [{path: {value: '" + match + "'}}], " + rule + (rule.empty() ? "" : ", ") +
                      "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080" +
                      (backendRef.empty() ? "" : ", " + backendRef) + "}]}]")});
}

/// Returns the rewritten target of a request, after checking that it is in normal form.
std::string rewritten(const World& world, const std::string& target) {
  const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", target));
  if (rule == nullptr) return "404";
  base::ChunkPool pool;
  base::Arena arena(pool);
  const std::string result(rule->rewrite.rewritten(arena, target));
  const auto normal = http::normalizeTarget(arena, result);
  EXPECT_TRUE(normal) << result;
  if (normal) {
    EXPECT_EQ(normal->text, result);
  }
  return result;
}

struct RewriteRow {
  const char* request;
  const char* prefix;
  const char* replacement;
  const char* result;
};

// The first eleven rows are the table of HTTPPathModifier.replacePrefixMatch.
constexpr RewriteRow kTable[] = {{"/foo/bar", "/foo", "/xyz", "/xyz/bar"},
                                 {"/foo/bar", "/foo", "/xyz/", "/xyz/bar"},
                                 {"/foo/bar", "/foo/", "/xyz", "/xyz/bar"},
                                 {"/foo/bar", "/foo/", "/xyz/", "/xyz/bar"},
                                 {"/foo", "/foo", "/xyz", "/xyz"},
                                 {"/foo/", "/foo", "/xyz", "/xyz/"},
                                 {"/foo/bar", "/foo", "", "/bar"},
                                 {"/foo/", "/foo", "", "/"},
                                 {"/foo", "/foo", "", "/"},
                                 {"/foo/", "/foo", "/", "/"},
                                 {"/foo", "/foo", "/", "/"},
                                 {"/foo", "/foo/", "/xyz/", "/xyz"},
                                 {"/foo/bar/", "/foo/bar", "/x/y", "/x/y/"},
                                 {"/bar", "/", "/xyz", "/xyz/bar"},
                                 {"/", "/", "/xyz", "/xyz/"},
                                 {"/", "/", "/", "/"},
                                 {"/foo/bar", "/", "", "/foo/bar"},
                                 {"/fo%C3%A9/a", "/fo%c3%a9", "/%7ex", "/~x/a"},
                                 {"/foo/bar", "/foo", "/a/./b/../c//d", "/a/c/d/bar"}};

TEST(UrlRewrite, ReplacesPrefixesAsTheTableOfTheApiSays) {
  for (const RewriteRow& row : kTable) {
    const World world = worldWithRule(row.prefix, prefixFilter(row.replacement));
    EXPECT_EQ(rewritten(world, row.request), row.result) << row.prefix << " by " << row.replacement;
    EXPECT_EQ(rewritten(world, row.request + std::string("?a=/foo&b=?")), row.result + std::string("?a=/foo&b=?"));
  }
}

TEST(UrlRewrite, LeavesAPathAloneThatOnlyBeginsLikeThePrefix) {
  EXPECT_EQ(rewritten(worldWithRule("/foo", prefixFilter("/xyz")), "/foobar"), "404");
}

TEST(UrlRewrite, ReplacesTheFullPathAndKeepsTheQuery) {
  const World world = worldWithRule("/", fullFilter("/one/"));
  EXPECT_EQ(rewritten(world, "/"), "/one/");
  EXPECT_EQ(rewritten(world, "/a/b?c=d"), "/one/?c=d");
  EXPECT_EQ(rewritten(worldWithRule("/", fullFilter("")), "/a?b"), "/?b");
}

TEST(UrlRewrite, LeavesTheAsteriskAlone) {
  const World world = worldWithRule("/", fullFilter("/one"));
  base::ChunkPool pool;
  base::Arena arena(pool);
  const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->rewrite.rewritten(arena, "*"), "*");
}

TEST(UrlRewrite, IsAppliedAfterMatchingTheClientsPath) {
  const World world(
      {kClass, kGateway, kBackend, with(kBackend, "name: origin", "name: other"),
       routeWithRules("rules: [{matches: [{path: {value: /a}}], " + prefixFilter("/b") +
                      ", backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]}, "
                      "{matches: [{path: {value: /b}}], backendRefs: [{group: gateway.networking.k8s.io, "
                      "kind: Backend, name: other}]}]")});
  EXPECT_EQ(world.outcome("a.test", "/a"), "default/origin");
  EXPECT_EQ(world.outcome("a.test", "/b"), "default/other");
}

TEST(UrlRewrite, IsKeptAtTheWeightedBackend) {
  const World world = worldWithRule("/foo", rewriteFilters("{hostname: rule.test}"), prefixFilter("/share"));
  const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", "/foo"));
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->rewrite.authority, "rule.test");
  EXPECT_EQ(rule->rewrite.path, routing::PathRewrite::kNone);
  base::ChunkPool pool;
  base::Arena arena(pool);
  EXPECT_EQ(rule->backends.at(0).rewrite.rewritten(arena, "/foo/bar?x"), "/share/bar?x");
}

TEST(UrlRewrite, Answers500ForAPathWithoutANormalForm) {
  for (const char* value : {"xyz", "/a?b", "/a#b", "/a%2Fb", "/a%zz", "/a b", "/..", "/a\\b"}) {
    for (const std::string& filter : {prefixFilter(value), fullFilter(value)}) {
      const World ofRule = worldWithRule("/", filter);
      EXPECT_EQ(ofRule.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue") << filter;
      EXPECT_EQ(ofRule.outcome(), "500") << filter;
      const World ofBackendRef = worldWithRule("/", "", filter);
      EXPECT_EQ(ofBackendRef.condition("HTTPRoute", "route", "PartiallyInvalid"), "True/UnsupportedValue") << filter;
      EXPECT_EQ(ofBackendRef.outcome(), "500") << filter;
    }
  }
}

}  // namespace
}  // namespace sluice::compile
