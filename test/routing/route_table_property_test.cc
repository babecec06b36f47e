// The table against the plainest reading of Gateway API's text: every entry is tried, and the best by the API's list
// wins. A table has HTTPRoutes' entries or GRPCRoutes', as a hostname of a listener has.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/route_survey.h"
#include "proxy/routing/table/route_table.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

class EntryGenerator {
 public:
  EntryGenerator(std::uint64_t seed, bool grpc) : random_(seed), grpc_(grpc) {}

  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }
  bool oneIn(std::uint64_t n) { return random_() % n == 0; }

  std::string path() {
    if (grpc_ && !oneIn(8)) {
      return "/" + oneOf<std::string>({"s.A", "s.B", "A"}) + oneOf<std::string>({"", "/", "/Get", "/Put", "/Get/x"});
    }
    std::string text;
    for (std::uint64_t i = random_() % 4; i > 0; --i) text += "/" + oneOf<std::string>({"a", "b", "aa"});
    if (text.empty() || oneIn(4)) text += "/";
    return text;
  }
  std::string pattern() {
    return oneOf<std::string>({"", "", "a.test", "b.a.test", "*.a.test", "*.test", "*.b.a.test"});
  }
  std::string host() { return oneOf<std::string>({"a.test", "b.a.test", "c.b.a.test", "x.test", "other", ""}); }

  test::TableEntry entry(std::uint32_t number) {
    auto rule = std::make_shared<Rule>();
    rule->route = std::to_string(number);
    test::TableEntry result;
    result.listenerHostname = oneOf<std::string>({"", "*.test", "*.a.test", "b.a.test"});
    result.hostname = pattern();
    grpc_ ? addCall(result) : addPath(result);
    if (oneIn(3)) result.headers.push_back({"X-A", oneOf<std::string>({"1", "2"})});
    if (oneIn(3)) result.headers.push_back({oneOf<std::string>({"x-b", "x-a"}), oneOf<std::string>({"1", "2"})});
    result.precedence = {oneOf<std::string>({"", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"}),
                         oneOf<std::string>({"a/a", "a/b"}), number, 0};
    result.rule = std::move(rule);
    return result;
  }

  std::mt19937_64& engine() { return random_; }

 private:
  void addPath(test::TableEntry& entry) {
    entry.pathKind = oneOf({PathKind::kExact, PathKind::kPrefix, PathKind::kPrefix, PathKind::kExpression});
    entry.path = entry.pathKind == PathKind::kExpression ? oneOf<std::string>({"/a.*", ".*/b", "/(a|b)/aa"}) : path();
    entry.method = oneOf<std::string>({"", "", "GET", "PUT"});
    if (oneIn(3)) entry.query.push_back({"q", oneOf<std::string>({"1", "2"})});
  }
  void addCall(test::TableEntry& entry) {
    if (oneIn(3)) {
      entry.rpc = RpcPattern{oneOf<std::string>({"", "s[.].*", "s.A", ".*A"}),
                             oneOf<std::string>({"", "G.*", "Get", "(Get|Put)"}), true};
    } else {
      entry.rpc =
          RpcPattern{oneOf<std::string>({"", "s.A", "s.B", "A"}), oneOf<std::string>({"", "Get", "Put"}), false};
    }
  }

  std::mt19937_64 random_;
  bool grpc_;
};

struct AskedRequest {
  std::string method;
  std::string host;
  std::string path;
  std::string headerA;  // "": absent
  std::string headerB;
  std::string query;
};

bool hostFits(const std::string& pattern, const std::string& host) {
  if (pattern.empty()) return true;
  if (!pattern.starts_with("*.")) return pattern == host;
  return host.size() > pattern.size() - 1 && host.ends_with(pattern.substr(1));
}

std::string withoutSlash(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

bool pathFits(const test::TableEntry& entry, const std::string& path) {
  switch (entry.pathKind) {
    case PathKind::kExact:
      return entry.path == path;
    case PathKind::kPrefix:
      return (path + "/").starts_with(withoutSlash(entry.path) + "/");
    case PathKind::kExpression:
      return test::regexOf(entry.path).matches(path);
  }
  return false;
}

bool nameFits(const std::string& wanted, bool isExpression, const std::string& name) {
  return wanted.empty() || (isExpression ? test::regexOf(wanted).matches(name) : wanted == name);
}

/// A path without a gRPC method matches only entries that name no method either.
bool callFits(const RpcPattern& rpc, const std::string& path) {
  if (rpc.service.empty() && rpc.method.empty()) return true;
  const std::size_t slash = path.find('/', 1);
  if (slash == std::string::npos || slash == 1 || slash + 1 == path.size()) return false;
  return nameFits(rpc.service, rpc.isExpression, path.substr(1, slash - 1)) &&
         nameFits(rpc.method, rpc.isExpression, path.substr(slash + 1));
}

/// If several header matches have one name, the first one is used.
std::size_t headersCounted(const test::TableEntry& entry) {
  return entry.headers.size() == 2 && entry.headers[1].name == "x-a" ? 1 : entry.headers.size();
}

bool entryFits(const test::TableEntry& entry, const AskedRequest& asked) {
  if (!hostFits(entry.hostname, asked.host)) return false;
  if (entry.rpc ? !callFits(*entry.rpc, asked.path) : !pathFits(entry, asked.path)) return false;
  if (!entry.method.empty() && entry.method != asked.method) return false;
  for (std::size_t i = 0; i < headersCounted(entry); ++i) {
    const FieldMatch& match = entry.headers[i];
    if (match.value != (match.name == "x-b" ? asked.headerB : asked.headerA)) return false;
  }
  return entry.query.empty() || entry.query.front().value == asked.query;
}

/// An exact name before an expression, and that before none; then the longer one.
auto rankOf(const std::string& name, bool isExpression) {
  return std::pair(name.empty() ? 2 : isExpression ? 1 : 0, -static_cast<long>(name.size()));
}

/// Ranks an entry, the smaller the better. The members of the other kind of entries are equal in all entries of this
/// kind.
auto entryRank(const test::TableEntry& entry) {
  const auto exactHost = entry.hostname.starts_with("*.") || entry.hostname.empty();
  const int kind = entry.pathKind == PathKind::kExact ? 0 : entry.pathKind == PathKind::kExpression ? 1 : 2;
  const auto pathLength = entry.pathKind == PathKind::kPrefix ? withoutSlash(entry.path).size() : 0;
  const RpcPattern rpc = entry.rpc.value_or(RpcPattern{});
  return std::tuple(exactHost, -static_cast<long>(entry.hostname.size()), rankOf(rpc.service, rpc.isExpression),
                    rankOf(rpc.method, rpc.isExpression), kind, -static_cast<long>(pathLength), entry.method.empty(),
                    -static_cast<long>(headersCounted(entry)), -static_cast<long>(entry.query.size()),
                    entry.precedence);
}

std::string reference(const std::vector<test::TableEntry>& entries, const AskedRequest& asked) {
  std::optional<std::string> owner;
  for (const test::TableEntry& each : entries) {
    const std::string& pattern = each.listenerHostname;
    if (!hostFits(pattern, asked.host)) continue;
    const auto key = [](const std::string& text) {
      return std::tuple(text.empty() || text.starts_with("*."), -static_cast<long>(text.size()));
    };
    if (!owner || key(pattern) < key(*owner)) owner = pattern;
  }
  const test::TableEntry* best = nullptr;
  for (const test::TableEntry& each : entries) {
    if (each.listenerHostname != owner || !entryFits(each, asked)) continue;
    if (best == nullptr || entryRank(each) < entryRank(*best)) best = &each;
  }
  return best == nullptr ? "none" : best->rule->route;
}

RouteTable build(std::vector<test::TableEntry> entries) {
  RouteTableBuilder builder;
  for (test::TableEntry& each : entries) EXPECT_TRUE(test::addTo(builder, std::move(each)).ok());
  return builder.build();
}

struct MadeRequest : test::RequestMaker {
  explicit MadeRequest(const AskedRequest& asked)
      : RequestMaker(asked.method, asked.host, asked.path + (asked.query.empty() ? "" : "?q=" + asked.query)) {
    if (!asked.headerA.empty()) add("x-a", asked.headerA);
    if (!asked.headerB.empty()) add("x-b", asked.headerB);
  }
};

std::string foundRoute(const RouteTable& table, const AskedRequest& asked) {
  const MadeRequest request(asked);
  const RouteMatch match = table.match(request.head());
  return match.rule == nullptr ? "none" : match.rule->route;
}

/// Returns true if the survey describes the entry correctly.
bool isRight(const test::TableEntry& entry, const SurveyedEntry& surveyed, const AskedRequest& asked) {
  const bool fitsPath = entry.rpc ? callFits(*entry.rpc, asked.path) : pathFits(entry, asked.path);
  switch (surveyed.fit) {
    case EntryFit::kHostname:
      return !hostFits(entry.hostname, asked.host);
    case EntryFit::kPath:
      return hostFits(entry.hostname, asked.host) && !fitsPath;
    case EntryFit::kMethod:
      return fitsPath && entry.method != asked.method;
    case EntryFit::kHeader:
    case EntryFit::kQuery:
      return fitsPath && !entryFits(entry, asked);
    case EntryFit::kHolds:
    case EntryFit::kListener:
      return entryFits(entry, asked);
  }
  return false;
}

/// Returns the route that serves by the survey. All other statements of the survey are checked too.
std::string surveyedRoute(const RouteTable& table, const std::vector<test::TableEntry>& entries,
                          const AskedRequest& asked) {
  const MadeRequest request(asked);
  const RouteSurvey survey = surveyRoutes(table, request.head(), 5);
  EXPECT_EQ(survey.listener, table.match(request.head()).listener);
  for (const SurveyedEntry& each : survey.entries) {
    const auto entry =
        std::find_if(entries.begin(), entries.end(), [&](const auto& one) { return one.rule == each.candidate->rule; });
    EXPECT_TRUE(entry != entries.end() && isRight(*entry, each, asked)) << static_cast<int>(each.fit);
    EXPECT_EQ(entry->hostname, each.hostname);
  }
  return survey.serving() == nullptr ? "none" : survey.serving()->candidate->rule->route;
}

void compare(std::uint64_t seed, bool grpc) {
  EntryGenerator generate(seed, grpc);
  std::vector<test::TableEntry> entries;
  const std::uint32_t count = 1 + static_cast<std::uint32_t>(generate.engine()() % 40);
  for (std::uint32_t i = 0; i < count; ++i) entries.push_back(generate.entry(i));
  const RouteTable table = build(entries);
  std::shuffle(entries.begin(), entries.end(), generate.engine());
  const RouteTable shuffled = build(entries);
  for (int i = 0; i < 60; ++i) {
    const AskedRequest asked{generate.oneOf<std::string>({"GET", "PUT", "POST"}),
                             generate.host(),
                             generate.path(),
                             generate.oneOf<std::string>({"", "1", "2"}),
                             generate.oneOf<std::string>({"", "1", "2"}),
                             generate.oneOf<std::string>({"", "1", "2"})};
    const std::string expected = reference(entries, asked);
    ASSERT_EQ(foundRoute(table, asked), expected) << "seed " << seed << ": " << asked.host << asked.path;
    ASSERT_EQ(foundRoute(shuffled, asked), expected) << "seed " << seed << ", shuffled";
    ASSERT_EQ(surveyedRoute(table, entries, asked), expected) << "seed " << seed << ", surveyed";
  }
}

TEST(RouteTableProperty, AgreesWithTheNaiveReadingOnRandomTablesWhateverTheirOrder) {
  for (std::uint64_t seed = 0; seed < 150 && !HasFatalFailure(); ++seed) compare(seed, false);
}

TEST(RouteTableProperty, AgreesWithTheNaiveReadingOfCallsToo) {
  for (std::uint64_t seed = 0; seed < 150 && !HasFatalFailure(); ++seed) compare(seed, true);
}

}  // namespace
}  // namespace sluice::routing
