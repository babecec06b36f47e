#include "proxy/routing/table/rpc_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/routing/snapshot.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

using test::RequestMaker;

struct RpcEntry {
  std::string name;
  RpcPattern pattern;
  bool wantsHeader = false;  // x-a: 1
  std::string created = {};
};

base::Result<Candidate> candidateOf(const RpcEntry& entry) {
  auto rule = std::make_shared<Rule>();
  rule->route = entry.name;
  test::TableEntry made;
  made.rpc = entry.pattern;
  if (entry.wantsHeader) made.headers.push_back({"x-a", "1"});
  made.precedence.created = entry.created;
  made.precedence.route = entry.name;
  made.rule = std::move(rule);
  return test::candidateOf(std::move(made));
}

RpcTable tableOfRpcs(const std::vector<RpcEntry>& entries) {
  RpcTable table;
  for (const RpcEntry& each : entries) table.add(candidateOf(each).value());
  table.sort();
  return table;
}

std::string foundRpc(const RpcTable& table, const std::string& path, bool withHeader = false) {
  RequestMaker request("POST", "a.test", path);
  if (withHeader) request.add("x-a", "1");
  const Rule* rule = table.find(request.head(), request.head().path());
  return rule == nullptr ? "none" : rule->route;
}

TEST(RpcTable, PrefersServiceThenMethodThenHeaders) {
  const RpcTable table = tableOfRpcs({{"all", {}},
                                      {"all+header", {}, true},
                                      {"method", {"", "Get"}},
                                      {"service", {"a.B", ""}},
                                      {"service+header", {"a.B", ""}, true},
                                      {"both", {"a.B", "Get"}}});
  EXPECT_EQ(foundRpc(table, "/a.B/Get"), "both");
  EXPECT_EQ(foundRpc(table, "/a.B/Get", true), "both");
  EXPECT_EQ(foundRpc(table, "/a.B/Put"), "service");
  EXPECT_EQ(foundRpc(table, "/a.B/Put", true), "service+header");
  EXPECT_EQ(foundRpc(table, "/a.C/Get", true), "method");
  EXPECT_EQ(foundRpc(table, "/a.C/Put"), "all");
  EXPECT_EQ(foundRpc(table, "/a.C/Put", true), "all+header");
}

TEST(RpcTable, PutsExpressionsBehindExactNamesAndLongerOnesFirst) {
  const RpcTable table = tableOfRpcs({{"exact", {"a.B", ""}},
                                      {"short", {"a.*", "", true}},
                                      {"long", {"a\\.[A-Z]+", "", true}},
                                      {"long+method", {"a\\.[A-Z]+", "G.*", true}},
                                      {"exact method", {"", "Put"}},
                                      {"method", {"", "P.*", true}}});
  EXPECT_EQ(foundRpc(table, "/a.B/Get"), "exact");
  EXPECT_EQ(foundRpc(table, "/a.C/Get"), "long+method");
  EXPECT_EQ(foundRpc(table, "/a.C/Put"), "long");
  EXPECT_EQ(foundRpc(table, "/a.c/Put"), "short");
  EXPECT_EQ(foundRpc(table, "/b.c/Put"), "exact method");
  EXPECT_EQ(foundRpc(table, "/b.c/Post"), "method");
  EXPECT_EQ(foundRpc(table, "/b.c/Get"), "none");
}

TEST(RpcTable, MatchesWholeNames) {
  const RpcTable table = tableOfRpcs({{"both", {"a.B", "Get"}}, {"expression", {"b", "G", true}}});
  for (const char* path : {"/a.B/Gets", "/a.BB/Get", "/a.B", "/a.B/", "/x/a.B/Get", "/a.B/Get/", "/b/Get", "/bb/G", "*",
                           "//Get", "/a.b/Get"}) {
    EXPECT_EQ(foundRpc(table, path), "none") << path;
  }
  EXPECT_EQ(foundRpc(table, "/b/G"), "expression");
}

TEST(RpcTable, GivesATieToTheOlderRoute) {
  const RpcTable table =
      tableOfRpcs({{"a", {"s", ""}, false, "2025-01-01T00:00:00Z"}, {"b", {"s", ""}, false, "2024-01-01T00:00:00Z"}});
  EXPECT_EQ(foundRpc(table, "/s/m"), "b");
}

TEST(RpcTable, RefusesMalformedExpressions) {
  EXPECT_FALSE(candidateOf({"x", {"(", "", true}}).ok());
  EXPECT_FALSE(candidateOf({"x", {"", "(", true}}).ok());
}

// --- against the plainest reading of the API's text: every entry is tried, and the best by its list wins

bool rpcEntryFits(const RpcEntry& entry, const std::string& service, const std::string& method, bool withHeader) {
  const auto one = [&](const std::string& pattern, const std::string& text) {
    if (pattern.empty()) return true;
    return entry.pattern.isExpression ? test::regexOf(pattern).matches(text) : pattern == text;
  };
  return one(entry.pattern.service, service) && one(entry.pattern.method, method) && (!entry.wantsHeader || withHeader);
}

/// Ranks an entry, the smaller the better.
auto rpcEntryRank(const RpcEntry& entry) {
  const auto kind = [&](const std::string& pattern) {
    return pattern.empty() ? 2 : entry.pattern.isExpression ? 1 : 0;
  };
  const auto length = [](const std::string& pattern) { return -static_cast<long>(pattern.size()); };
  return std::tuple(kind(entry.pattern.service), length(entry.pattern.service), kind(entry.pattern.method),
                    length(entry.pattern.method), !entry.wantsHeader, entry.created, entry.name);
}

TEST(RpcTableProperty, AgreesWithTheNaiveReadingOnRandomTablesWhateverTheirOrder) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    const auto oneOf = [&](std::initializer_list<const char*> choices) {
      return std::string(*(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size())));
    };
    std::vector<RpcEntry> entries;
    for (std::uint64_t i = 1 + random() % 30; i > 0; --i) {
      const bool isExpression = random() % 3 == 0;
      entries.push_back({std::to_string(i),
                         {isExpression ? oneOf({"", "a.*", "a\\.[BC]", ".*C"}) : oneOf({"", "a.B", "a.C", "b"}),
                          isExpression ? oneOf({"", "G.*", "[GP]et"}) : oneOf({"", "Get", "Put"}), isExpression},
                         random() % 3 == 0,
                         oneOf({"", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"})});
    }
    const RpcTable table = tableOfRpcs(entries);
    std::shuffle(entries.begin(), entries.end(), random);
    const RpcTable shuffled = tableOfRpcs(entries);
    for (int i = 0; i < 40; ++i) {
      const std::string service = oneOf({"a.B", "a.C", "b", "c.C", "x"});
      const std::string method = oneOf({"Get", "Put", "Pet", "Go"});
      const bool withHeader = random() % 2 == 0;
      const RpcEntry* best = nullptr;
      for (const RpcEntry& each : entries) {
        if (!rpcEntryFits(each, service, method, withHeader)) continue;
        if (best == nullptr || rpcEntryRank(each) < rpcEntryRank(*best)) best = &each;
      }
      const std::string expected = best == nullptr ? "none" : best->name;
      const std::string path = "/" + service + "/" + method;
      ASSERT_EQ(foundRpc(table, path, withHeader), expected) << "seed " << seed << ": " << path;
      ASSERT_EQ(foundRpc(shuffled, path, withHeader), expected) << "seed " << seed << ", shuffled";
    }
  }
}

}  // namespace
}  // namespace sluice::routing
