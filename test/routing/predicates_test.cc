#include "proxy/routing/table/predicates.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

using test::RequestMaker;

Predicate text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }

Predicate expression(std::string name, std::string_view pattern) { return {std::move(name), test::regexOf(pattern)}; }

bool headerHolds(Predicate predicate, const RequestMaker& request) {
  Predicates predicates;
  predicates.headers.push_back(std::move(predicate));
  return predicates.hold(request.head());
}

bool queryHolds(Predicate predicate, const std::string& query) {
  Predicates predicates;
  predicates.query.push_back(std::move(predicate));
  return predicates.hold(RequestMaker("GET", "a.test", "/?" + query).head());
}

TEST(Predicates, ComparesAHeaderWithItsWholeValue) {
  const RequestMaker request("GET", "a.test", "/", {{"version", "v2"}});
  EXPECT_TRUE(headerHolds(text("version", "v2"), request));
  EXPECT_FALSE(headerHolds(text("version", "v"), request));
  EXPECT_FALSE(headerHolds(text("version", "V2"), request));
  EXPECT_FALSE(headerHolds(text("version", ""), request));
  EXPECT_FALSE(headerHolds(text("absent", "v2"), request));
  EXPECT_TRUE(headerHolds(expression("version", "v[0-9]"), request));
  EXPECT_FALSE(headerHolds(expression("version", "[0-9]"), request));
  EXPECT_FALSE(headerHolds(expression("absent", ".*"), request));
}

TEST(Predicates, JoinsTheLinesOfARepeatedHeaderByCommas) {
  const RequestMaker request("GET", "a.test", "/", {{"x", "a"}, {"y", "-"}, {"x", "b"}, {"x", ""}});
  EXPECT_TRUE(headerHolds(text("x", "a,b,"), request));
  EXPECT_FALSE(headerHolds(text("x", "a"), request));
  EXPECT_FALSE(headerHolds(text("x", "b"), request));
  EXPECT_FALSE(headerHolds(text("x", "a,b,c"), request));
  EXPECT_FALSE(headerHolds(text("x", "a,b"), request));
  EXPECT_TRUE(headerHolds(expression("x", "a,b,"), request));
  EXPECT_FALSE(headerHolds(expression("x", "a"), request));
}

TEST(Predicates, MatchesExpressionsOnRepeatedHeadersOfAnyLength) {
  for (const std::size_t length : {std::size_t{511}, std::size_t{512}, std::size_t{40000}}) {
    const std::string part(length, 'a');
    const RequestMaker request("GET", "a.test", "/", {{"x", part}, {"x", part}});
    EXPECT_TRUE(headerHolds(expression("x", "a+,a+"), request)) << length;
    EXPECT_FALSE(headerHolds(expression("x", "a+,a+b"), request)) << length;
  }
}

TEST(Predicates, TakesTheAuthorityForTheHostHeader) {
  const RequestMaker request("GET", "a.test:81", "/");
  EXPECT_TRUE(headerHolds(text("host", "a.test:81"), request));
  EXPECT_FALSE(headerHolds(text("host", "a.test"), request));
  EXPECT_TRUE(headerHolds(expression("host", "a\\.test(:[0-9]+)?"), request));
  EXPECT_FALSE(headerHolds(expression("host", ".*"), RequestMaker("GET", "", "/")));
}

TEST(Predicates, MatchesBytesThatAreNoUtf8) {
  EXPECT_TRUE(headerHolds(expression("x", "a.b"), RequestMaker("GET", "a.test", "/",
                                                               {{"x",
                                                                 "a\xff"
                                                                 "b"}})));
}

TEST(Predicates, LooksAtTheFirstParameterOfAName) {
  EXPECT_TRUE(queryHolds(text("a", "1"), "a=1&a=2"));
  EXPECT_FALSE(queryHolds(text("a", "2"), "a=1&a=2"));
  EXPECT_TRUE(queryHolds(text("a", "1"), "x&aa=2&a=1"));
  EXPECT_FALSE(queryHolds(text("a", "1"), "A=1"));
  EXPECT_FALSE(queryHolds(text("a", "1"), "b=a=1"));
}

TEST(Predicates, TakesAParameterWithoutValueForEmpty) {
  EXPECT_TRUE(queryHolds(text("a", ""), "a"));
  EXPECT_TRUE(queryHolds(text("a", ""), "b&a="));
  EXPECT_FALSE(queryHolds(text("a", ""), "b"));
  EXPECT_TRUE(queryHolds(text("a", "b=c"), "a=b=c"));
  EXPECT_FALSE(queryHolds(text("a", "1"), ""));
}

TEST(Predicates, DecodesNamesAndValuesOfParameters) {
  EXPECT_TRUE(queryHolds(text("admin", "yes"), "%61dmin=ye%73"));
  EXPECT_TRUE(queryHolds(text("q", "a&b"), "q=a%26b"));
  EXPECT_TRUE(queryHolds(text("q", "a b"), "q=a%20b"));
  EXPECT_FALSE(queryHolds(text("q", "a b"), "q=a+b"));
  EXPECT_TRUE(queryHolds(expression("q", "a&b"), "q=a%26b"));
  EXPECT_TRUE(queryHolds(text("q", "%4"), "q=%4"));
  EXPECT_TRUE(queryHolds(text("q", "%zz"), "q=%zz"));
  EXPECT_TRUE(queryHolds(text("q", std::string("a\0b", 3)), "q=a%00b"));
}

TEST(Predicates, MatchesExpressionsOnEncodedParametersOfAnyLength) {
  for (const std::size_t length : {std::size_t{1023}, std::size_t{1024}, std::size_t{1025}, std::size_t{30000}}) {
    const std::string value = std::string(length - 1, 'a') + "%62";
    EXPECT_TRUE(queryHolds(expression("q", "a+b"), "q=" + value)) << length;
    EXPECT_FALSE(queryHolds(expression("q", "a+"), "q=" + value)) << length;
  }
}

TEST(Predicates, MatchesPatternsThatOthersBacktrackInInLinearTime) {
  const std::string value(50'000, 'a');
  for (const char* pattern : {"(a+)+b", "(a|a)*b", "(.*)*b"}) {
    EXPECT_FALSE(headerHolds(expression("x", pattern), RequestMaker("GET", "a.test", "/", {{"x", value}}))) << pattern;
    EXPECT_TRUE(headerHolds(expression("x", pattern), RequestMaker("GET", "a.test", "/", {{"x", value + "b"}})))
        << pattern;
    EXPECT_FALSE(queryHolds(expression("q", pattern), "q=" + value)) << pattern;
    EXPECT_TRUE(queryHolds(expression("q", pattern), "q=" + value + "b")) << pattern;
  }
}

TEST(Predicates, HoldOnlyTogether) {
  Predicates predicates;
  predicates.method = "GET";
  predicates.headers.push_back(text("x", "1"));
  predicates.query.push_back(text("q", "1"));
  EXPECT_TRUE(predicates.hold(RequestMaker("GET", "a.test", "/?q=1", {{"x", "1"}}).head()));
  EXPECT_FALSE(predicates.hold(RequestMaker("PUT", "a.test", "/?q=1", {{"x", "1"}}).head()));
  EXPECT_FALSE(predicates.hold(RequestMaker("GET", "a.test", "/?q=2", {{"x", "1"}}).head()));
  EXPECT_FALSE(predicates.hold(RequestMaker("GET", "a.test", "/?q=1", {{"x", "2"}}).head()));
}

}  // namespace
}  // namespace sluice::routing
