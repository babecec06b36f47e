#include "proxy/routing/table/route_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proxy/routing/snapshot.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

using test::RequestMaker;

/// An entry for the rule `name`; members that a test does not set keep their defaults.
test::TableEntry entryNamed(const std::string& name, PathKind kind = PathKind::kPrefix, const std::string& path = "/") {
  auto rule = std::make_shared<Rule>();
  rule->route = name;
  test::TableEntry result;
  result.pathKind = kind;
  result.path = path;
  result.precedence.route = name;
  result.rule = std::move(rule);
  return result;
}

test::TableEntry forHost(test::TableEntry base, const std::string& hostname) {
  base.hostname = hostname;
  return base;
}

test::TableEntry atListener(test::TableEntry base, const std::string& hostname) {
  base.listenerHostname = hostname;
  return base;
}

RouteTable tableOfEntries(std::vector<test::TableEntry> entries) {
  RouteTableBuilder builder;
  for (test::TableEntry& each : entries) EXPECT_TRUE(test::addTo(builder, std::move(each)).ok());
  return builder.build();
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
  test::TableEntry byMethod = forHost(entryNamed("method"), "method.test");
  byMethod.method = "GET";
  test::TableEntry ofGrpc = forHost(entryNamed("grpc"), "grpc.test");
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
  // A request that matches no rule of its most specific hostname falls back to the wildcard's rules.
  EXPECT_EQ(slashesOf(table, "x.wild.test"), "reject merge");
  EXPECT_EQ(slashesOf(table, "own.test"), "keep");
  EXPECT_EQ(slashesOf(table, "unknown.test"), "keep");
}

