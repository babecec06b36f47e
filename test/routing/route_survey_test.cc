// Tests the reasons that a survey gives for entries that do not get a request, and their order.
#include "proxy/routing/table/route_survey.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/routing/snapshot.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

class Survey : public ::testing::Test {
 protected:
  test::TableEntry& add(const std::string& name) {
    auto rule = std::make_shared<Rule>();
    rule->route = name;
    test::TableEntry entry;
    entry.rule = std::move(rule);
    entry.precedence.route = name;
    return entries_.emplace_back(std::move(entry));
  }
  RouteTable build() {
    RouteTableBuilder builder;
    for (const test::TableEntry& each : entries_) EXPECT_TRUE(test::addTo(builder, each).ok());
    return builder.build();
  }
  /// Returns "name: fit" of each entry, with the name of the field that does not match.
  static std::string said(const RouteTable& table, const test::RequestMaker& request, std::size_t most = 5) {
    static constexpr const char* kFits[] = {"holds", "path", "method", "header", "query", "hostname", "listener"};
    std::string text;
    for (const SurveyedEntry& each : surveyRoutes(table, request.head(), most).entries) {
      text += text.empty() ? "" : ", ";
      text += each.candidate->rule->route + ": " + kFits[static_cast<std::size_t>(each.fit)];
      if (!each.name.empty()) text += " " + std::string(each.name);
    }
    return text;
  }

  std::vector<test::TableEntry> entries_;
};

TEST_F(Survey, NamesTheFirstConditionThatDoesNotHold) {
  add("method").method = "PUT";
  add("header").headers = {{"X-A", "1"}};
  add("query").query = {{"q", "1"}};
  add("serves");
  EXPECT_EQ(said(build(), test::RequestMaker("GET", "a.test", "/x?q=2", {{"x-a", "2"}})),
            "method: method, header: header x-a, query: query q, serves: holds");
}

TEST_F(Survey, PutsTheClosestPathFirstBehindThePathsThatFit) {
  add("far").path = "/b";
  add("near").path = "/a/b/d";
  add("serves").path = "/a";
  EXPECT_EQ(said(build(), test::RequestMaker("GET", "a.test", "/a/b/c")), "serves: holds, near: path, far: path");
}

TEST_F(Survey, PutsTheClosestHostnameLast) {
  add("other").hostname = "other.example";
  add("sibling").hostname = "b.a.test";
  add("path").path = "/b";
  EXPECT_EQ(said(build(), test::RequestMaker("GET", "c.a.test", "/x")),
            "path: path, sibling: hostname, other: hostname");
}

TEST_F(Survey, ShowsARouteOfAListenerThatDoesNotOwnTheHost) {
  add("owner").listenerHostname = "a.test";
  entries_.back().path = "/owned";
  add("other").listenerHostname = "*.test";
  EXPECT_EQ(said(build(), test::RequestMaker("GET", "a.test", "/x")), "owner: path, other: listener");
}

TEST_F(Survey, ShowsTheServingEntryHoweverManyComeBefore) {
  for (int i = 0; i < 20; ++i) add("a" + std::to_string(i)).headers = {{"x-a", std::to_string(i)}};
  add("serves");
  const RouteTable table = build();
  const test::RequestMaker request("GET", "a.test", "/");
  EXPECT_TRUE(said(table, request, 2).ends_with("serves: holds"));
  EXPECT_EQ(surveyRoutes(table, request.head(), 2).entries.size(), 4U);
}

TEST_F(Survey, NamesTheHostnamesByWhichARequestIsFound) {
  add("serves").listenerHostname = "*.test";
  entries_.back().hostname = "*.a.test";
  const RouteTable table = build();
  const test::RequestMaker request("GET", "b.a.test", "/");
  const RouteSurvey survey = surveyRoutes(table, request.head(), 5);
  EXPECT_EQ(survey.listenerHostname, "*.test");
  ASSERT_NE(survey.serving(), nullptr);
  EXPECT_EQ(survey.serving()->hostname, "*.a.test");
}

TEST_F(Survey, ListsTheMatchesOfARule) {
  test::TableEntry second = add("rule");
  second.path = "/second";
  second.precedence.match = 1;
  entries_.push_back(second);
  add("other");
  const RouteTable table = build();
  const test::RequestMaker request("GET", "a.test", "/second");
  const RouteSurvey survey = surveyRoutes(table, request.head(), 5);
  const auto matches = matchesOfRule(table, *survey.serving());
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0]->path, "/");
  EXPECT_EQ(matches[1]->path, "/second");
}

TEST_F(Survey, IgnoresPathParametersWhereTheListenerDoes) {
  add("short").path = "/a";
  add("long").path = "/a/b";
  const test::RequestMaker request("GET", "a.test", "/a;v=1/b;w=2");
  EXPECT_EQ(said(build(), request), "long: path, short: path");
  RouteTableBuilder builder;
  auto ignoring = std::make_shared<ServedListener>();
  ignoring->matching.ignorePathParameters = true;
  builder.addListener("", std::move(ignoring));
  for (const test::TableEntry& each : entries_) EXPECT_TRUE(test::addTo(builder, each).ok());
  EXPECT_EQ(said(builder.build(), request), "long: holds, short: holds");
}

TEST_F(Survey, ListsEachRuleOnce) {
  add("demo/b").path = "/x";
  test::TableEntry& second = add("demo/a");
  second.path = "/y";
  second.precedence.rule = 2;
  test::TableEntry again = second;
  again.path = "/z";
  again.precedence.match = 1;
  entries_.push_back(again);
  const RouteTable table = build();
  std::string text;
  for (const RuleOfTable& each : rulesOf(table)) text += each.rule->route + " " + std::to_string(each.index) + ", ";
  EXPECT_EQ(text, "demo/a 2, demo/b 0, ");
}

}  // namespace
}  // namespace sluice::routing
