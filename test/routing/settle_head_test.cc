#include "proxy/routing/settle_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proxy/http/hygiene.h"
#include "proxy/routing/snapshot.h"
#include "test/support/seeds.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

/// What becomes of a request for a path.
struct SettledPath {
  std::string decides;  // path and query; empty: the request is refused
  std::string forwarded;
  const Rule* rule = nullptr;
};

SettledPath settledPath(const RouteTable& table, std::string_view host, std::string_view target) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::RawRequest raw;
  raw.method = "GET";
  raw.target = target;
  raw.fields.add(arena, "host", host);
  auto head = http::checkRequest(arena, raw, http::Scheme::kHttp);
  if (!head || settleHead(arena, *head, table)) return {};
  SettledPath settled{std::string(head->target), "", table.match(*head).rule};
  http::spellPathAsSent(arena, *head);
  settled.forwarded = head->target;
  return settled;
}

/// Returns a table of a host whose rules match by path, and of one with a rule for all paths.
RouteTable tableOfHosts(const base::PathSettings& settings) {
  RouteTableBuilder builder(settings);
  const auto add = [&](const char* host, PathKind kind, const char* path) {
    test::TableEntry entry;
    entry.hostname = host;
    entry.pathKind = kind;
    entry.path = path;
    entry.rule = std::make_shared<Rule>();
    EXPECT_TRUE(test::addTo(builder, std::move(entry)).ok());
  };
  add("all.test", PathKind::kPrefix, "/");
  add("path.test", PathKind::kPrefix, "/");
  add("path.test", PathKind::kPrefix, "/a");
  add("path.test", PathKind::kExact, "/a/b");
  return builder.build();
}

/// Returns true if a segment of the path is "." or "..", plain or encoded.
bool hasDotSegment(std::string path) {
  path.resize(std::min(path.find('?'), path.size()));
  for (const std::string_view dot : {"%2e", "%2E"}) {
    for (std::size_t at = path.find(dot); at != std::string::npos; at = path.find(dot)) path.replace(at, 3, ".");
  }
  path += '/';
  return path.find("/./") != std::string::npos || path.find("/../") != std::string::npos;
}

class RandomPath {
 public:
  explicit RandomPath(std::uint32_t seed) : random_(seed) {}

  std::string next() {
    std::string path = "/";
    for (std::size_t i = random_() % 7; i > 0; --i) {
      path += oneOf({"a",   "b",   "/",   "/",   ".",   "..",    "%61", "%41", "%2e",  "%2E", "%2f",
                     "%2F", "%3a", "%3A", "%7e", "%25", "%252f", ";",   "/./", "/../", "~",   "%c3%a9"});
    }
    return path + oneOf({"", "", "?", "?%2f=%41&/../"});
  }
  std::string oneOf(std::initializer_list<const char*> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }

 private:
  std::mt19937 random_;
};

void expectOneDecision(const RouteTable& table, const base::PathSettings& settings, std::string_view host,
                       const std::string& target) {
  const SettledPath settled = settledPath(table, host, target);
  if (settled.decides.empty()) return;
  const bool normalised = settings.encodedSlash == base::EncodedSlash::kDecode ||
                          settings.mergeSlashes == base::MergeSlashes::kTrue || hasDotSegment(target);
  EXPECT_EQ(settled.forwarded, normalised ? settled.decides : target);
  const SettledPath normal = settledPath(table, host, settled.decides);
  EXPECT_EQ(normal.decides, settled.decides);
  EXPECT_EQ(normal.forwarded, settled.decides);
  EXPECT_EQ(normal.rule, settled.rule);
  // A second gateway decides the same about what the first one has sent.
  const SettledPath again = settledPath(table, host, settled.forwarded);
  EXPECT_EQ(again.decides, settled.decides);
  EXPECT_EQ(again.forwarded, settled.forwarded);
  EXPECT_EQ(again.rule, settled.rule);
}

TEST(SettleHead, DecidesByTheNormalFormAndForwardsWhatCame) {
  using base::EncodedSlash;
  using base::MergeSlashes;
  for (const EncodedSlash encoded :
       {EncodedSlash::kAuto, EncodedSlash::kKeep, EncodedSlash::kReject, EncodedSlash::kDecode}) {
    for (const MergeSlashes merge : {MergeSlashes::kAuto, MergeSlashes::kTrue, MergeSlashes::kFalse}) {
      const base::PathSettings settings{encoded, merge};
      const RouteTable table = tableOfHosts(settings);
      for (const std::uint32_t seed : sluice::test::seeds(2, 2)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomPath paths(seed);
        for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
          const std::string target = paths.next();
          SCOPED_TRACE(target);
          for (const char* host : {"all.test", "path.test"}) expectOneDecision(table, settings, host, target);
        }
      }
    }
  }
}

TEST(SettleHead, ForwardsThePathOfAHostWhosePathsAreMergedAsItCame) {
  const RouteTable table = tableOfHosts({});
  const auto [decides, forwarded, rule] = settledPath(table, "path.test", "//%61//b?c");
  EXPECT_EQ(decides, "/a/b?c");
  EXPECT_EQ(forwarded, "//%61//b?c");
  EXPECT_EQ(rule, settledPath(table, "path.test", "/a/b").rule);
  EXPECT_EQ(settledPath(table, "path.test", "/x/..//%61//b").forwarded, "/a/b");
  EXPECT_EQ(settledPath(table, "path.test", "/a%2fb").decides, "");
}

}  // namespace
}  // namespace sluice::routing