TEST(RouteTable, TreatsSlashesAsTheSettingsSay) {
  const auto tableWith = [](const base::PathSettings& paths) {
    RouteTableBuilder builder(paths);
    EXPECT_TRUE(test::addTo(builder, forHost(entryNamed("all"), "all.test")).ok());
    EXPECT_TRUE(test::addTo(builder, forHost(entryNamed("path", PathKind::kPrefix, "/a"), "path.test")).ok());
    return builder.build();
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
  for (const char* const host : {"all.test", "path.test"}) {
    EXPECT_FALSE(keeping.slashRules(host).forwardsNormalForm);
    EXPECT_TRUE(rejecting.slashRules(host).forwardsNormalForm);
    EXPECT_TRUE(decoding.slashRules(host).forwardsNormalForm);
  }
}

TEST(RouteTable, IgnoresPathParametersWhereTheListenerDoes) {
  RouteTableBuilder builder;
  auto ignoring = std::make_shared<ServedListener>();
  ignoring->matching.ignorePathParameters = true;
  builder.addListener("ignoring.test", std::move(ignoring));
  for (const char* const listener : {"ignoring.test", ""}) {
    const std::pair<PathKind, const char*> paths[] = {{PathKind::kExact, "/exact/a"},
                                                      {PathKind::kPrefix, "/prefix"},
                                                      {PathKind::kExpression, "/expression/[0-9]"},
                                                      {PathKind::kExact, "/written;v=1"}};
    for (const auto& [kind, path] : paths) {
      EXPECT_TRUE(test::addTo(builder, atListener(entryNamed(path, kind, path), listener)).ok());
    }
  }
  const RouteTable table = builder.build();
  for (const std::string host : {"ignoring.test:8080", "other.test"}) {
    const bool ignores = host != "other.test";
    const std::string none = "none: no rule for this request";
    EXPECT_EQ(get(table, host, "/exact;v=1/a;w=2"), ignores ? "/exact/a" : none);
    EXPECT_EQ(get(table, host, "/prefix;v=1/b"), ignores ? "/prefix" : none);
    EXPECT_EQ(get(table, host, "/;v=1/prefix"), ignores ? "/prefix" : none);
    EXPECT_EQ(get(table, host, "/expression/7;v=1?q=;"), ignores ? "/expression/[0-9]" : none);
    EXPECT_EQ(get(table, host, "/written;v=1"), ignores ? none : "/written;v=1");
    EXPECT_EQ(get(table, host, "/prefix/b;v=1"), "/prefix") << "below a prefix they never count";
    EXPECT_EQ(get(table, host, "/prefix?a;v=1"), "/prefix");
  }
}

TEST(RouteTable, IgnoresTheParametersOfCallsWhereTheListenerDoes) {
  RouteTableBuilder builder;
  auto ignoring = std::make_shared<ServedListener>();
  ignoring->matching.ignorePathParameters = true;
  builder.addListener("", std::move(ignoring));
  test::TableEntry call = entryNamed("call");
  call.rpc = RpcPattern{"a.Service", "Call", false};
  EXPECT_TRUE(test::addTo(builder, std::move(call)).ok());
  EXPECT_EQ(get(builder.build(), "a.test", "/a.Service;v=1/Call;w=2"), "call");
}

TEST(RouteTable, KnowsWhichListenersTakeThePortOutOfTheAuthority) {
  RouteTableBuilder builder;
  auto stripping = std::make_shared<ServedListener>();
  stripping->matching.stripAuthorityPort = true;
  builder.addListener("*.stripping.test", std::move(stripping));
  builder.addListener("other.test");
  const RouteTable table = builder.build();
  EXPECT_TRUE(table.stripsPorts());
  EXPECT_TRUE(table.stripsPort("a.stripping.test:8080"));
  EXPECT_FALSE(table.stripsPort("other.test:8080"));
  EXPECT_FALSE(table.stripsPort("unknown.test:8080"));
  builder.addListener("other.test");
  EXPECT_FALSE(builder.build().stripsPorts());
}

TEST(RouteTable, TablesOfOneBuilderShareTheRulesOfARoute) {
  const auto route = std::make_shared<const RouteCandidates>(1, test::candidateOf(entryNamed("shared")).value());
  RouteTableBuilder builder;
  for (const char* listener : {"", "*.example.com"}) {
    for (const char* hostname : {"a.example.com", "*.example.com", ""}) builder.add(listener, hostname, route);
  }
  const RouteTable first = builder.build();
  builder.add("", "", route);
  const RouteTable second = builder.build();
  EXPECT_EQ(get(first, "a.example.com", "/"), "shared");
  EXPECT_EQ(get(first, "b.test", "/"), "shared");
  EXPECT_EQ(get(second, "b.test", "/"), "shared");
  // The rules hold the route's match once, whatever the number of their hostnames; the route itself holds it too.
  EXPECT_EQ(route->front().match.use_count(), 2);
}

TEST(RouteTable, FindsPrefixesThatPartAnywhere) {
  const RouteTable table = tableOfEntries(
      {entryNamed("long", PathKind::kPrefix, "/a/b/c/d"), entryNamed("fork", PathKind::kPrefix, "/a/b/x/y"),
       entryNamed("short", PathKind::kPrefix, "/a"), entryNamed("like", PathKind::kPrefix, "/a/b/cc"),
       entryNamed("empty", PathKind::kPrefix, "/a//e")});
  EXPECT_EQ(get(table, "a.test", "/a/b/c/d/e"), "long");
  EXPECT_EQ(get(table, "a.test", "/a/b/c/d"), "long");
  EXPECT_EQ(get(table, "a.test", "/a/b/c/dd"), "short");
  EXPECT_EQ(get(table, "a.test", "/a/b/c"), "short");
  EXPECT_EQ(get(table, "a.test", "/a/b/cc/d"), "like");
  EXPECT_EQ(get(table, "a.test", "/a/b/x/y/"), "fork");
  EXPECT_EQ(get(table, "a.test", "/a/b/x"), "short");
  EXPECT_EQ(get(table, "a.test", "/a//e"), "empty");
  EXPECT_EQ(get(table, "a.test", "/a/"), "short");
  EXPECT_EQ(get(table, "a.test", "/b"), "none: no rule for this request");
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
  test::TableEntry exact = entryNamed("exact", PathKind::kExact, "/a/b");
  exact.method = "POST";
  test::TableEntry deep = entryNamed("deep", PathKind::kPrefix, "/a/b");
  deep.headers = {{"x-on", "1"}};
  const RouteTable table = tableOfEntries({exact, deep, entryNamed("a", PathKind::kPrefix, "/a")});
  EXPECT_EQ(routeFor(table, RequestMaker("POST", "x.test", "/a/b")), "exact");
  EXPECT_EQ(routeFor(table, RequestMaker("GET", "x.test", "/a/b", {{"x-on", "1"}})), "deep");
  EXPECT_EQ(routeFor(table, RequestMaker("GET", "x.test", "/a/b")), "a");
}

TEST(RouteTable, BreaksTiesByMethodThenHeadersThenQueryThenAgeThenNameThenOrder) {
  test::TableEntry method = entryNamed("method");
  method.method = "GET";
  test::TableEntry headers = entryNamed("headers");
  headers.headers = {{"x-a", "1"}, {"x-b", "1"}};
  test::TableEntry header = entryNamed("header");
  header.headers = {{"x-a", "1"}};
  header.query = {{"q", "1"}, {"r", "1"}};
  test::TableEntry query = entryNamed("query");
  query.query = {{"q", "1"}};
  test::TableEntry older = entryNamed("older");
  older.precedence.created = "2024-01-01T00:00:00Z";
  test::TableEntry newer = entryNamed("newer");
  newer.precedence.created = "2025-01-01T00:00:00Z";
  test::TableEntry alphabet = newer;
  alphabet.precedence.route = "zz";
  test::TableEntry laterRule = alphabet;
  laterRule.precedence.rule = 1;
  test::TableEntry laterMatch = laterRule;
  laterMatch.precedence.match = 1;
  std::vector<test::TableEntry> best = {method, headers, header, query, older, newer, alphabet, laterRule, laterMatch};
  const RequestMaker request("GET", "x.test", "/?q=1&r=1", {{"x-a", "1"}, {"x-b", "1"}});
  while (!best.empty()) {
    std::vector<test::TableEntry> shuffled(best.rbegin(), best.rend());
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
  test::TableEntry exact = forHost(entryNamed("exact", PathKind::kExact, "/only"), "www.example.com");
  const RouteTable table =
      tableOfEntries({exact, forHost(entryNamed("wild", PathKind::kPrefix, "/wild"), "*.example.com"),
                      forHost(entryNamed("all"), "")});
  EXPECT_EQ(get(table, "www.example.com", "/only"), "exact");
  EXPECT_EQ(get(table, "www.example.com", "/wild"), "wild");
  EXPECT_EQ(get(table, "www.example.com", "/else"), "all");
}

TEST(RouteTable, GivesARequestToTheListenerWithTheMostSpecificHostnameAlone) {
  RouteTableBuilder builder;
  ASSERT_TRUE(test::addTo(builder, atListener(entryNamed("all"), "")).ok());
  ASSERT_TRUE(test::addTo(builder, atListener(entryNamed("wild", PathKind::kPrefix, "/wild"), "*.example.com")).ok());
  builder.addListener("www.example.com");
  const RouteTable table = builder.build();
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
  test::TableEntry post = entryNamed("post");
  post.method = "POST";
  const RouteTable table = tableOfEntries({post});
  EXPECT_EQ(routeFor(table, RequestMaker("POST", "a.test", "/")), "post");
  EXPECT_EQ(routeFor(table, RequestMaker("post", "a.test", "/")), "none: no rule for this request");
}

TEST(RouteTable, RefusesMalformedExpressions) {
  RouteTableBuilder builder;
  EXPECT_FALSE(test::addTo(builder, entryNamed("path", PathKind::kExpression, "/(")).ok());
  test::TableEntry header = entryNamed("header");
  header.headers = {{"x-a", "[", true}};
  EXPECT_FALSE(test::addTo(builder, header).ok());
  test::TableEntry query = entryNamed("query");
  query.query = {{"q", "*", true}};
  EXPECT_FALSE(test::addTo(builder, query).ok());
  EXPECT_EQ(get(builder.build(), "a.test", "/"), "none: no listener for this hostname");
}

}  // namespace
}  // namespace sluice::routing
