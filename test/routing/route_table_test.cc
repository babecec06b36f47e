#include "proxy/routing/table/route_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/route_table_builder.h"
#include "test/routing/request_maker.h"

namespace sluice::routing {
namespace {

using test::RequestMaker;

/// An entry for the rule `name`; members that a test does not set keep their defaults.
RouteEntry entryNamed(const std::string& name, PathKind kind = PathKind::kPrefix, const std::string& path = "/") {
  auto rule = std::make_shared<Rule>();
  rule->route = name;
  RouteEntry result;
  result.pathKind = kind;
  result.path = path;
  result.precedence.route = name;
  result.rule = std::move(rule);
  return result;
}

RouteEntry forHost(RouteEntry base, const std::string& hostname) {
  base.hostname = hostname;
  return base;
}

RouteEntry atListener(RouteEntry base, const std::string& hostname) {
  base.listenerHostname = hostname;
  return base;
}

RouteTable tableOfEntries(std::vector<RouteEntry> entries) {
  RouteTableBuilder builder;
  for (RouteEntry& each : entries) EXPECT_TRUE(builder.add(std::move(each)).ok());
  return std::move(builder).build();
}

std::string routeFor(const RouteTable& table, const RequestMaker& request) {
  const RouteMatch match = table.match(request.head());
  return match.rule == nullptr ? "none: " + std::string(match.reason) : match.rule->route;
}

std::string get(const RouteTable& table, const std::string& authority, const std::string& target) {
  return routeFor(table, RequestMaker("GET", authority, target));
}

/// Returns how the table treats the slashes of a host's paths: "keep", "reject" or "decode", and "merge" if it does.
std::string slashesOf(const RouteTable& table, const std::string& authority) {
  const http::SlashRules rules = table.slashRules(authority);
  const std::string encoded = rules.encoded == http::EncodedSlash::kKeep     ? "keep"
                              : rules.encoded == http::EncodedSlash::kReject ? "reject"
                                                                             : "decode";
  return rules.merge ? encoded + " merge" : encoded;
}

TEST(RouteTable, KeepsUnusualSlashesWhereNoRuleMatchesByPath) {
  RouteEntry byMethod = forHost(entryNamed("method"), "method.test");
  byMethod.method = "GET";
  RouteEntry ofGrpc = forHost(entryNamed("grpc"), "grpc.test");
  ofGrpc.rpc = RpcPattern{"a.Service", "Call", false};
  const RouteTable table = tableOfEntries(
      {forHost(entryNamed("all"), "all.test"), std::move(byMethod), std::move(ofGrpc),
       forHost(entryNamed("rest"), "path.test"), forHost(entryNamed("path", PathKind::kPrefix, "/a"), "path.test"),
       forHost(entryNamed("exact", PathKind::kExact, "/"), "exact.test"),
       forHost(entryNamed("expression", PathKind::kExpression, "/.*"), "expression.test"),
       forHost(entryNamed("named"), "x.wild.test"), forHost(entryNamed("wild", PathKind::kPrefix, "/b"), "*.wild.test"),
       atListener(forHost(entryNamed("own"), "all.test"), "own.test")});
  EXPECT_EQ(slashesOf(table, "all.test:8080"), "keep");
  EXPECT_EQ(slashesOf(table, "method.test"), "keep");
  EXPECT_EQ(slashesOf(table, "grpc.test"), "reject merge");
  EXPECT_EQ(slashesOf(table, "path.test"), "reject merge");
  EXPECT_EQ(slashesOf(table, "exact.test"), "reject merge");
  EXPECT_EQ(slashesOf(table, "expression.test"), "reject merge");
  // A request that no rule of its most specific hostname takes falls back to the wildcard's rules.
  EXPECT_EQ(slashesOf(table, "x.wild.test"), "reject merge");
  EXPECT_EQ(slashesOf(table, "own.test"), "keep");
  EXPECT_EQ(slashesOf(table, "unknown.test"), "keep");
}

TEST(RouteTable, TreatsSlashesAsTheSettingsSay) {
  const auto tableWith = [](const base::PathSettings& paths) {
    RouteTableBuilder builder(paths);
    EXPECT_TRUE(builder.add(forHost(entryNamed("all"), "all.test")).ok());
    EXPECT_TRUE(builder.add(forHost(entryNamed("path", PathKind::kPrefix, "/a"), "path.test")).ok());
    return std::move(builder).build();
  };
  const RouteTable keeping = tableWith({base::EncodedSlash::kKeep, base::MergeSlashes::kFalse});
  EXPECT_EQ(slashesOf(keeping, "all.test"), "keep");
  EXPECT_EQ(slashesOf(keeping, "path.test"), "keep");
  const RouteTable rejecting = tableWith({base::EncodedSlash::kReject, base::MergeSlashes::kTrue});
  EXPECT_EQ(slashesOf(rejecting, "all.test"), "reject merge");
  EXPECT_EQ(slashesOf(rejecting, "path.test"), "reject merge");
  const RouteTable decoding = tableWith({base::EncodedSlash::kDecode, base::MergeSlashes::kAuto});
  EXPECT_EQ(slashesOf(decoding, "all.test"), "decode");
  EXPECT_EQ(slashesOf(decoding, "path.test"), "decode merge");
}

TEST(RouteTable, FindsNothingWhenEmpty) {
  EXPECT_EQ(get(RouteTable(), "a.test", "/"), "none: no listener for this hostname");
}

TEST(RouteTable, MisdirectsARequestByAConnectionForAnotherListener) {
  const RouteTable table =
      tableOfEntries({atListener(entryNamed("a"), "a.test"), atListener(entryNamed("wild"), "*.wild.test"),
                      atListener(entryNamed("other"), "")});
  const auto found = [&](const std::string& serverName, const std::string& host) {
    const RouteMatch match = table.match(RequestMaker("GET", host, "/").head(), serverName);
    return match.misdirected ? "misdirected" : match.rule == nullptr ? "none" : match.rule->route;
  };
  EXPECT_EQ(found("a.test", "a.test"), "a");
  EXPECT_EQ(found("a.test", "a.test:8443"), "a");
  EXPECT_EQ(found("x.wild.test", "y.wild.test"), "wild");
  EXPECT_EQ(found("b.test", "c.test"), "other");
  EXPECT_EQ(found("", "a.test"), "a");
  EXPECT_EQ(found("a.test", "x.wild.test"), "misdirected");
  EXPECT_EQ(found("x.wild.test", "a.test"), "misdirected");
  EXPECT_EQ(found("b.test", "a.test"), "misdirected");
  EXPECT_EQ(found("a.test", "b.test"), "misdirected");
}

TEST(RouteTable, MatchesPrefixesByPathElement) {
  const RouteTable table = tableOfEntries({entryNamed("foo", PathKind::kPrefix, "/foo")});
  EXPECT_EQ(get(table, "a.test", "/foo"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foo/"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foo/bar"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foo?x=/y"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foobar"), "none: no rule for this request");
  EXPECT_EQ(get(table, "a.test", "/fo"), "none: no rule for this request");
  EXPECT_EQ(get(table, "a.test", "/Foo"), "none: no rule for this request");
  EXPECT_EQ(get(table, "a.test", "/"), "none: no rule for this request");
}

TEST(RouteTable, IgnoresTheSlashAtAPrefixesEnd) {
  const RouteTable table = tableOfEntries({entryNamed("foo", PathKind::kPrefix, "/foo/")});
  EXPECT_EQ(get(table, "a.test", "/foo"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foo/bar"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foobar"), "none: no rule for this request");
}

TEST(RouteTable, MatchesExactPathsWithTheirSlash) {
  const RouteTable table = tableOfEntries({entryNamed("foo", PathKind::kExact, "/foo")});
  EXPECT_EQ(get(table, "a.test", "/foo"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foo?q"), "foo");
  EXPECT_EQ(get(table, "a.test", "/foo/"), "none: no rule for this request");
}

TEST(RouteTable, MatchesExpressionsAgainstTheWholePath) {
  const RouteTable table = tableOfEntries({entryNamed("v", PathKind::kExpression, "/v[0-9]+/.*")});
  EXPECT_EQ(get(table, "a.test", "/v12/x"), "v");
  EXPECT_EQ(get(table, "a.test", "/v12/x?/y"), "v");
  EXPECT_EQ(get(table, "a.test", "/a/v12/x"), "none: no rule for this request");
  EXPECT_EQ(get(table, "a.test", "/v12"), "none: no rule for this request");
}

TEST(RouteTable, PrefersExactThenExpressionThenTheLongestPrefix) {
  const RouteTable table = tableOfEntries(
      {entryNamed("root"), entryNamed("a", PathKind::kPrefix, "/a"), entryNamed("abc", PathKind::kPrefix, "/a/b/c"),
       entryNamed("expression", PathKind::kExpression, "/a/b/(c|d)"), entryNamed("exact", PathKind::kExact, "/a/b/c")});
  EXPECT_EQ(get(table, "x.test", "/a/b/c"), "exact");
  EXPECT_EQ(get(table, "x.test", "/a/b/d"), "expression");
  EXPECT_EQ(get(table, "x.test", "/a/b/c/d"), "abc");
  EXPECT_EQ(get(table, "x.test", "/a/b"), "a");
  EXPECT_EQ(get(table, "x.test", "/b"), "root");
  EXPECT_EQ(get(table, "x.test", "*"), "root");
}

TEST(RouteTable, FallsBackToLessSpecificPathsWherePredicatesFail) {
  RouteEntry exact = entryNamed("exact", PathKind::kExact, "/a/b");
  exact.method = "POST";
  RouteEntry deep = entryNamed("deep", PathKind::kPrefix, "/a/b");
  deep.headers = {{"x-on", "1"}};
  const RouteTable table = tableOfEntries({exact, deep, entryNamed("a", PathKind::kPrefix, "/a")});
  EXPECT_EQ(routeFor(table, RequestMaker("POST", "x.test", "/a/b")), "exact");
  EXPECT_EQ(routeFor(table, RequestMaker("GET", "x.test", "/a/b", {{"x-on", "1"}})), "deep");
  EXPECT_EQ(routeFor(table, RequestMaker("GET", "x.test", "/a/b")), "a");
}

TEST(RouteTable, BreaksTiesByMethodThenHeadersThenQueryThenAgeThenNameThenOrder) {
  RouteEntry method = entryNamed("method");
  method.method = "GET";
  RouteEntry headers = entryNamed("headers");
  headers.headers = {{"x-a", "1"}, {"x-b", "1"}};
  RouteEntry header = entryNamed("header");
  header.headers = {{"x-a", "1"}};
  header.query = {{"q", "1"}, {"r", "1"}};
  RouteEntry query = entryNamed("query");
  query.query = {{"q", "1"}};
  RouteEntry older = entryNamed("older");
  older.precedence.created = "2024-01-01T00:00:00Z";
  RouteEntry newer = entryNamed("newer");
  newer.precedence.created = "2025-01-01T00:00:00Z";
  RouteEntry alphabet = newer;
  alphabet.precedence.route = "zz";
  RouteEntry laterRule = alphabet;
  laterRule.precedence.rule = 1;
  RouteEntry laterMatch = laterRule;
  laterMatch.precedence.match = 1;
  std::vector<RouteEntry> best = {method, headers, header, query, older, newer, alphabet, laterRule, laterMatch};
  const RequestMaker request("GET", "x.test", "/?q=1&r=1", {{"x-a", "1"}, {"x-b", "1"}});
  while (!best.empty()) {
    std::vector<RouteEntry> shuffled(best.rbegin(), best.rend());
    auto marked = std::make_shared<Rule>();
    marked->route = "expected";
    shuffled.back().rule = marked;
    EXPECT_EQ(routeFor(tableOfEntries(shuffled), request), "expected") << best.size() << " entries";
    best.erase(best.begin());
  }
}

TEST(RouteTable, PrefersTheExactHostnameThenTheLongestWildcardThenAll) {
  const RouteTable table = tableOfEntries({forHost(entryNamed("all"), ""), forHost(entryNamed("com"), "*.com"),
                                           forHost(entryNamed("example"), "*.example.com"),
                                           forHost(entryNamed("exact"), "www.example.com")});
  EXPECT_EQ(get(table, "www.example.com", "/"), "exact");
  EXPECT_EQ(get(table, "www.example.com:8080", "/"), "exact");
  EXPECT_EQ(get(table, "www.example.com.", "/"), "exact");
  EXPECT_EQ(get(table, "api.example.com", "/"), "example");
  EXPECT_EQ(get(table, "a.b.example.com", "/"), "example");
  EXPECT_EQ(get(table, "example.com", "/"), "com");
  EXPECT_EQ(get(table, "example.org", "/"), "all");
  EXPECT_EQ(get(table, "", "/"), "all");
}

TEST(RouteTable, DoesNotLetAWildcardStandForNoLabelOrPartOfOne) {
  const RouteTable table = tableOfEntries({forHost(entryNamed("example"), "*.example.com")});
  EXPECT_EQ(get(table, "example.com", "/"), "none: no route for this hostname");
  EXPECT_EQ(get(table, "wwwexample.com", "/"), "none: no route for this hostname");
  EXPECT_EQ(get(table, ".example.com", "/"), "none: no route for this hostname");
}

TEST(RouteTable, FallsBackToLessSpecificHostnamesOfTheListenerWhereNoRuleFits) {
  RouteEntry exact = forHost(entryNamed("exact", PathKind::kExact, "/only"), "www.example.com");
  const RouteTable table =
      tableOfEntries({exact, forHost(entryNamed("wild", PathKind::kPrefix, "/wild"), "*.example.com"),
                      forHost(entryNamed("all"), "")});
  EXPECT_EQ(get(table, "www.example.com", "/only"), "exact");
  EXPECT_EQ(get(table, "www.example.com", "/wild"), "wild");
  EXPECT_EQ(get(table, "www.example.com", "/else"), "all");
}

TEST(RouteTable, GivesARequestToTheListenerWithTheMostSpecificHostnameAlone) {
  RouteTableBuilder builder;
  ASSERT_TRUE(builder.add(atListener(entryNamed("all"), "")).ok());
  ASSERT_TRUE(builder.add(atListener(entryNamed("wild", PathKind::kPrefix, "/wild"), "*.example.com")).ok());
  builder.addListener("www.example.com");
  const RouteTable table = std::move(builder).build();
  EXPECT_EQ(get(table, "www.example.com", "/wild"), "none: no route for this hostname");
  EXPECT_EQ(get(table, "api.example.com", "/wild"), "wild");
  EXPECT_EQ(get(table, "api.example.com", "/else"), "none: no rule for this request");
  EXPECT_EQ(get(table, "example.com", "/else"), "all");
}

TEST(RouteTable, GivesRequestsWithoutAuthorityToCatchAllsOnly) {
  const RouteTable narrow = tableOfEntries({atListener(entryNamed("narrow"), "*.example.com")});
  EXPECT_EQ(get(narrow, "", "/"), "none: no listener for this hostname");
  const RouteTable routes = tableOfEntries({forHost(entryNamed("named"), "a.test"), forHost(entryNamed("all"), "")});
  EXPECT_EQ(get(routes, "", "/"), "all");
}

TEST(RouteTable, TreatsHostsLongerThanADnsNameAsUnknown) {
  const RouteTable table = tableOfEntries({forHost(entryNamed("wild"), "*.test"), forHost(entryNamed("all"), "")});
  const std::string fits = std::string(248, 'a') + ".test";
  EXPECT_EQ(get(table, fits, "/"), "wild");
  EXPECT_EQ(get(table, "a" + fits, "/"), "all");
}

TEST(RouteTable, FindsAddressesByTheirLiteralOnly) {
  const RouteTable table = tableOfEntries({forHost(entryNamed("wild"), "*.test"), forHost(entryNamed("all"), "")});
  EXPECT_EQ(get(table, "[::1]:80", "/"), "all");
  EXPECT_EQ(get(table, "127.0.0.1", "/"), "all");
}

TEST(RouteTable, MatchesMethodsWithCase) {
  RouteEntry post = entryNamed("post");
  post.method = "POST";
  const RouteTable table = tableOfEntries({post});
  EXPECT_EQ(routeFor(table, RequestMaker("POST", "a.test", "/")), "post");
  EXPECT_EQ(routeFor(table, RequestMaker("post", "a.test", "/")), "none: no rule for this request");
}

TEST(RouteTable, RefusesMalformedExpressions) {
  RouteTableBuilder builder;
  EXPECT_FALSE(builder.add(entryNamed("path", PathKind::kExpression, "/(")).ok());
  RouteEntry header = entryNamed("header");
  header.headers = {{"x-a", "[", true}};
  EXPECT_FALSE(builder.add(header).ok());
  RouteEntry query = entryNamed("query");
  query.query = {{"q", "*", true}};
  EXPECT_FALSE(builder.add(query).ok());
  EXPECT_EQ(get(std::move(builder).build(), "a.test", "/"), "none: no listener for this hostname");
}

}  // namespace
}  // namespace sluice::routing
